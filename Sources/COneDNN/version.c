// Memory descriptors of oneDNN 3 and 2.
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

dnnl_status_t dnnl_memory_desc_clone(descriptor_handle *result, descriptor_view existing) {
  *result = malloc(sizeof **result);
  if (*result == NULL) return dnnl_out_of_memory;
  **result = *existing;
  return dnnl_success;
}

dnnl_status_t dnnl_memory_desc_create_with_strides(
  descriptor_handle *result, int rank, const dnnl_dims_t dimensions, dnnl_data_type_t element,
  const dnnl_dims_t strides) {
  dnnl_memory_desc_t descriptor;
  const dnnl_status_t status =
    dnnl_memory_desc_init_by_strides(&descriptor, rank, dimensions, element, strides);
  return status == dnnl_success ? dnnl_memory_desc_clone(result, &descriptor) : status;
}

dnnl_status_t dnnl_memory_desc_create_with_tag(
  descriptor_handle *result, int rank, const dnnl_dims_t dimensions, dnnl_data_type_t element,
  dnnl_format_tag_t tag) {
  dnnl_memory_desc_t descriptor;
  const dnnl_status_t status =
    dnnl_memory_desc_init_by_tag(&descriptor, rank, dimensions, element, tag);
  return status == dnnl_success ? dnnl_memory_desc_clone(result, &descriptor) : status;
}

dnnl_status_t dnnl_memory_desc_destroy(descriptor_handle descriptor) {
  free(descriptor);
  return dnnl_success;
}

#endif
