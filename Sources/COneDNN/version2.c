// The memory descriptors of oneDNN 3, which are handles, made from those of oneDNN 2, which are
// values. Empty with oneDNN 3.
#include "version.h"

#if DNNL_VERSION_MAJOR < 3

#include <stdlib.h>

static dnnl_status_t keep(
  descriptor_handle *result, dnnl_status_t status, const dnnl_memory_desc_t *descriptor) {
  if (status != dnnl_success) return status;
  *result = malloc(sizeof **result);
  if (*result == NULL) return dnnl_out_of_memory;
  **result = *descriptor;
  return dnnl_success;
}

dnnl_status_t dnnl_memory_desc_create_with_strides(
  descriptor_handle *result, int rank, const dnnl_dims_t dims, dnnl_data_type_t element,
  const dnnl_dims_t strides) {
  dnnl_memory_desc_t descriptor;
  return keep(
    result, dnnl_memory_desc_init_by_strides(&descriptor, rank, dims, element, strides),
    &descriptor);
}

dnnl_status_t dnnl_memory_desc_create_with_tag(
  descriptor_handle *result, int rank, const dnnl_dims_t dims, dnnl_data_type_t element,
  dnnl_format_tag_t tag) {
  dnnl_memory_desc_t descriptor;
  return keep(
    result, dnnl_memory_desc_init_by_tag(&descriptor, rank, dims, element, tag), &descriptor);
}

dnnl_status_t dnnl_memory_desc_clone(descriptor_handle *result, descriptor_view existing) {
  return keep(result, dnnl_success, existing);
}

dnnl_status_t dnnl_memory_desc_destroy(descriptor_handle descriptor) {
  free(descriptor);
  return dnnl_success;
}

#else

// A translation unit may not be empty.
typedef int graft_version2_is_empty;

#endif
