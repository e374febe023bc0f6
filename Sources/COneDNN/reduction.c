// Reduction along the axes that the destination has at size 1.
#include "internal.h"

static dnnl_alg_kind_t algorithm(graft_reduction_kind kind) {
  switch (kind) {
  case GRAFT_REDUCTION_SUM: return dnnl_reduction_sum;
  case GRAFT_REDUCTION_MEAN: return dnnl_reduction_mean;
  case GRAFT_REDUCTION_MAXIMUM: return dnnl_reduction_max;
  case GRAFT_REDUCTION_MINIMUM: return dnnl_reduction_min;
  case GRAFT_REDUCTION_PRODUCT: return dnnl_reduction_mul;
  }
  return dnnl_alg_kind_undef;
}

int graft_reduction_create(
  graft_reduction_kind kind, const graft_layout *source, const graft_layout *destination,
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
    status = dnnl_reduction_primitive_desc_create(
      &request.descriptor, request.engine, chosen, graft_view(source), graft_view(destination),
      0.0f, 0.0f, request.attributes);
  return graft_request_finish(&request, status, slots, NULL, result);
}
