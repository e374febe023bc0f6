// Softmax and its logarithm, forward and backward.
#include "internal.h"

static int is_sound(const graft_softmax *description) {
  return description != NULL && description->source != NULL && description->destination != NULL
    && description->axis >= 0 && description->axis < graft_layout_rank(description->source)
    && graft_same_sizes(description->source, description->destination);
}

static dnnl_status_t forward(
  const graft_softmax *description, dnnl_prop_kind_t propagation, struct graft_request *request,
  dnnl_primitive_desc_t *result) {
  return dnnl_softmax_forward_primitive_desc_create(
    result, request->engine, propagation,
    description->is_logarithmic ? dnnl_softmax_log : dnnl_softmax_accurate,
    graft_view(description->source), graft_view(description->destination), description->axis,
    request->attributes);
}

int graft_softmax_create(const graft_softmax *description, graft_primitive **result) {
  static const int slots[] = {GRAFT_SLOT_SOURCE, GRAFT_SLOT_DESTINATION, 0};
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (!is_sound(description)) return GRAFT_INVALID_ARGUMENTS;
  struct graft_request request;
  dnnl_status_t status = graft_request_begin(&request, NULL, NULL);
  if (status == dnnl_success)
    status = forward(description, dnnl_forward_inference, &request, &request.descriptor);
  return graft_request_finish(&request, status, slots, NULL, result);
}

int graft_softmax_backward_create(const graft_softmax *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_DESTINATION, GRAFT_SLOT_DIFF_SOURCE, GRAFT_SLOT_DIFF_DESTINATION, 0,
  };
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (!is_sound(description)) return GRAFT_INVALID_ARGUMENTS;
  struct graft_request request;
  dnnl_primitive_desc_t hint = NULL;
  dnnl_status_t status = graft_request_begin(&request, NULL, NULL);
  if (status == dnnl_success)
    status = forward(description, dnnl_forward_training, &request, &hint);
  if (status == dnnl_success)
    status = dnnl_softmax_backward_primitive_desc_create(
      &request.descriptor, request.engine,
      description->is_logarithmic ? dnnl_softmax_log : dnnl_softmax_accurate,
      graft_view(description->source), graft_view(description->destination),
      graft_view(description->destination), description->axis, hint, request.attributes);
  if (hint != NULL) dnnl_primitive_desc_destroy(hint);
  return graft_request_finish(&request, status, slots, NULL, result);
}
