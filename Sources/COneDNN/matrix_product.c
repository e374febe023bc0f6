// Batched matrix product.
#include "internal.h"

static int is_sound(const graft_matrix_product *description) {
  return description->source != NULL && description->weights != NULL
    && description->destination != NULL;
}

static dnnl_status_t forward(
  const graft_matrix_product *description, struct graft_request *request) {
  const descriptor_view source = graft_view(description->source);
  const descriptor_view weights = graft_view(description->weights);
  const descriptor_view bias = graft_view(description->bias);
  const descriptor_view destination = graft_view(description->destination);
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_matmul_primitive_desc_create(
    &request->forward, request->engine, source, weights, bias, destination,
    request->attributes);
#else
  dnnl_matmul_desc_t operation;
  const dnnl_status_t status =
    dnnl_matmul_desc_init(&operation, source, weights, bias, destination);
  return graft_make_forward(request, status, &operation);
#endif
}

int graft_matrix_product_create(
  const graft_matrix_product *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_SOURCE, GRAFT_SLOT_WEIGHTS, GRAFT_SLOT_BIAS, GRAFT_SLOT_DESTINATION, 0,
  };
  struct graft_request request = graft_request_begin(
    is_sound(description), description->post_operations, description->destination);
  if (request.status == dnnl_success) request.status = forward(description, &request);
  return graft_request_finish(&request, slots, result);
}
