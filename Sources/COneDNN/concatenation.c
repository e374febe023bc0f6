// Concatenation.
#include "internal.h"

#include <stdlib.h>

/// Slots of oneDNN for many inputs end where those for many outputs begin.
enum { SOURCE_LIMIT = DNNL_ARG_MULTIPLE_DST - DNNL_ARG_MULTIPLE_SRC };

/// oneDNN 2 wants the memory descriptors themselves in a row, oneDNN 3 their handles.
#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t row_element;
#else
typedef dnnl_memory_desc_t row_element;
#endif

static dnnl_status_t forward(
  const row_element *sources, int count, int axis, struct graft_request *request) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_concat_primitive_desc_create(
    &request->forward, request->engine, NULL, count, axis, sources, request->attributes);
#else
  return dnnl_concat_primitive_desc_create(
    &request->forward, NULL, count, axis, sources, request->attributes, request->engine);
#endif
}

static int is_sound(const graft_layout *const *sources, int count, int axis) {
  if (count < 1 || axis < 0) return 0;
  for (int index = 0; index < count; index++)
    if (axis >= graft_layout_rank(sources[index])) return 0;
  return 1;
}

int graft_concat_create(
  const graft_layout *const *sources, int count, int axis, graft_primitive **result) {
  struct graft_request request = graft_request_begin(is_sound(sources, count, axis), NULL, NULL);
  if (count > SOURCE_LIMIT) request.status = dnnl_unimplemented;
  row_element *row = NULL;
  int *slots = NULL;
  if (request.status == dnnl_success) {
    row = calloc((size_t)count, sizeof *row);
    slots = calloc((size_t)count + 2, sizeof *slots);
    if (row == NULL || slots == NULL) request.status = dnnl_out_of_memory;
  }
  if (request.status == dnnl_success) {
    for (int index = 0; index < count; index++) {
#if DNNL_VERSION_MAJOR >= 3
      row[index] = graft_view(sources[index]);
#else
      row[index] = *graft_view(sources[index]);
#endif
      slots[index] = GRAFT_SLOT_SOURCES + index;
    }
    slots[count] = GRAFT_SLOT_DESTINATION;
    request.status = forward(row, count, axis, &request);
  }
  const int outcome = graft_request_finish(&request, slots, result);
  free(row);
  free(slots);
  return outcome;
}
