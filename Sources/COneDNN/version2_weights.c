// Primitives with weights as in oneDNN 3, made from oneDNN 2: an operation descriptor is filled
// first, and a primitive descriptor made from it. Empty with oneDNN 3.
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

dnnl_status_t dnnl_convolution_forward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  dnnl_alg_kind_t algorithm, descriptor_view source, descriptor_view weights,
  descriptor_view bias, descriptor_view destination, const dnnl_dims_t strides,
  const dnnl_dims_t dilations, const dnnl_dims_t padding_begin, const dnnl_dims_t padding_end,
  const_dnnl_primitive_attr_t attributes) {
  dnnl_convolution_desc_t operation;
  const dnnl_status_t status = dnnl_dilated_convolution_forward_desc_init(
    &operation, propagation, algorithm, source, weights, bias, destination, strides, dilations,
    padding_begin, padding_end);
  return finish(result, engine, status, &operation, NULL, attributes);
}

dnnl_status_t dnnl_matmul_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, descriptor_view source,
  descriptor_view weights, descriptor_view bias, descriptor_view destination,
  const_dnnl_primitive_attr_t attributes) {
  dnnl_matmul_desc_t operation;
  const dnnl_status_t status =
    dnnl_matmul_desc_init(&operation, source, weights, bias, destination);
  return finish(result, engine, status, &operation, NULL, attributes);
}

dnnl_status_t dnnl_convolution_backward_data_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, descriptor_view
  diff_source, descriptor_view weights, descriptor_view diff_destination, const dnnl_dims_t
  strides, const dnnl_dims_t dilations, const dnnl_dims_t padding_begin, const dnnl_dims_t
  padding_end, const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t attributes) {
  dnnl_convolution_desc_t operation;
  const dnnl_status_t status = dnnl_dilated_convolution_backward_data_desc_init(
    &operation, algorithm, diff_source, weights, diff_destination, strides, dilations,
    padding_begin, padding_end);
  return finish(result, engine, status, &operation, hint, attributes);
}

dnnl_status_t dnnl_convolution_backward_weights_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, descriptor_view
  source, descriptor_view diff_weights, descriptor_view diff_bias, descriptor_view
  diff_destination, const dnnl_dims_t strides, const dnnl_dims_t dilations, const dnnl_dims_t
  padding_begin, const dnnl_dims_t padding_end, const_dnnl_primitive_desc_t hint,
  const_dnnl_primitive_attr_t attributes) {
  dnnl_convolution_desc_t operation;
  const dnnl_status_t status = dnnl_dilated_convolution_backward_weights_desc_init(
    &operation, algorithm, source, diff_weights, diff_bias, diff_destination, strides, dilations,
    padding_begin, padding_end);
  return finish(result, engine, status, &operation, hint, attributes);
}

dnnl_status_t dnnl_deconvolution_forward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  dnnl_alg_kind_t algorithm, descriptor_view source, descriptor_view weights, descriptor_view
  bias, descriptor_view destination, const dnnl_dims_t strides, const dnnl_dims_t dilations, const
  dnnl_dims_t padding_begin, const dnnl_dims_t padding_end, const_dnnl_primitive_attr_t
  attributes) {
  dnnl_deconvolution_desc_t operation;
  const dnnl_status_t status = dnnl_dilated_deconvolution_forward_desc_init(
    &operation, propagation, algorithm, source, weights, bias, destination, strides, dilations,
    padding_begin, padding_end);
  return finish(result, engine, status, &operation, NULL, attributes);
}

dnnl_status_t dnnl_deconvolution_backward_data_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, descriptor_view
  diff_source, descriptor_view weights, descriptor_view diff_destination, const dnnl_dims_t
  strides, const dnnl_dims_t dilations, const dnnl_dims_t padding_begin, const dnnl_dims_t
  padding_end, const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t attributes) {
  dnnl_deconvolution_desc_t operation;
  const dnnl_status_t status = dnnl_dilated_deconvolution_backward_data_desc_init(
    &operation, algorithm, diff_source, weights, diff_destination, strides, dilations,
    padding_begin, padding_end);
  return finish(result, engine, status, &operation, hint, attributes);
}

dnnl_status_t dnnl_deconvolution_backward_weights_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, descriptor_view
  source, descriptor_view diff_weights, descriptor_view diff_bias, descriptor_view
  diff_destination, const dnnl_dims_t strides, const dnnl_dims_t dilations, const dnnl_dims_t
  padding_begin, const dnnl_dims_t padding_end, const_dnnl_primitive_desc_t hint,
  const_dnnl_primitive_attr_t attributes) {
  dnnl_deconvolution_desc_t operation;
  const dnnl_status_t status = dnnl_dilated_deconvolution_backward_weights_desc_init(
    &operation, algorithm, source, diff_weights, diff_bias, diff_destination, strides, dilations,
    padding_begin, padding_end);
  return finish(result, engine, status, &operation, hint, attributes);
}

dnnl_status_t dnnl_inner_product_forward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  descriptor_view source, descriptor_view weights, descriptor_view bias, descriptor_view
  destination, const_dnnl_primitive_attr_t attributes) {
  dnnl_inner_product_desc_t operation;
  const dnnl_status_t status = dnnl_inner_product_forward_desc_init(
    &operation, propagation, source, weights, bias, destination);
  return finish(result, engine, status, &operation, NULL, attributes);
}

dnnl_status_t dnnl_inner_product_backward_data_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, descriptor_view diff_source,
  descriptor_view weights, descriptor_view diff_destination, const_dnnl_primitive_desc_t hint,
  const_dnnl_primitive_attr_t attributes) {
  dnnl_inner_product_desc_t operation;
  const dnnl_status_t status = dnnl_inner_product_backward_data_desc_init(
    &operation, diff_source, weights, diff_destination);
  return finish(result, engine, status, &operation, hint, attributes);
}

dnnl_status_t dnnl_inner_product_backward_weights_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, descriptor_view source, descriptor_view
  diff_weights, descriptor_view diff_bias, descriptor_view diff_destination,
  const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t attributes) {
  dnnl_inner_product_desc_t operation;
  const dnnl_status_t status = dnnl_inner_product_backward_weights_desc_init(
    &operation, source, diff_weights, diff_bias, diff_destination);
  return finish(result, engine, status, &operation, hint, attributes);
}

#else

// A translation unit may not be empty.
typedef int graft_version2_weights_is_empty;

#endif
