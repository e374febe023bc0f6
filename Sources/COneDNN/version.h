// The rest of the shim is written against the interface of oneDNN 3. With 2.x this header declares
// the functions of 3 that it needs, and version2.c implements them with those of 2.x.
#ifndef GRAFT_ONEDNN_VERSION_H
#define GRAFT_ONEDNN_VERSION_H

#include <dnnl.h>

// `descriptor_handle` owns a memory descriptor, `descriptor_view` borrows one; null means absent.
#if DNNL_VERSION_MAJOR >= 3
typedef dnnl_memory_desc_t descriptor_handle;
typedef const_dnnl_memory_desc_t descriptor_view;
#else
typedef dnnl_memory_desc_t *descriptor_handle;
typedef const dnnl_memory_desc_t *descriptor_view;
#endif

/// What is known about a memory descriptor, whatever the version.
struct descriptor_facts {
  int rank;
  dnnl_data_type_t element;
  dnnl_format_kind_t format;
  int64_t dimensions[DNNL_MAX_NDIMS];
  int64_t padded_dimensions[DNNL_MAX_NDIMS];
  // The rest is set for blocked formats only (`dnnl_blocked`; a plain one has no inner blocks).
  int64_t strides[DNNL_MAX_NDIMS];
  int inner_block_count;
  int64_t inner_blocks[DNNL_MAX_NDIMS];
  int64_t inner_axes[DNNL_MAX_NDIMS];
  int64_t offset;
};

__attribute__((visibility("hidden")))
void graft_descriptor_read(descriptor_view view, struct descriptor_facts *facts);

#if DNNL_VERSION_MAJOR < 3
#pragma GCC visibility push(hidden)

dnnl_status_t dnnl_memory_desc_create_with_strides(
  descriptor_handle *result, int rank, const dnnl_dims_t dims, dnnl_data_type_t element,
  const dnnl_dims_t strides);
dnnl_status_t dnnl_memory_desc_create_with_tag(
  descriptor_handle *result, int rank, const dnnl_dims_t dims, dnnl_data_type_t element,
  dnnl_format_tag_t tag);
dnnl_status_t dnnl_memory_desc_clone(descriptor_handle *result, descriptor_view existing);
dnnl_status_t dnnl_memory_desc_destroy(descriptor_handle descriptor);

dnnl_status_t dnnl_convolution_forward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  dnnl_alg_kind_t algorithm, descriptor_view source, descriptor_view weights,
  descriptor_view bias, descriptor_view destination, const dnnl_dims_t strides,
  const dnnl_dims_t dilations, const dnnl_dims_t padding_begin, const dnnl_dims_t padding_end,
  const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_matmul_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, descriptor_view source,
  descriptor_view weights, descriptor_view bias, descriptor_view destination,
  const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_convolution_backward_data_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, descriptor_view
  diff_source, descriptor_view weights, descriptor_view diff_destination, const dnnl_dims_t
  strides, const dnnl_dims_t dilations, const dnnl_dims_t padding_begin, const dnnl_dims_t
  padding_end, const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_convolution_backward_weights_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, descriptor_view
  source, descriptor_view diff_weights, descriptor_view diff_bias, descriptor_view
  diff_destination, const dnnl_dims_t strides, const dnnl_dims_t dilations, const dnnl_dims_t
  padding_begin, const dnnl_dims_t padding_end, const_dnnl_primitive_desc_t hint,
  const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_deconvolution_forward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  dnnl_alg_kind_t algorithm, descriptor_view source, descriptor_view weights, descriptor_view
  bias, descriptor_view destination, const dnnl_dims_t strides, const dnnl_dims_t dilations, const
  dnnl_dims_t padding_begin, const dnnl_dims_t padding_end, const_dnnl_primitive_attr_t
  attributes);
dnnl_status_t dnnl_deconvolution_backward_data_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, descriptor_view
  diff_source, descriptor_view weights, descriptor_view diff_destination, const dnnl_dims_t
  strides, const dnnl_dims_t dilations, const dnnl_dims_t padding_begin, const dnnl_dims_t
  padding_end, const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_deconvolution_backward_weights_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, descriptor_view
  source, descriptor_view diff_weights, descriptor_view diff_bias, descriptor_view
  diff_destination, const dnnl_dims_t strides, const dnnl_dims_t dilations, const dnnl_dims_t
  padding_begin, const dnnl_dims_t padding_end, const_dnnl_primitive_desc_t hint,
  const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_inner_product_forward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  descriptor_view source, descriptor_view weights, descriptor_view bias, descriptor_view
  destination, const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_inner_product_backward_data_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, descriptor_view diff_source,
  descriptor_view weights, descriptor_view diff_destination, const_dnnl_primitive_desc_t hint,
  const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_inner_product_backward_weights_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, descriptor_view source, descriptor_view
  diff_weights, descriptor_view diff_bias, descriptor_view diff_destination,
  const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_pooling_forward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  dnnl_alg_kind_t algorithm, descriptor_view source, descriptor_view destination, const
  dnnl_dims_t strides, const dnnl_dims_t kernel, const dnnl_dims_t dilations, const dnnl_dims_t
  padding_begin, const dnnl_dims_t padding_end, const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_pooling_backward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, descriptor_view
  diff_source, descriptor_view diff_destination, const dnnl_dims_t strides, const dnnl_dims_t
  kernel, const dnnl_dims_t dilations, const dnnl_dims_t padding_begin, const dnnl_dims_t
  padding_end, const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_eltwise_forward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  dnnl_alg_kind_t algorithm, descriptor_view source, descriptor_view destination, float alpha,
  float beta, const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_eltwise_backward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, descriptor_view
  diff_source, descriptor_view diff_destination, descriptor_view data, float alpha, float beta,
  const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_softmax_forward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  dnnl_alg_kind_t algorithm, descriptor_view source, descriptor_view destination, int axis,
  const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_softmax_backward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, descriptor_view
  diff_source, descriptor_view diff_destination, descriptor_view destination, int axis,
  const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_batch_normalization_forward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  descriptor_view source, descriptor_view destination, float epsilon, unsigned flags,
  const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_batch_normalization_backward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  descriptor_view diff_source, descriptor_view diff_destination, descriptor_view source, float
  epsilon, unsigned flags, const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t
  attributes);
dnnl_status_t dnnl_layer_normalization_forward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  descriptor_view source, descriptor_view destination, descriptor_view statistics, float epsilon,
  unsigned flags, const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_layer_normalization_backward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  descriptor_view diff_source, descriptor_view diff_destination, descriptor_view source,
  descriptor_view statistics, float epsilon, unsigned flags, const_dnnl_primitive_desc_t hint,
  const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_binary_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, descriptor_view
  source, descriptor_view source_2, descriptor_view destination, const_dnnl_primitive_attr_t
  attributes);
dnnl_status_t dnnl_reduction_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, descriptor_view
  source, descriptor_view destination, float p, float epsilon, const_dnnl_primitive_attr_t
  attributes);
dnnl_status_t dnnl_resampling_forward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_prop_kind_t propagation,
  dnnl_alg_kind_t algorithm, const float *factors, descriptor_view source, descriptor_view
  destination, const_dnnl_primitive_attr_t attributes);
dnnl_status_t dnnl_resampling_backward_primitive_desc_create(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, const float
  *factors, descriptor_view diff_source, descriptor_view diff_destination,
  const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t attributes);

#pragma GCC visibility pop
#endif

/// The calls whose parameters changed, though their names did not.
__attribute__((visibility("hidden")))
dnnl_status_t graft_append_sum(dnnl_post_ops_t operations, float scale);
__attribute__((visibility("hidden")))
dnnl_status_t graft_append_elementwise(
  dnnl_post_ops_t operations, dnnl_alg_kind_t algorithm, float alpha, float beta);
__attribute__((visibility("hidden")))
dnnl_status_t graft_make_concat(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, descriptor_view destination, int count,
  int axis, const descriptor_view *sources, const_dnnl_primitive_attr_t attributes);
__attribute__((visibility("hidden")))
dnnl_status_t graft_make_sum(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, descriptor_view destination, int count,
  const float *scales, const descriptor_view *sources, const_dnnl_primitive_attr_t attributes);

#endif
