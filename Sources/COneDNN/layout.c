// Layouts: owned copies of memory descriptors.
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Sizes come from files: they must be non-negative and their product must leave room for any
/// padding and element size that oneDNN computes with.
static int sizes_are_sound(int rank, const int64_t *dimensions) {
  if (rank < 1 || rank > DNNL_MAX_NDIMS) return 0;
  int64_t product = 1;
  for (int axis = 0; axis < rank; axis++) {
    if (dimensions[axis] < 0 || dimensions[axis] > INT64_C(1) << 40) return 0;
    const int64_t factor = dimensions[axis] == 0 ? 1 : dimensions[axis];
    if (product > (INT64_C(1) << 48) / factor) return 0;
    product *= factor;
  }
  return 1;
}

/// The same for the last element of a strided layout.
static int strides_are_sound(int rank, const int64_t *dimensions, const int64_t *strides) {
  int64_t last = 0;
  for (int axis = 0; axis < rank; axis++) {
    if (strides[axis] < 0) return 0;
    if (dimensions[axis] > 1 && strides[axis] > (INT64_C(1) << 48) / dimensions[axis]) return 0;
    if (dimensions[axis] > 1) last += strides[axis] * (dimensions[axis] - 1);
    if (last > INT64_C(1) << 48) return 0;
  }
  return 1;
}

static void row_major(int rank, const int64_t *dimensions, int64_t *strides) {
  int64_t stride = 1;
  for (int axis = rank - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= dimensions[axis] == 0 ? 1 : dimensions[axis];
  }
}

/// Wraps a descriptor that is already owned.
static int wrap(dnnl_status_t status, descriptor_handle descriptor, graft_layout **result) {
  if (status != dnnl_success) return graft_status_from(status);
  graft_layout *layout = malloc(sizeof *layout);
  if (layout == NULL) {
    dnnl_memory_desc_destroy(descriptor);
    return GRAFT_OUT_OF_MEMORY;
  }
  layout->descriptor = descriptor;
  *result = layout;
  return GRAFT_OK;
}

descriptor_view graft_view(const graft_layout *layout) {
  return layout == NULL ? NULL : layout->descriptor;
}

int graft_layout_from(descriptor_view view, graft_layout **result) {
  descriptor_handle descriptor = NULL;
  const dnnl_status_t status = dnnl_memory_desc_clone(&descriptor, view);
  return wrap(status, descriptor, result);
}

int graft_layout_create_plain(
  int rank, const int64_t *dimensions, const int64_t *strides, graft_layout **result) {
  *result = NULL;
  if (!sizes_are_sound(rank, dimensions)) return GRAFT_INVALID_ARGUMENTS;
  dnnl_dims_t sizes = {0}, steps = {0};
  memcpy(sizes, dimensions, (size_t)rank * sizeof(int64_t));
  if (strides == NULL) {
    row_major(rank, dimensions, steps);
  } else {
    if (!strides_are_sound(rank, dimensions, strides)) return GRAFT_INVALID_ARGUMENTS;
    memcpy(steps, strides, (size_t)rank * sizeof(int64_t));
  }
  descriptor_handle descriptor = NULL;
  const dnnl_status_t status =
    dnnl_memory_desc_create_with_strides(&descriptor, rank, sizes, dnnl_f32, steps);
  return wrap(status, descriptor, result);
}

static int create_with_tag(
  int rank, const int64_t *dimensions, dnnl_format_tag_t tag, graft_layout **result) {
  *result = NULL;
  if (!sizes_are_sound(rank, dimensions)) return GRAFT_INVALID_ARGUMENTS;
  dnnl_dims_t sizes = {0};
  memcpy(sizes, dimensions, (size_t)rank * sizeof(int64_t));
  descriptor_handle descriptor = NULL;
  const dnnl_status_t status =
    dnnl_memory_desc_create_with_tag(&descriptor, rank, sizes, dnnl_f32, tag);
  return wrap(status, descriptor, result);
}

int graft_layout_create_any(int rank, const int64_t *dimensions, graft_layout **result) {
  return create_with_tag(rank, dimensions, dnnl_format_tag_any, result);
}

int graft_layout_create_blocked(
  int rank, const int64_t *dimensions, int block, graft_layout **result) {
  static const dnnl_format_tag_t tags[3][3] = {
    {dnnl_aBc4b, dnnl_aBc8b, dnnl_aBc16b},
    {dnnl_aBcd4b, dnnl_aBcd8b, dnnl_aBcd16b},
    {dnnl_aBcde4b, dnnl_aBcde8b, dnnl_aBcde16b},
  };
  *result = NULL;
  const int column = block == 4 ? 0 : block == 8 ? 1 : block == 16 ? 2 : -1;
  if (rank < 3 || rank > 5 || column < 0) return GRAFT_INVALID_ARGUMENTS;
  return create_with_tag(rank, dimensions, tags[rank - 3][column], result);
}

void graft_layout_free(graft_layout *layout) {
  if (layout == NULL) return;
  dnnl_memory_desc_destroy(layout->descriptor);
  free(layout);
}

int graft_layout_equal(const graft_layout *left, const graft_layout *right) {
  return dnnl_memory_desc_equal(left->descriptor, right->descriptor) != 0;
}

int64_t graft_layout_byte_size(const graft_layout *layout) {
  return (int64_t)dnnl_memory_desc_get_size(layout->descriptor);
}

int graft_layout_rank(const graft_layout *layout) {
  struct descriptor_facts facts;
  graft_descriptor_read(graft_view(layout), &facts);
  return facts.rank;
}

int64_t graft_layout_dimension(const graft_layout *layout, int axis) {
  struct descriptor_facts facts;
  graft_descriptor_read(graft_view(layout), &facts);
  return axis < 0 || axis >= facts.rank ? 0 : facts.dimensions[axis];
}

int graft_layout_has_padding(const graft_layout *layout) {
  struct descriptor_facts facts;
  graft_descriptor_read(graft_view(layout), &facts);
  if (facts.format == dnnl_format_kind_any) return 0;
  return memcmp(facts.padded_dimensions, facts.dimensions, sizeof facts.dimensions) != 0;
}

int graft_layout_is_plain_row_major(const graft_layout *layout) {
  struct descriptor_facts facts;
  graft_descriptor_read(graft_view(layout), &facts);
  if (facts.rank == 0 || facts.format != dnnl_blocked || facts.offset != 0) return 0;
  if (facts.inner_block_count != 0) return 0;
  int64_t strides[DNNL_MAX_NDIMS];
  row_major(facts.rank, facts.dimensions, strides);
  for (int axis = 0; axis < facts.rank; axis++) {
    if (facts.padded_dimensions[axis] != facts.dimensions[axis]) return 0;
    if (facts.dimensions[axis] > 1 && facts.strides[axis] != strides[axis]) return 0;
  }
  return 1;
}
