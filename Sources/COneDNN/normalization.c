// Layer and batch normalization, forward and backward.
#include "internal.h"

static int is_sound(const graft_normalization *description) {
  return description != NULL && description->source != NULL && description->destination != NULL
    && graft_layout_rank(description->source) >= 2
    && graft_same_sizes(description->source, description->destination);
}

static unsigned flags(const graft_normalization *description) {
  unsigned flags = dnnl_normalization_flags_none;
  if (description->has_scale) flags |= dnnl_use_scale;
  if (description->has_shift) flags |= dnnl_use_shift;
  if (description->uses_given_statistics) flags |= dnnl_use_global_stats;
  return flags;
}

/// Row-major f32 statistics, one per row of the last axis.
static int statistics_create(const graft_layout *source, graft_layout **result) {
  int64_t dimensions[GRAFT_MAXIMUM_RANK];
  const int rank = graft_layout_rank(source) - 1;
  for (int axis = 0; axis < rank; axis++) dimensions[axis] = graft_layout_dimension(source, axis);
  return graft_layout_create_plain(rank, dimensions, GRAFT_ELEMENT_F32, NULL, result);
}

/// `statistics` is null for batch normalization.
static dnnl_status_t forward(
  const graft_normalization *description, const graft_layout *statistics,
  dnnl_prop_kind_t propagation, struct graft_request *request, dnnl_primitive_desc_t *result) {
  const descriptor_view source = graft_view(description->source);
  const descriptor_view destination = graft_view(description->destination);
  if (statistics == NULL)
    return dnnl_batch_normalization_forward_primitive_desc_create(
      result, request->engine, propagation, source, destination, description->epsilon,
      flags(description), request->attributes);
  return dnnl_layer_normalization_forward_primitive_desc_create(
    result, request->engine, propagation, source, destination, graft_view(statistics),
    description->epsilon, flags(description), request->attributes);
}

static dnnl_status_t backward(
  const graft_normalization *description, const graft_layout *statistics,
  const_dnnl_primitive_desc_t hint, struct graft_request *request) {
  const descriptor_view source = graft_view(description->source);
  const descriptor_view destination = graft_view(description->destination);
  const int has_weights = description->has_scale || description->has_shift;
  const dnnl_prop_kind_t propagation = has_weights ? dnnl_backward : dnnl_backward_data;
  if (statistics == NULL)
    return dnnl_batch_normalization_backward_primitive_desc_create(
      &request->descriptor, request->engine, propagation, source, destination, source,
      description->epsilon, flags(description), hint, request->attributes);
  return dnnl_layer_normalization_backward_primitive_desc_create(
    &request->descriptor, request->engine, propagation, source, destination, source,
    graft_view(statistics), description->epsilon, flags(description), hint, request->attributes);
}

static int make_forward(
  const graft_normalization *description, const graft_layout *statistics,
  graft_primitive **result) {
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
  struct graft_request request;
  dnnl_status_t status =
    graft_request_begin(&request, description->post_operations, description->destination);
  if (status == dnnl_success)
    status = forward(
      description, statistics,
      description->training ? dnnl_forward_training : dnnl_forward_inference, &request,
      &request.descriptor);
  return graft_request_finish(
    &request, status, slots, description->post_operations, result);
}

/// No gradient needs the shift, but some versions refuse to run without it.
static int wants_shift(
  const graft_normalization *description, const struct graft_request *request) {
  const int needed = description->has_scale ? 5 : 4;
  return dnnl_primitive_desc_query_s32(request->descriptor, dnnl_query_num_of_inputs_s32, 0)
    > needed;
}

static int make_backward(
  const graft_normalization *description, const graft_layout *statistics,
  graft_primitive **result) {
  struct graft_request request;
  dnnl_primitive_desc_t hint = NULL;
  dnnl_status_t status = graft_request_begin(&request, NULL, NULL);
  if (status == dnnl_success)
    status = forward(description, statistics, dnnl_forward_training, &request, &hint);
  if (status == dnnl_success) status = backward(description, statistics, hint, &request);
  if (hint != NULL) dnnl_primitive_desc_destroy(hint);

  int slots[10], count = 0;
  slots[count++] = GRAFT_SLOT_SOURCE;
  slots[count++] = GRAFT_SLOT_MEAN;
  slots[count++] = GRAFT_SLOT_VARIANCE;
  if (description->has_scale) slots[count++] = GRAFT_SLOT_SCALE;
  if (description->has_shift && status == dnnl_success && wants_shift(description, &request))
    slots[count++] = GRAFT_SLOT_SHIFT;
  slots[count++] = GRAFT_SLOT_DIFF_SOURCE;
  slots[count++] = GRAFT_SLOT_DIFF_DESTINATION;
  if (description->has_scale) slots[count++] = GRAFT_SLOT_DIFF_SCALE;
  if (description->has_shift) slots[count++] = GRAFT_SLOT_DIFF_SHIFT;
  slots[count] = 0;
  return graft_request_finish(&request, status, slots, NULL, result);
}

typedef int make_function(
  const graft_normalization *description, const graft_layout *statistics,
  graft_primitive **result);

static int make_layer(
  make_function *make, const graft_normalization *description, graft_primitive **result) {
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (!is_sound(description)) return GRAFT_INVALID_ARGUMENTS;
  graft_layout *statistics = NULL;
  int status = statistics_create(description->source, &statistics);
  if (status == GRAFT_OK) status = make(description, statistics, result);
  graft_layout_free(statistics);
  return status;
}

static int make_batch(
  make_function *make, const graft_normalization *description, graft_primitive **result) {
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (!is_sound(description)) return GRAFT_INVALID_ARGUMENTS;
  return make(description, NULL, result);
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
  return make_batch(make_forward, description, result);
}

int graft_batch_normalization_backward_create(
  const graft_normalization *description, graft_primitive **result) {
  return make_batch(make_backward, description, result);
}
