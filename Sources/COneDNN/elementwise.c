// Functions of one element, and their gradients.
#include "internal.h"

/// A description in oneDNN's terms.
struct function {
  dnnl_alg_kind_t algorithm;
  float alpha, beta;
  descriptor_view layout;
};

/// Whether the description is one that oneDNN may see.
static int read(const graft_elementwise *description, struct function *function) {
  function->alpha = description->alpha;
  function->beta = description->beta;
  function->layout = graft_view(description->layout);
  function->algorithm =
    graft_elementwise_algorithm(description->kind, &function->alpha, &function->beta);
  return function->layout != NULL && function->algorithm != dnnl_alg_kind_undef;
}

static dnnl_status_t forward(
  const struct function *function, dnnl_prop_kind_t propagation, struct graft_request *request) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_eltwise_forward_primitive_desc_create(
    &request->forward, request->engine, propagation, function->algorithm, function->layout,
    function->layout, function->alpha, function->beta, request->attributes);
#else
  dnnl_eltwise_desc_t operation;
  const dnnl_status_t status = dnnl_eltwise_forward_desc_init(
    &operation, propagation, function->algorithm, function->layout, function->alpha,
    function->beta);
  return graft_make_forward(request, status, &operation);
#endif
}

static dnnl_status_t backward(const struct function *function, struct graft_request *request) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_eltwise_backward_primitive_desc_create(
    &request->backward, request->engine, function->algorithm, function->layout, function->layout,
    function->layout, function->alpha, function->beta, request->forward, request->attributes);
#else
  dnnl_eltwise_desc_t operation;
  const dnnl_status_t status = dnnl_eltwise_backward_desc_init(
    &operation, function->algorithm, function->layout, function->layout, function->alpha,
    function->beta);
  return graft_make_backward(request, status, &operation);
#endif
}

int graft_elementwise_create(const graft_elementwise *description, graft_primitive **result) {
  static const int slots[] = {GRAFT_SLOT_SOURCE, GRAFT_SLOT_DESTINATION, 0};
  struct function function;
  struct graft_request request = graft_request_begin(read(description, &function), NULL, NULL);
  if (request.status == dnnl_success)
    request.status = forward(&function, dnnl_forward_inference, &request);
  return graft_request_finish(&request, slots, result);
}

int graft_elementwise_backward_create(
  const graft_elementwise *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_SOURCE, GRAFT_SLOT_DIFF_SOURCE, GRAFT_SLOT_DIFF_DESTINATION, 0,
  };
  struct function function;
  struct graft_request request = graft_request_begin(read(description, &function), NULL, NULL);
  if (request.status == dnnl_success)
    request.status = forward(&function, dnnl_forward_training, &request);
  if (request.status == dnnl_success) request.status = backward(&function, &request);
  return graft_request_finish(&request, slots, result);
}
