// Primitives without weights as in oneDNN 3, made from oneDNN 2. Empty with oneDNN 3.
#include "version.h"

#if DNNL_VERSION_MAJOR < 3

/// Makes the primitive descriptor if filling the operation descriptor went well.
static dnnl_status_t finish(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_status_t status,
  const_dnnl_op_desc_t operation, const_dnnl_primitive_desc_t hint,
  const_dnnl_primitive_attr_t attributes) {
  if (status != dnnl_success) return status;
  return dnnl_primitive_desc_create(result, operation, attributes, engine, hint);
}

/// oneDNN 2 has one descriptor where oneDNN 3 has two.
static int are_one_layout(descriptor_view left, descriptor_view right) {
  return dnnl_memory_desc_equal(left, right) || right->format_kind == dnnl_format_kind_any;
}

dnnl_status_t dnnl_pooling_forward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  dnnl_alg_kind_t algorithm, descriptor_view source, descriptor_view destination, const
  dnnl_dims_t strides, const dnnl_dims_t kernel, const dnnl_dims_t dilations, const dnnl_dims_t
  padding_begin, const dnnl_dims_t padding_end, const_dnnl_primitive_attr_t attributes) {
  dnnl_pooling_v2_desc_t operation;
  const dnnl_status_t status = dnnl_pooling_v2_forward_desc_init(
    &operation, propagation, algorithm, source, destination, strides, kernel, dilations,
    padding_begin, padding_end);
  return finish(result, engine, status, &operation, NULL, attributes);
}

dnnl_status_t dnnl_pooling_backward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, descriptor_view
  diff_source, descriptor_view diff_destination, const dnnl_dims_t strides, const dnnl_dims_t
  kernel, const dnnl_dims_t dilations, const dnnl_dims_t padding_begin, const dnnl_dims_t
  padding_end, const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t attributes) {
  dnnl_pooling_v2_desc_t operation;
  const dnnl_status_t status = dnnl_pooling_v2_backward_desc_init(
    &operation, algorithm, diff_source, diff_destination, strides, kernel, dilations,
    padding_begin, padding_end);
  return finish(result, engine, status, &operation, hint, attributes);
}

dnnl_status_t dnnl_eltwise_forward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  dnnl_alg_kind_t algorithm, descriptor_view source, descriptor_view destination, float alpha,
  float beta, const_dnnl_primitive_attr_t attributes) {
  if (!are_one_layout(source, destination)) return dnnl_unimplemented;
  dnnl_eltwise_desc_t operation;
  const dnnl_status_t status = dnnl_eltwise_forward_desc_init(
    &operation, propagation, algorithm, source, alpha, beta);
  return finish(result, engine, status, &operation, NULL, attributes);
}

dnnl_status_t dnnl_eltwise_backward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, descriptor_view
  diff_source, descriptor_view diff_destination, descriptor_view data, float alpha, float beta,
  const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t attributes) {
  if (!are_one_layout(diff_source, diff_destination)) return dnnl_unimplemented;
  dnnl_eltwise_desc_t operation;
  const dnnl_status_t status = dnnl_eltwise_backward_desc_init(
    &operation, algorithm, diff_source, data, alpha, beta);
  return finish(result, engine, status, &operation, hint, attributes);
}

dnnl_status_t dnnl_softmax_forward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  dnnl_alg_kind_t algorithm, descriptor_view source, descriptor_view destination, int axis,
  const_dnnl_primitive_attr_t attributes) {
  dnnl_softmax_v2_desc_t operation;
  const dnnl_status_t status = dnnl_softmax_v2_forward_desc_init(
    &operation, propagation, algorithm, source, destination, axis);
  return finish(result, engine, status, &operation, NULL, attributes);
}

dnnl_status_t dnnl_softmax_backward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, descriptor_view
  diff_source, descriptor_view diff_destination, descriptor_view destination, int axis,
  const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t attributes) {
  dnnl_softmax_v2_desc_t operation;
  const dnnl_status_t status = dnnl_softmax_v2_backward_desc_init(
    &operation, algorithm, diff_source, diff_destination, destination, axis);
  return finish(result, engine, status, &operation, hint, attributes);
}

dnnl_status_t dnnl_batch_normalization_forward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  descriptor_view source, descriptor_view destination, float epsilon, unsigned flags,
  const_dnnl_primitive_attr_t attributes) {
  if (!are_one_layout(source, destination)) return dnnl_unimplemented;
  dnnl_batch_normalization_desc_t operation;
  const dnnl_status_t status = dnnl_batch_normalization_forward_desc_init(
    &operation, propagation, source, epsilon, flags);
  return finish(result, engine, status, &operation, NULL, attributes);
}

dnnl_status_t dnnl_batch_normalization_backward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  descriptor_view diff_source, descriptor_view diff_destination, descriptor_view source, float
  epsilon, unsigned flags, const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t
  attributes) {
  if (!are_one_layout(diff_source, diff_destination)) return dnnl_unimplemented;
  dnnl_batch_normalization_desc_t operation;
  const dnnl_status_t status = dnnl_batch_normalization_backward_desc_init(
    &operation, propagation, diff_source, source, epsilon, flags);
  return finish(result, engine, status, &operation, hint, attributes);
}

dnnl_status_t dnnl_layer_normalization_forward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  descriptor_view source, descriptor_view destination, descriptor_view statistics, float epsilon,
  unsigned flags, const_dnnl_primitive_attr_t attributes) {
  if (!are_one_layout(source, destination)) return dnnl_unimplemented;
  dnnl_layer_normalization_desc_t operation;
  const dnnl_status_t status = dnnl_layer_normalization_forward_desc_init(
    &operation, propagation, source, statistics, epsilon, flags);
  return finish(result, engine, status, &operation, NULL, attributes);
}

dnnl_status_t dnnl_layer_normalization_backward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  descriptor_view diff_source, descriptor_view diff_destination, descriptor_view source,
  descriptor_view statistics, float epsilon, unsigned flags, const_dnnl_primitive_desc_t hint,
  const_dnnl_primitive_attr_t attributes) {
  if (!are_one_layout(diff_source, diff_destination)) return dnnl_unimplemented;
  dnnl_layer_normalization_desc_t operation;
  const dnnl_status_t status = dnnl_layer_normalization_backward_desc_init(
    &operation, propagation, diff_source, source, statistics, epsilon, flags);
  return finish(result, engine, status, &operation, hint, attributes);
}

dnnl_status_t dnnl_binary_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, descriptor_view
  source, descriptor_view source_2, descriptor_view destination, const_dnnl_primitive_attr_t
  attributes) {
  dnnl_binary_desc_t operation;
  const dnnl_status_t status = dnnl_binary_desc_init(
    &operation, algorithm, source, source_2, destination);
  return finish(result, engine, status, &operation, NULL, attributes);
}

dnnl_status_t dnnl_reduction_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, descriptor_view
  source, descriptor_view destination, float p, float epsilon, const_dnnl_primitive_attr_t
  attributes) {
  dnnl_reduction_desc_t operation;
  const dnnl_status_t status = dnnl_reduction_desc_init(
    &operation, algorithm, source, destination, p, epsilon);
  return finish(result, engine, status, &operation, NULL, attributes);
}

dnnl_status_t dnnl_resampling_forward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  dnnl_alg_kind_t algorithm, const float *factors, descriptor_view source, descriptor_view
  destination, const_dnnl_primitive_attr_t attributes) {
  dnnl_resampling_desc_t operation;
  const dnnl_status_t status = dnnl_resampling_forward_desc_init(
    &operation, propagation, algorithm, factors, source, destination);
  return finish(result, engine, status, &operation, NULL, attributes);
}

dnnl_status_t dnnl_resampling_backward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, const float
  *factors, descriptor_view diff_source, descriptor_view diff_destination,
  const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t attributes) {
  dnnl_resampling_desc_t operation;
  const dnnl_status_t status = dnnl_resampling_backward_desc_init(
    &operation, algorithm, factors, diff_source, diff_destination);
  return finish(result, engine, status, &operation, hint, attributes);
}

#else

// A translation unit may not be empty.
typedef int graft_version2_simple_is_empty;

#endif
