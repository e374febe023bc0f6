// What differs between oneDNN 2.x and 3.x in ways that the version2 files cannot hide.
#include "version.h"

#include <stdlib.h>
#include <string.h>

#if DNNL_VERSION_MAJOR >= 3

/// Copies an array of `count` sizes that a query points to; leaves zeros if the query fails.
static void read_sizes(descriptor_view view, dnnl_query_t what, int count, int64_t *sizes) {
  const dnnl_dims_t *values = NULL;
  if (dnnl_memory_desc_query(view, what, &values) != dnnl_success || values == NULL) return;
  memcpy(sizes, *values, (size_t)count * sizeof(int64_t));
}

void graft_descriptor_read(descriptor_view view, struct descriptor_facts *facts) {
  memset(facts, 0, sizeof *facts);
  if (view == NULL) return;
  dnnl_memory_desc_query(view, dnnl_query_ndims_s32, &facts->rank);
  if (facts->rank < 0 || facts->rank > DNNL_MAX_NDIMS) facts->rank = 0;
  if (facts->rank == 0) return;
  dnnl_memory_desc_query(view, dnnl_query_data_type, &facts->element);
  dnnl_memory_desc_query(view, dnnl_query_format_kind, &facts->format);
  read_sizes(view, dnnl_query_dims, facts->rank, facts->dimensions);
  read_sizes(view, dnnl_query_padded_dims, facts->rank, facts->padded_dimensions);
  if (facts->format != dnnl_blocked) return;
  dnnl_memory_desc_query(view, dnnl_query_submemory_offset_s64, &facts->offset);
  dnnl_memory_desc_query(view, dnnl_query_inner_nblks_s32, &facts->inner_block_count);
  read_sizes(view, dnnl_query_strides, facts->rank, facts->strides);
  read_sizes(view, dnnl_query_inner_blks, facts->inner_block_count, facts->inner_blocks);
  read_sizes(view, dnnl_query_inner_idxs, facts->inner_block_count, facts->inner_axes);
}

dnnl_status_t graft_append_sum(dnnl_post_ops_t operations, float scale) {
  return dnnl_post_ops_append_sum(operations, scale, 0, dnnl_data_type_undef);
}

dnnl_status_t graft_append_elementwise(
  dnnl_post_ops_t operations, dnnl_alg_kind_t algorithm, float alpha, float beta) {
  return dnnl_post_ops_append_eltwise(operations, algorithm, alpha, beta);
}

dnnl_status_t graft_make_concat(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, descriptor_view destination, int count,
  int axis, const descriptor_view *sources, const_dnnl_primitive_attr_t attributes) {
  return dnnl_concat_primitive_desc_create(
    result, engine, destination, count, axis, sources, attributes);
}

dnnl_status_t graft_make_sum(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, descriptor_view destination, int count,
  const float *scales, const descriptor_view *sources, const_dnnl_primitive_attr_t attributes) {
  return dnnl_sum_primitive_desc_create(
    result, engine, destination, count, scales, sources, attributes);
}

#else

void graft_descriptor_read(descriptor_view view, struct descriptor_facts *facts) {
  memset(facts, 0, sizeof *facts);
  if (view == NULL || view->ndims <= 0 || view->ndims > DNNL_MAX_NDIMS) return;
  const size_t bytes = (size_t)view->ndims * sizeof(int64_t);
  facts->rank = view->ndims;
  facts->element = view->data_type;
  facts->format = view->format_kind;
  memcpy(facts->dimensions, view->dims, bytes);
  memcpy(facts->padded_dimensions, view->padded_dims, bytes);
  if (facts->format != dnnl_blocked) return;
  const dnnl_blocking_desc_t *blocking = &view->format_desc.blocking;
  facts->offset = view->offset0;
  facts->inner_block_count = blocking->inner_nblks;
  memcpy(facts->strides, blocking->strides, bytes);
  memcpy(facts->inner_blocks, blocking->inner_blks, sizeof facts->inner_blocks);
  memcpy(facts->inner_axes, blocking->inner_idxs, sizeof facts->inner_axes);
}

dnnl_status_t graft_append_sum(dnnl_post_ops_t operations, float scale) {
  return dnnl_post_ops_append_sum(operations, scale);
}

dnnl_status_t graft_append_elementwise(
  dnnl_post_ops_t operations, dnnl_alg_kind_t algorithm, float alpha, float beta) {
  return dnnl_post_ops_append_eltwise(operations, 1.0f, algorithm, alpha, beta);
}

/// oneDNN 2 wants the descriptors themselves in a row.
static dnnl_memory_desc_t *in_a_row(const descriptor_view *views, int count) {
  dnnl_memory_desc_t *row = malloc((size_t)count * sizeof *row);
  for (int index = 0; row != NULL && index < count; index++) row[index] = *views[index];
  return row;
}

dnnl_status_t graft_make_concat(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, descriptor_view destination, int count,
  int axis, const descriptor_view *sources, const_dnnl_primitive_attr_t attributes) {
  dnnl_memory_desc_t *row = in_a_row(sources, count);
  if (row == NULL) return dnnl_out_of_memory;
  const dnnl_status_t status = dnnl_concat_primitive_desc_create(
    result, destination, count, axis, row, attributes, engine);
  free(row);
  return status;
}

dnnl_status_t graft_make_sum(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, descriptor_view destination, int count,
  const float *scales, const descriptor_view *sources, const_dnnl_primitive_attr_t attributes) {
  dnnl_memory_desc_t *row = in_a_row(sources, count);
  if (row == NULL) return dnnl_out_of_memory;
  const dnnl_status_t status = dnnl_sum_primitive_desc_create(
    result, destination, count, scales, row, attributes, engine);
  free(row);
  return status;
}

#endif
