// Concatenation and sums of many tensors.
#include "internal.h"

#include <stdlib.h>

/// Slots of oneDNN for many inputs end where those for many outputs begin.
enum { SOURCE_LIMIT = DNNL_ARG_MULTIPLE_DST - DNNL_ARG_MULTIPLE_SRC };

/// The sources of one call in the form oneDNN wants, and the slots they are bound to.
struct sources {
  const descriptor_view *views;
  float *scales;
  int *slots;
};

static void sources_free(struct sources *sources) {
  free((void *)sources->views);
  free(sources->scales);
  free(sources->slots);
}

/// Null `scales` means 1 for every source.
static int sources_create(
  const graft_layout *const *layouts, const float *scales, int count, struct sources *sources) {
  if (layouts == NULL || count < 1) return GRAFT_INVALID_ARGUMENTS;
  if (count > SOURCE_LIMIT) return GRAFT_UNSUPPORTED;
  descriptor_view *views = calloc((size_t)count, sizeof *views);
  *sources = (struct sources){
    views, calloc((size_t)count, sizeof(float)), calloc((size_t)count + 2, sizeof(int))};
  if (views == NULL || sources->scales == NULL || sources->slots == NULL) {
    sources_free(sources);
    return GRAFT_OUT_OF_MEMORY;
  }
  for (int index = 0; index < count; index++) {
    if (layouts[index] == NULL) {
      sources_free(sources);
      return GRAFT_INVALID_ARGUMENTS;
    }
    views[index] = graft_view(layouts[index]);
    sources->scales[index] = scales == NULL ? 1.0f : scales[index];
    sources->slots[index] = GRAFT_SLOT_SOURCES + index;
  }
  sources->slots[count] = GRAFT_SLOT_DESTINATION;
  return GRAFT_OK;
}

int graft_concat_create(
  const graft_layout *const *sources, int count, int axis, const graft_layout *destination,
  graft_primitive **result) {
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  struct sources prepared;
  int outcome = sources_create(sources, NULL, count, &prepared);
  if (outcome != GRAFT_OK) return outcome;
  struct graft_request request;
  dnnl_status_t status = graft_request_begin(&request, NULL, NULL);
  if (axis < 0 || axis >= graft_layout_rank(sources[0])) status = dnnl_invalid_arguments;
  if (status == dnnl_success)
    status = graft_make_concat(
      &request.descriptor, request.engine, graft_view(destination), count, axis, prepared.views,
      request.attributes);
  outcome = graft_request_finish(&request, status, prepared.slots, NULL, result);
  sources_free(&prepared);
  return outcome;
}

int graft_sum_create(
  const graft_layout *const *sources, const float *scales, int count,
  const graft_layout *destination, graft_primitive **result) {
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  struct sources prepared;
  int outcome = sources_create(sources, scales, count, &prepared);
  if (outcome != GRAFT_OK) return outcome;
  struct graft_request request;
  dnnl_status_t status = graft_request_begin(&request, NULL, NULL);
  if (status == dnnl_success)
    status = graft_make_sum(
      &request.descriptor, request.engine, graft_view(destination), count, prepared.scales,
      prepared.views, request.attributes);
  outcome = graft_request_finish(&request, status, prepared.slots, NULL, result);
  sources_free(&prepared);
  return outcome;
}
