// Steps that a primitive applies before it stores, and the attributes that carry them.
#include "internal.h"

#include <stdlib.h>

dnnl_alg_kind_t graft_elementwise_algorithm(
  graft_elementwise_kind kind, float *alpha, float *beta) {
  switch (kind) {
  case GRAFT_ELEMENTWISE_RELU: return dnnl_eltwise_relu;
  case GRAFT_ELEMENTWISE_CLIP: return dnnl_eltwise_clip;
  case GRAFT_ELEMENTWISE_GELU_ERF: return dnnl_eltwise_gelu_erf;
  case GRAFT_ELEMENTWISE_GELU_TANH: return dnnl_eltwise_gelu_tanh;
  case GRAFT_ELEMENTWISE_HARD_SWISH:
    // oneDNN 2 has these numbers built in and ignores the parameters.
    *alpha = 1.0f / 6.0f;
    *beta = 0.5f;
    return dnnl_eltwise_hardswish;
  case GRAFT_ELEMENTWISE_SIGMOID: return dnnl_eltwise_logistic;
  case GRAFT_ELEMENTWISE_TANH: return dnnl_eltwise_tanh;
  case GRAFT_ELEMENTWISE_ELU: return dnnl_eltwise_elu;
  case GRAFT_ELEMENTWISE_LINEAR: return dnnl_eltwise_linear;
  case GRAFT_ELEMENTWISE_ROUND: return dnnl_eltwise_round;
  }
  return dnnl_alg_kind_undef;
}

static dnnl_alg_kind_t binary_algorithm(graft_binary_kind kind) {
  switch (kind) {
  case GRAFT_BINARY_ADD: return dnnl_binary_add;
  case GRAFT_BINARY_MULTIPLY: return dnnl_binary_mul;
  }
  return dnnl_alg_kind_undef;
}

int graft_post_operations_create(graft_post_operations **result) {
  *result = NULL;
  graft_post_operations *operations = calloc(1, sizeof *operations);
  if (operations == NULL) return GRAFT_OUT_OF_MEMORY;
  const dnnl_status_t status = dnnl_post_ops_create(&operations->list);
  if (status != dnnl_success) {
    free(operations);
    return graft_status_from(status);
  }
  *result = operations;
  return GRAFT_OK;
}

void graft_post_operations_free(graft_post_operations *operations) {
  if (operations == NULL) return;
  dnnl_post_ops_destroy(operations->list);
  free(operations);
}

static int is_full(const graft_post_operations *operations) {
  return operations->count == POST_OPERATION_LIMIT;
}

static int count(graft_post_operations *operations, dnnl_status_t status) {
  if (status == dnnl_success) operations->count++;
  return graft_status_from(status);
}

int graft_post_operations_add_sum(graft_post_operations *operations) {
  if (is_full(operations)) return GRAFT_UNSUPPORTED;
#if DNNL_VERSION_MAJOR >= 3
  const dnnl_status_t status =
    dnnl_post_ops_append_sum(operations->list, 1.0f, 0, dnnl_data_type_undef);
#else
  const dnnl_status_t status = dnnl_post_ops_append_sum(operations->list, 1.0f);
#endif
  return count(operations, status);
}

int graft_post_operations_add_elementwise(
  graft_post_operations *operations, graft_elementwise_kind kind, float alpha, float beta) {
  const dnnl_alg_kind_t algorithm = graft_elementwise_algorithm(kind, &alpha, &beta);
  if (algorithm == dnnl_alg_kind_undef) return GRAFT_INVALID_ARGUMENTS;
  if (is_full(operations)) return GRAFT_UNSUPPORTED;
#if DNNL_VERSION_MAJOR >= 3
  const dnnl_status_t status =
    dnnl_post_ops_append_eltwise(operations->list, algorithm, alpha, beta);
#else
  const dnnl_status_t status =
    dnnl_post_ops_append_eltwise(operations->list, 1.0f, algorithm, alpha, beta);
#endif
  return count(operations, status);
}

int graft_post_operations_add_binary(
  graft_post_operations *operations, graft_binary_kind kind, const graft_layout *layout) {
  const dnnl_alg_kind_t algorithm = binary_algorithm(kind);
  if (algorithm == dnnl_alg_kind_undef) return GRAFT_INVALID_ARGUMENTS;
  if (is_full(operations)) return GRAFT_UNSUPPORTED;
  const int index = operations->count;
  struct descriptor_facts *operand = &operations->operands[index];
  graft_descriptor_read(layout->descriptor, operand);
  if (operand->format == dnnl_format_kind_any) return GRAFT_INVALID_ARGUMENTS;
  const int status = count(
    operations, dnnl_post_ops_append_binary(operations->list, algorithm, layout->descriptor));
  if (status == GRAFT_OK) operations->binary_mask |= 1u << index;
  return status;
}

int graft_post_operations_fit(
  const graft_post_operations *operations, const graft_layout *destination) {
  if (operations == NULL || operations->binary_mask == 0) return 1;
  struct descriptor_facts facts;
  graft_descriptor_read(graft_view(destination), &facts);
  for (int index = 0; index < operations->count; index++) {
    if (!(operations->binary_mask >> index & 1)) continue;
    const struct descriptor_facts *operand = &operations->operands[index];
    if (operand->rank != facts.rank) return 0;
    for (int axis = 0; axis < facts.rank; axis++)
      if (operand->dimensions[axis] != 1 && operand->dimensions[axis] != facts.dimensions[axis])
        return 0;
  }
  return 1;
}

dnnl_status_t graft_attributes_create(
  const graft_post_operations *operations, dnnl_primitive_attr_t *result) {
  dnnl_status_t status = dnnl_primitive_attr_create(result);
  if (status != dnnl_success) return status;
  status = dnnl_primitive_attr_set_scratchpad_mode(*result, dnnl_scratchpad_mode_user);
  if (status == dnnl_success && operations != NULL && operations->count > 0)
    status = dnnl_primitive_attr_set_post_ops(*result, operations->list);
  return status;
}
