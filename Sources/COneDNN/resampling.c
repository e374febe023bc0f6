// Resizing of the spatial axes, and its gradient.
#include "internal.h"

static dnnl_alg_kind_t algorithm(graft_resampling_kind kind) {
  switch (kind) {
  case GRAFT_RESAMPLING_NEAREST: return dnnl_resampling_nearest;
  case GRAFT_RESAMPLING_LINEAR: return dnnl_resampling_linear;
  }
  return dnnl_alg_kind_undef;
}

static int is_sound(const graft_resampling *description) {
  return description->source != NULL && description->destination != NULL
    && algorithm(description->kind) != dnnl_alg_kind_undef;
}

static dnnl_status_t forward(
  const graft_resampling *description, dnnl_prop_kind_t propagation,
  struct graft_request *request) {
  const descriptor_view source = graft_view(description->source);
  const descriptor_view destination = graft_view(description->destination);
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_resampling_forward_primitive_desc_create(
    &request->forward, request->engine, propagation, algorithm(description->kind), NULL, source,
    destination, request->attributes);
#else
  dnnl_resampling_desc_t operation;
  const dnnl_status_t status = dnnl_resampling_forward_desc_init(
    &operation, propagation, algorithm(description->kind), NULL, source, destination);
  return graft_make_forward(request, status, &operation);
#endif
}

static dnnl_status_t backward(
  const graft_resampling *description, struct graft_request *request) {
  const descriptor_view source = graft_view(description->source);
  const descriptor_view destination = graft_view(description->destination);
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_resampling_backward_primitive_desc_create(
    &request->backward, request->engine, algorithm(description->kind), NULL, source, destination,
    request->forward, request->attributes);
#else
  dnnl_resampling_desc_t operation;
  const dnnl_status_t status = dnnl_resampling_backward_desc_init(
    &operation, algorithm(description->kind), NULL, source, destination);
  return graft_make_backward(request, status, &operation);
#endif
}

int graft_resampling_create(const graft_resampling *description, graft_primitive **result) {
  static const int slots[] = {GRAFT_SLOT_SOURCE, GRAFT_SLOT_DESTINATION, 0};
  struct graft_request request = graft_request_begin(is_sound(description), NULL, NULL);
  if (request.status == dnnl_success)
    request.status = forward(description, dnnl_forward_inference, &request);
  return graft_request_finish(&request, slots, result);
}

int graft_resampling_backward_create(
  const graft_resampling *description, graft_primitive **result) {
  static const int slots[] = {GRAFT_SLOT_DIFF_SOURCE, GRAFT_SLOT_DIFF_DESTINATION, 0};
  struct graft_request request = graft_request_begin(is_sound(description), NULL, NULL);
  if (request.status == dnnl_success)
    request.status = forward(description, dnnl_forward_training, &request);
  if (request.status == dnnl_success) request.status = backward(description, &request);
  return graft_request_finish(&request, slots, result);
}
