// Resizing of the spatial axes, forward and backward.
#include "internal.h"

static dnnl_alg_kind_t algorithm(graft_resampling_kind kind) {
  switch (kind) {
  case GRAFT_RESAMPLING_NEAREST: return dnnl_resampling_nearest;
  case GRAFT_RESAMPLING_LINEAR: return dnnl_resampling_linear;
  }
  return dnnl_alg_kind_undef;
}

int graft_resampling_create(
  graft_resampling_kind kind, const graft_layout *source, const graft_layout *destination,
  graft_primitive **result) {
  static const int slots[] = {GRAFT_SLOT_SOURCE, GRAFT_SLOT_DESTINATION, 0};
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  const dnnl_alg_kind_t chosen = algorithm(kind);
  if (source == NULL || destination == NULL || chosen == dnnl_alg_kind_undef)
    return GRAFT_INVALID_ARGUMENTS;
  struct graft_request request;
  dnnl_status_t status = graft_request_begin(&request, NULL, NULL);
  if (status == dnnl_success)
    status = dnnl_resampling_forward_primitive_desc_create(
      &request.descriptor, request.engine, dnnl_forward_inference, chosen, NULL,
      graft_view(source), graft_view(destination), request.attributes);
  return graft_request_finish(&request, status, slots, NULL, result);
}

int graft_resampling_backward_create(
  graft_resampling_kind kind, const graft_layout *source, const graft_layout *destination,
  graft_primitive **result) {
  static const int slots[] = {GRAFT_SLOT_DIFF_SOURCE, GRAFT_SLOT_DIFF_DESTINATION, 0};
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  const dnnl_alg_kind_t chosen = algorithm(kind);
  if (source == NULL || destination == NULL || chosen == dnnl_alg_kind_undef)
    return GRAFT_INVALID_ARGUMENTS;
  struct graft_request request;
  dnnl_primitive_desc_t hint = NULL;
  dnnl_status_t status = graft_request_begin(&request, NULL, NULL);
  if (status == dnnl_success)
    status = dnnl_resampling_forward_primitive_desc_create(
      &hint, request.engine, dnnl_forward_training, chosen, NULL, graft_view(source),
      graft_view(destination), request.attributes);
  if (status == dnnl_success)
    status = dnnl_resampling_backward_primitive_desc_create(
      &request.descriptor, request.engine, chosen, NULL, graft_view(source),
      graft_view(destination), hint, request.attributes);
  if (hint != NULL) dnnl_primitive_desc_destroy(hint);
  return graft_request_finish(&request, status, slots, NULL, result);
}
