// Softmax, and the gradients of it and of its logarithm.
#include "internal.h"

static int is_sound(const graft_softmax *description) {
  return description->layout != NULL && description->axis >= 0
    && description->axis < graft_layout_rank(description->layout);
}

static dnnl_alg_kind_t algorithm(const graft_softmax *description) {
  return description->is_logarithmic ? dnnl_softmax_log : dnnl_softmax_accurate;
}

static dnnl_status_t forward(
  const graft_softmax *description, dnnl_prop_kind_t propagation, struct graft_request *request) {
  const descriptor_view layout = graft_view(description->layout);
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_softmax_forward_primitive_desc_create(
    &request->forward, request->engine, propagation, algorithm(description), layout, layout,
    description->axis, request->attributes);
#else
  dnnl_softmax_v2_desc_t operation;
  const dnnl_status_t status = dnnl_softmax_v2_forward_desc_init(
    &operation, propagation, algorithm(description), layout, layout, description->axis);
  return graft_make_forward(request, status, &operation);
#endif
}

static dnnl_status_t backward(const graft_softmax *description, struct graft_request *request) {
  const descriptor_view layout = graft_view(description->layout);
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_softmax_backward_primitive_desc_create(
    &request->backward, request->engine, algorithm(description), layout, layout, layout,
    description->axis, request->forward, request->attributes);
#else
  dnnl_softmax_v2_desc_t operation;
  const dnnl_status_t status = dnnl_softmax_v2_backward_desc_init(
    &operation, algorithm(description), layout, layout, layout, description->axis);
  return graft_make_backward(request, status, &operation);
#endif
}

int graft_softmax_create(const graft_softmax *description, graft_primitive **result) {
  static const int slots[] = {GRAFT_SLOT_SOURCE, GRAFT_SLOT_DESTINATION, 0};
  struct graft_request request = graft_request_begin(is_sound(description), NULL, NULL);
  if (request.status == dnnl_success)
    request.status = forward(description, dnnl_forward_inference, &request);
  return graft_request_finish(&request, slots, result);
}

int graft_softmax_backward_create(const graft_softmax *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_DESTINATION, GRAFT_SLOT_DIFF_SOURCE, GRAFT_SLOT_DIFF_DESTINATION, 0,
  };
  struct graft_request request = graft_request_begin(is_sound(description), NULL, NULL);
  if (request.status == dnnl_success)
    request.status = forward(description, dnnl_forward_training, &request);
  if (request.status == dnnl_success) request.status = backward(description, &request);
  return graft_request_finish(&request, slots, result);
}
