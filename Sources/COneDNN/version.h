// Memory descriptors, whatever the version of oneDNN: with 3 they are handles, with 2 values. The
// rest of the shim uses the functions of 3; version.c implements them with those of 2.
#ifndef GRAFT_ONEDNN_VERSION_H
#define GRAFT_ONEDNN_VERSION_H

#include <dnnl.h>

#pragma GCC visibility push(hidden)

// `descriptor_handle` owns a memory descriptor, `descriptor_view` borrows one; null means absent.
#if DNNL_VERSION_MAJOR >= 3
typedef dnnl_memory_desc_t descriptor_handle;
typedef const_dnnl_memory_desc_t descriptor_view;
#else
typedef dnnl_memory_desc_t *descriptor_handle;
typedef const dnnl_memory_desc_t *descriptor_view;

dnnl_status_t dnnl_memory_desc_create_with_strides(
  descriptor_handle *result, int rank, const dnnl_dims_t dimensions, dnnl_data_type_t element,
  const dnnl_dims_t strides);
dnnl_status_t dnnl_memory_desc_create_with_tag(
  descriptor_handle *result, int rank, const dnnl_dims_t dimensions, dnnl_data_type_t element,
  dnnl_format_tag_t tag);
dnnl_status_t dnnl_memory_desc_clone(descriptor_handle *result, descriptor_view existing);
dnnl_status_t dnnl_memory_desc_destroy(descriptor_handle descriptor);
#endif

/// What is known about a memory descriptor.
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

/// The facts of an absent descriptor have rank 0.
void graft_descriptor_read(descriptor_view view, struct descriptor_facts *facts);

#pragma GCC visibility pop
#endif
