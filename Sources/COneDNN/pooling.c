// Maximum and average pooling, forward and backward.
#include "internal.h"

static dnnl_alg_kind_t algorithm(graft_pooling_kind kind) {
  switch (kind) {
  case GRAFT_POOLING_MAXIMUM: return dnnl_pooling_max;
  case GRAFT_POOLING_AVERAGE_WITH_PADDING: return dnnl_pooling_avg_include_padding;
  case GRAFT_POOLING_AVERAGE_WITHOUT_PADDING: return dnnl_pooling_avg_exclude_padding;
  }
  return dnnl_alg_kind_undef;
}

struct pooling {
  dnnl_alg_kind_t algorithm;
  dnnl_dims_t size;
  struct window_numbers window;
};

/// Whether the description is one that oneDNN may see.
static int read(const graft_pooling *description, struct pooling *pooling) {
  if (description == NULL || description->source == NULL || description->destination == NULL)
    return 0;
  const int rank = graft_layout_rank(description->source);
  pooling->algorithm = algorithm(description->kind);
  if (pooling->algorithm == dnnl_alg_kind_undef) return 0;
  if (!graft_window_numbers(&description->window, rank, &pooling->window)) return 0;
  for (int axis = 0; axis < rank - 2; axis++) {
    if (description->size[axis] < 1 || description->size[axis] > INT64_C(1) << 31) return 0;
    pooling->size[axis] = description->size[axis];
  }
  return 1;
}

static dnnl_status_t forward(
  const graft_pooling *description, const struct pooling *pooling, int training,
  struct graft_request *request, dnnl_primitive_desc_t *result) {
  return dnnl_pooling_forward_primitive_desc_create(
    result, request->engine, training ? dnnl_forward_training : dnnl_forward_inference,
    pooling->algorithm, graft_view(description->source), graft_view(description->destination),
    pooling->window.strides, pooling->size, pooling->window.dilations,
    pooling->window.padding_begin, pooling->window.padding_end, request->attributes);
}

int graft_pooling_create(const graft_pooling *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_SOURCE, GRAFT_SLOT_DESTINATION, GRAFT_SLOT_WORKSPACE, 0,
  };
  struct pooling pooling;
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (!read(description, &pooling)) return GRAFT_INVALID_ARGUMENTS;
  struct graft_request request;
  dnnl_status_t status =
    graft_request_begin(&request, description->post_operations, description->destination);
  if (status == dnnl_success)
    status = forward(description, &pooling, description->training, &request, &request.descriptor);
  return graft_request_finish(
    &request, status, slots, description->post_operations, result);
}

int graft_pooling_backward_create(const graft_pooling *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_WORKSPACE, GRAFT_SLOT_DIFF_SOURCE, GRAFT_SLOT_DIFF_DESTINATION, 0,
  };
  struct pooling pooling;
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (!read(description, &pooling)) return GRAFT_INVALID_ARGUMENTS;
  struct graft_request request;
  dnnl_primitive_desc_t hint = NULL;
  dnnl_status_t status = graft_request_begin(&request, NULL, NULL);
  if (status == dnnl_success) status = forward(description, &pooling, 1, &request, &hint);
  if (status == dnnl_success)
    status = dnnl_pooling_backward_primitive_desc_create(
      &request.descriptor, request.engine, pooling.algorithm, graft_view(description->source),
      graft_view(description->destination), pooling.window.strides, pooling.size,
      pooling.window.dilations, pooling.window.padding_begin, pooling.window.padding_end, hint,
      request.attributes);
  if (hint != NULL) dnnl_primitive_desc_destroy(hint);
  return graft_request_finish(&request, status, slots, NULL, result);
}
