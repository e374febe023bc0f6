// Inner product: every output reads a whole sample. Forward and backward.
#include "internal.h"

static int is_sound(const graft_inner_product *description) {
  return description != NULL && description->source != NULL && description->weights != NULL
    && description->destination != NULL;
}

static dnnl_status_t forward(
  const graft_inner_product *description, int training, struct graft_request *request,
  dnnl_primitive_desc_t *result) {
  return dnnl_inner_product_forward_primitive_desc_create(
    result, request->engine, training ? dnnl_forward_training : dnnl_forward_inference,
    graft_view(description->source), graft_view(description->weights),
    graft_view(description->bias), graft_view(description->destination), request->attributes);
}

int graft_inner_product_create(
  const graft_inner_product *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_SOURCE, GRAFT_SLOT_WEIGHTS, GRAFT_SLOT_BIAS, GRAFT_SLOT_DESTINATION, 0,
  };
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (!is_sound(description)) return GRAFT_INVALID_ARGUMENTS;
  struct graft_request request;
  dnnl_status_t status =
    graft_request_begin(&request, description->post_operations, description->destination);
  if (status == dnnl_success)
    status = forward(description, description->training, &request, &request.descriptor);
  return graft_request_finish(
    &request, status, slots, description->post_operations, result);
}

int graft_inner_product_backward_data_create(
  const graft_inner_product *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_WEIGHTS, GRAFT_SLOT_DIFF_SOURCE, GRAFT_SLOT_DIFF_DESTINATION, 0,
  };
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (!is_sound(description)) return GRAFT_INVALID_ARGUMENTS;
  struct graft_request request;
  dnnl_primitive_desc_t hint = NULL;
  dnnl_status_t status = graft_request_begin(&request, NULL, NULL);
  if (status == dnnl_success) status = forward(description, 1, &request, &hint);
  if (status == dnnl_success)
    status = dnnl_inner_product_backward_data_primitive_desc_create(
      &request.descriptor, request.engine, graft_view(description->source),
      graft_view(description->weights), graft_view(description->destination), hint,
      request.attributes);
  if (hint != NULL) dnnl_primitive_desc_destroy(hint);
  return graft_request_finish(&request, status, slots, NULL, result);
}

int graft_inner_product_backward_weights_create(
  const graft_inner_product *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_SOURCE, GRAFT_SLOT_DIFF_WEIGHTS, GRAFT_SLOT_DIFF_BIAS,
    GRAFT_SLOT_DIFF_DESTINATION, 0,
  };
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (!is_sound(description)) return GRAFT_INVALID_ARGUMENTS;
  struct graft_request request;
  dnnl_primitive_desc_t hint = NULL;
  dnnl_status_t status = graft_request_begin(&request, NULL, NULL);
  if (status == dnnl_success) status = forward(description, 1, &request, &hint);
  if (status == dnnl_success)
    status = dnnl_inner_product_backward_weights_primitive_desc_create(
      &request.descriptor, request.engine, graft_view(description->source),
      graft_view(description->weights), graft_view(description->bias),
      graft_view(description->destination), hint, request.attributes);
  if (hint != NULL) dnnl_primitive_desc_destroy(hint);
  return graft_request_finish(&request, status, slots, NULL, result);
}
