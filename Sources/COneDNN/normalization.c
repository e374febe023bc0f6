// Layer and batch normalization, and their gradients. `statistics` is null for batch normalization.
#include "internal.h"

static int is_sound(const graft_normalization *description) {
  return graft_layout_rank(description->layout) >= 2;
}

static unsigned flags(const graft_normalization *description) {
  unsigned flags = dnnl_normalization_flags_none;
  if (description->has_scale) flags |= dnnl_use_scale;
  if (description->has_shift) flags |= dnnl_use_shift;
  if (description->uses_given_statistics) flags |= dnnl_use_global_stats;
  return flags;
}

static dnnl_status_t forward(
  const graft_normalization *description, descriptor_view statistics,
  dnnl_prop_kind_t propagation, struct graft_request *request) {
  const descriptor_view layout = graft_view(description->layout);
  const float epsilon = description->epsilon;
#if DNNL_VERSION_MAJOR >= 3
  if (statistics == NULL)
    return dnnl_batch_normalization_forward_primitive_desc_create(
      &request->forward, request->engine, propagation, layout, layout, epsilon,
      flags(description), request->attributes);
  return dnnl_layer_normalization_forward_primitive_desc_create(
    &request->forward, request->engine, propagation, layout, layout, statistics, epsilon,
    flags(description), request->attributes);
#else
  if (statistics == NULL) {
    dnnl_batch_normalization_desc_t operation;
    const dnnl_status_t status = dnnl_batch_normalization_forward_desc_init(
      &operation, propagation, layout, epsilon, flags(description));
    return graft_make_forward(request, status, &operation);
  }
  dnnl_layer_normalization_desc_t operation;
  const dnnl_status_t status = dnnl_layer_normalization_forward_desc_init(
    &operation, propagation, layout, statistics, epsilon, flags(description));
  return graft_make_forward(request, status, &operation);
#endif
}

static dnnl_status_t backward(
  const graft_normalization *description, descriptor_view statistics,
  struct graft_request *request) {
  const descriptor_view layout = graft_view(description->layout);
  const float epsilon = description->epsilon;
  const int has_weights = description->has_scale || description->has_shift;
  const dnnl_prop_kind_t propagation = has_weights ? dnnl_backward : dnnl_backward_data;
#if DNNL_VERSION_MAJOR >= 3
  if (statistics == NULL)
    return dnnl_batch_normalization_backward_primitive_desc_create(
      &request->backward, request->engine, propagation, layout, layout, layout, epsilon,
      flags(description), request->forward, request->attributes);
  return dnnl_layer_normalization_backward_primitive_desc_create(
    &request->backward, request->engine, propagation, layout, layout, layout, statistics, epsilon,
    flags(description), request->forward, request->attributes);
#else
  if (statistics == NULL) {
    dnnl_batch_normalization_desc_t operation;
    const dnnl_status_t status = dnnl_batch_normalization_backward_desc_init(
      &operation, propagation, layout, layout, epsilon, flags(description));
    return graft_make_backward(request, status, &operation);
  }
  dnnl_layer_normalization_desc_t operation;
  const dnnl_status_t status = dnnl_layer_normalization_backward_desc_init(
    &operation, propagation, layout, layout, statistics, epsilon, flags(description));
  return graft_make_backward(request, status, &operation);
#endif
}

static int make_forward(
  const graft_normalization *description, descriptor_view statistics, graft_primitive **result) {
  int slots[7], count = 0;
  slots[count++] = GRAFT_SLOT_SOURCE;
  slots[count++] = GRAFT_SLOT_DESTINATION;
  if (description->training || description->uses_given_statistics) {
    slots[count++] = GRAFT_SLOT_MEAN;
    slots[count++] = GRAFT_SLOT_VARIANCE;
  }
  if (description->has_scale) slots[count++] = GRAFT_SLOT_SCALE;
  if (description->has_shift) slots[count++] = GRAFT_SLOT_SHIFT;
  slots[count] = 0;
  const dnnl_prop_kind_t propagation =
    description->training ? dnnl_forward_training : dnnl_forward_inference;
  struct graft_request request = graft_request_begin(
    is_sound(description), description->post_operations, description->layout);
  if (request.status == dnnl_success)
    request.status = forward(description, statistics, propagation, &request);
  return graft_request_finish(&request, slots, result);
}

/// No gradient needs the shift, but some versions refuse to run without it.
static int wants_shift(
  const graft_normalization *description, const struct graft_request *request) {
  const int needed = description->has_scale ? 5 : 4;
  return dnnl_primitive_desc_query_s32(request->backward, dnnl_query_num_of_inputs_s32, 0)
    > needed;
}

static int make_backward(
  const graft_normalization *description, descriptor_view statistics, graft_primitive **result) {
  struct graft_request request = graft_request_begin(is_sound(description), NULL, NULL);
  if (request.status == dnnl_success)
    request.status = forward(description, statistics, dnnl_forward_training, &request);
  if (request.status == dnnl_success)
    request.status = backward(description, statistics, &request);

  int slots[10], count = 0;
  slots[count++] = GRAFT_SLOT_SOURCE;
  slots[count++] = GRAFT_SLOT_MEAN;
  slots[count++] = GRAFT_SLOT_VARIANCE;
  if (description->has_scale) slots[count++] = GRAFT_SLOT_SCALE;
  if (description->has_shift && request.status == dnnl_success
      && wants_shift(description, &request))
    slots[count++] = GRAFT_SLOT_SHIFT;
  slots[count++] = GRAFT_SLOT_DIFF_SOURCE;
  slots[count++] = GRAFT_SLOT_DIFF_DESTINATION;
  if (description->has_scale) slots[count++] = GRAFT_SLOT_DIFF_SCALE;
  if (description->has_shift) slots[count++] = GRAFT_SLOT_DIFF_SHIFT;
  slots[count] = 0;
  return graft_request_finish(&request, slots, result);
}

typedef int make_function(
  const graft_normalization *description, descriptor_view statistics, graft_primitive **result);

/// With row-major statistics, one for each row of the last axis.
static int make_layer(
  make_function *make, const graft_normalization *description, graft_primitive **result) {
  int64_t dimensions[DNNL_MAX_NDIMS];
  const int rank = graft_layout_rank(description->layout) - 1;
  for (int axis = 0; axis < rank; axis++)
    dimensions[axis] = graft_layout_dimension(description->layout, axis);
  graft_layout *statistics = NULL;
  int outcome = graft_layout_create_plain(rank, dimensions, NULL, &statistics);
  *result = NULL;
  if (outcome == GRAFT_OK) outcome = make(description, graft_view(statistics), result);
  graft_layout_free(statistics);
  return outcome;
}

int graft_layer_normalization_create(
  const graft_normalization *description, graft_primitive **result) {
  return make_layer(make_forward, description, result);
}

int graft_layer_normalization_backward_create(
  const graft_normalization *description, graft_primitive **result) {
  return make_layer(make_backward, description, result);
}

int graft_batch_normalization_create(
  const graft_normalization *description, graft_primitive **result) {
  return make_forward(description, NULL, result);
}

int graft_batch_normalization_backward_create(
  const graft_normalization *description, graft_primitive **result) {
  return make_backward(description, NULL, result);
}
