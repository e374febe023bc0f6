// Batched matrix product.
#include "internal.h"

int graft_matrix_product_create(
  const graft_matrix_product *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_SOURCE, GRAFT_SLOT_WEIGHTS, GRAFT_SLOT_BIAS, GRAFT_SLOT_DESTINATION, 0,
  };
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (description == NULL || description->source == NULL || description->weights == NULL
      || description->destination == NULL)
    return GRAFT_INVALID_ARGUMENTS;
  struct graft_request request;
  dnnl_status_t status =
    graft_request_begin(&request, description->post_operations, description->destination);
  if (status == dnnl_success)
    status = dnnl_matmul_primitive_desc_create(
      &request.descriptor, request.engine, graft_view(description->source),
      graft_view(description->weights), graft_view(description->bias),
      graft_view(description->destination), request.attributes);
  return graft_request_finish(
    &request, status, slots, description->post_operations, result);
}
