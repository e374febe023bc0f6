// Copies between layouts.
#include "internal.h"

int graft_reorder_create(
  const graft_layout *source, const graft_layout *destination, graft_primitive **result) {
  static const int slots[] = {GRAFT_SLOT_SOURCE, GRAFT_SLOT_DESTINATION, 0};
  struct graft_request request =
    graft_request_begin(source != NULL && destination != NULL, NULL, NULL);
  if (request.status == dnnl_success)
    request.status = dnnl_reorder_primitive_desc_create(
      &request.forward, graft_view(source), request.engine, graft_view(destination),
      request.engine, request.attributes);
  return graft_request_finish(&request, slots, result);
}
