// Functions of one element and of two.
#include "internal.h"

int graft_elementwise_create(const graft_elementwise *description, graft_primitive **result) {
  static const int slots[] = {GRAFT_SLOT_SOURCE, GRAFT_SLOT_DESTINATION, 0};
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (description == NULL || description->source == NULL || description->destination == NULL)
    return GRAFT_INVALID_ARGUMENTS;
  float alpha = description->alpha, beta = description->beta;
  const dnnl_alg_kind_t algorithm = graft_elementwise_algorithm(description->kind, &alpha, &beta);
  if (algorithm == dnnl_alg_kind_undef) return GRAFT_INVALID_ARGUMENTS;
  struct graft_request request;
  dnnl_status_t status =
    graft_request_begin(&request, description->post_operations, description->destination);
  if (status == dnnl_success)
    status = dnnl_eltwise_forward_primitive_desc_create(
      &request.descriptor, request.engine, dnnl_forward_inference, algorithm,
      graft_view(description->source), graft_view(description->destination), alpha, beta,
      request.attributes);
  return graft_request_finish(
    &request, status, slots, description->post_operations, result);
}

int graft_elementwise_backward_create(
  const graft_elementwise *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_SOURCE, GRAFT_SLOT_DIFF_SOURCE, GRAFT_SLOT_DIFF_DESTINATION, 0,
  };
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (description == NULL || description->source == NULL) return GRAFT_INVALID_ARGUMENTS;
  float alpha = description->alpha, beta = description->beta;
  const dnnl_alg_kind_t algorithm = graft_elementwise_algorithm(description->kind, &alpha, &beta);
  if (algorithm == dnnl_alg_kind_undef) return GRAFT_INVALID_ARGUMENTS;
  const descriptor_view data = graft_view(description->source);
  struct graft_request request;
  dnnl_primitive_desc_t hint = NULL;
  dnnl_status_t status = graft_request_begin(&request, NULL, NULL);
  if (status == dnnl_success)
    status = dnnl_eltwise_forward_primitive_desc_create(
      &hint, request.engine, dnnl_forward_training, algorithm, data, data, alpha, beta,
      request.attributes);
  if (status == dnnl_success)
    status = dnnl_eltwise_backward_primitive_desc_create(
      &request.descriptor, request.engine, algorithm, data, data, data, alpha, beta, hint,
      request.attributes);
  if (hint != NULL) dnnl_primitive_desc_destroy(hint);
  return graft_request_finish(&request, status, slots, NULL, result);
}

int graft_binary_create(const graft_binary *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_SOURCE, GRAFT_SLOT_SOURCE_2, GRAFT_SLOT_DESTINATION, 0,
  };
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (description == NULL || description->source == NULL || description->source_2 == NULL
      || description->destination == NULL)
    return GRAFT_INVALID_ARGUMENTS;
  const dnnl_alg_kind_t algorithm = graft_binary_algorithm(description->kind);
  if (algorithm == dnnl_alg_kind_undef) return GRAFT_INVALID_ARGUMENTS;
  struct graft_request request;
  dnnl_status_t status =
    graft_request_begin(&request, description->post_operations, description->destination);
  if (status == dnnl_success)
    status = dnnl_binary_primitive_desc_create(
      &request.descriptor, request.engine, algorithm, graft_view(description->source),
      graft_view(description->source_2), graft_view(description->destination),
      request.attributes);
  return graft_request_finish(
    &request, status, slots, description->post_operations, result);
}
