// Copies between layouts and element types.
#include "internal.h"

int graft_reorder_create(
  const graft_layout *source, const graft_layout *destination, graft_primitive **result) {
  static const int slots[] = {GRAFT_SLOT_SOURCE, GRAFT_SLOT_DESTINATION, 0};
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (source == NULL || destination == NULL) return GRAFT_INVALID_ARGUMENTS;
  struct graft_request request;
  dnnl_status_t status = graft_request_begin(&request, NULL, NULL);
  if (status == dnnl_success)
    status = dnnl_reorder_primitive_desc_create(
      &request.descriptor, source->descriptor, request.engine, destination->descriptor,
      request.engine, request.attributes);
  return graft_request_finish(&request, status, slots, NULL, result);
}
