// Maximum and average pooling, and their gradients.
#include "internal.h"

static dnnl_alg_kind_t algorithm(graft_pooling_kind kind) {
  switch (kind) {
  case GRAFT_POOLING_MAXIMUM: return dnnl_pooling_max;
  case GRAFT_POOLING_AVERAGE_WITH_PADDING: return dnnl_pooling_avg_include_padding;
  case GRAFT_POOLING_AVERAGE_WITHOUT_PADDING: return dnnl_pooling_avg_exclude_padding;
  }
  return dnnl_alg_kind_undef;
}

/// A description in oneDNN's terms.
struct pooling {
  dnnl_alg_kind_t algorithm;
  descriptor_view source, destination;
  dnnl_dims_t size;
  struct window_numbers window;
};

/// Whether the description is one that oneDNN may see.
static int read(const graft_pooling *description, struct pooling *pooling) {
  if (description->source == NULL || description->destination == NULL) return 0;
  const int rank = graft_layout_rank(description->source);
  pooling->algorithm = algorithm(description->kind);
  pooling->source = graft_view(description->source);
  pooling->destination = graft_view(description->destination);
  if (pooling->algorithm == dnnl_alg_kind_undef) return 0;
  if (!graft_window_numbers(&description->window, rank, &pooling->window)) return 0;
  for (int axis = 0; axis < rank - 2; axis++) {
    if (description->size[axis] < 1 || description->size[axis] > INT64_C(1) << 31) return 0;
    pooling->size[axis] = description->size[axis];
  }
  return 1;
}

static dnnl_status_t forward(
  const struct pooling *pooling, int training, struct graft_request *request) {
  const struct window_numbers *window = &pooling->window;
  const dnnl_prop_kind_t propagation = training ? dnnl_forward_training : dnnl_forward_inference;
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_pooling_forward_primitive_desc_create(
    &request->forward, request->engine, propagation, pooling->algorithm, pooling->source,
    pooling->destination, window->strides, pooling->size, window->dilations,
    window->padding_begin, window->padding_end, request->attributes);
#else
  dnnl_pooling_v2_desc_t operation;
  const dnnl_status_t status = dnnl_pooling_v2_forward_desc_init(
    &operation, propagation, pooling->algorithm, pooling->source, pooling->destination,
    window->strides, pooling->size, window->dilations, window->padding_begin,
    window->padding_end);
  return graft_make_forward(request, status, &operation);
#endif
}

static dnnl_status_t backward(const struct pooling *pooling, struct graft_request *request) {
  const struct window_numbers *window = &pooling->window;
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_pooling_backward_primitive_desc_create(
    &request->backward, request->engine, pooling->algorithm, pooling->source,
    pooling->destination, window->strides, pooling->size, window->dilations,
    window->padding_begin, window->padding_end, request->forward, request->attributes);
#else
  dnnl_pooling_v2_desc_t operation;
  const dnnl_status_t status = dnnl_pooling_v2_backward_desc_init(
    &operation, pooling->algorithm, pooling->source, pooling->destination, window->strides,
    pooling->size, window->dilations, window->padding_begin, window->padding_end);
  return graft_make_backward(request, status, &operation);
#endif
}

int graft_pooling_create(const graft_pooling *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_SOURCE, GRAFT_SLOT_DESTINATION, GRAFT_SLOT_WORKSPACE, 0,
  };
  struct pooling pooling;
  struct graft_request request = graft_request_begin(
    read(description, &pooling), description->post_operations, description->destination);
  if (request.status == dnnl_success)
    request.status = forward(&pooling, description->training, &request);
  return graft_request_finish(&request, slots, result);
}

int graft_pooling_backward_create(const graft_pooling *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_WORKSPACE, GRAFT_SLOT_DIFF_SOURCE, GRAFT_SLOT_DIFF_DESTINATION, 0,
  };
  struct pooling pooling;
  struct graft_request request = graft_request_begin(read(description, &pooling), NULL, NULL);
  if (request.status == dnnl_success) request.status = forward(&pooling, 1, &request);
  if (request.status == dnnl_success) request.status = backward(&pooling, &request);
  return graft_request_finish(&request, slots, result);
}
