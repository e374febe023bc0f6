// Convolution of rank 1 to 3, with groups, and its gradients for the source and for the weights.
#include "internal.h"

#include <string.h>

// MARK: - Descriptors

static dnnl_status_t forward(
  const struct convolution_terms *terms, dnnl_prop_kind_t propagation,
  struct graft_request *request) {
  const struct window_numbers *window = &terms->window;
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_convolution_forward_primitive_desc_create(
    &request->forward, request->engine, propagation, dnnl_convolution_direct, terms->source,
    terms->weights, terms->bias, terms->destination, window->strides, window->dilations,
    window->padding_begin, window->padding_end, request->attributes);
#else
  dnnl_convolution_desc_t operation;
  const dnnl_status_t status = dnnl_dilated_convolution_forward_desc_init(
    &operation, propagation, dnnl_convolution_direct, terms->source, terms->weights, terms->bias,
    terms->destination, window->strides, window->dilations, window->padding_begin,
    window->padding_end);
  return graft_make_forward(request, status, &operation);
#endif
}

static dnnl_status_t backward_data(
  const struct convolution_terms *terms, struct graft_request *request) {
  const struct window_numbers *window = &terms->window;
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_convolution_backward_data_primitive_desc_create(
    &request->backward, request->engine, dnnl_convolution_direct, terms->source, terms->weights,
    terms->destination, window->strides, window->dilations, window->padding_begin,
    window->padding_end, request->forward, request->attributes);
#else
  dnnl_convolution_desc_t operation;
  const dnnl_status_t status = dnnl_dilated_convolution_backward_data_desc_init(
    &operation, dnnl_convolution_direct, terms->source, terms->weights, terms->destination,
    window->strides, window->dilations, window->padding_begin, window->padding_end);
  return graft_make_backward(request, status, &operation);
#endif
}

static dnnl_status_t backward_weights(
  const struct convolution_terms *terms, struct graft_request *request) {
  const struct window_numbers *window = &terms->window;
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_convolution_backward_weights_primitive_desc_create(
    &request->backward, request->engine, dnnl_convolution_direct, terms->source, terms->weights,
    NULL, terms->destination, window->strides, window->dilations, window->padding_begin,
    window->padding_end, request->forward, request->attributes);
#else
  dnnl_convolution_desc_t operation;
  const dnnl_status_t status = dnnl_dilated_convolution_backward_weights_desc_init(
    &operation, dnnl_convolution_direct, terms->source, terms->weights, NULL, terms->destination,
    window->strides, window->dilations, window->padding_begin, window->padding_end);
  return graft_make_backward(request, status, &operation);
#endif
}

// MARK: - What oneDNN 2 computes wrongly

/// Whether a tensor of a post-operation differs from pixel to pixel.
static int reads_pixels(const graft_post_operations *operations) {
  for (int index = 0; index < operations->count; index++)
    for (int axis = 2; axis < operations->operands[index].rank; axis++)
      if (operations->operands[index].dimensions[axis] > 1) return 1;
  return 0;
}

/// The matrix product kernel of oneDNN 2, with channels last, reads a tensor of a post-operation at
/// the wrong pixels.
static int is_wrong(const graft_primitive *primitive, const graft_post_operations *operations) {
  if (DNNL_VERSION_MAJOR >= 3 || operations == NULL || !reads_pixels(operations)) return 0;
  if (strstr(graft_primitive_implementation(primitive), "gemm") == NULL) return 0;
  graft_layout *source = NULL;
  if (graft_primitive_layout(primitive, GRAFT_SLOT_SOURCE, &source) != GRAFT_OK) return 1;
  const int is_channels_first = graft_layout_is_plain_row_major(source);
  graft_layout_free(source);
  return !is_channels_first;
}

// MARK: - Primitives

int graft_convolution_create(const graft_convolution *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_SOURCE, GRAFT_SLOT_WEIGHTS, GRAFT_SLOT_BIAS, GRAFT_SLOT_DESTINATION, 0,
  };
  struct convolution_terms terms;
  struct graft_request request = graft_request_begin(
    graft_convolution_read(description, &terms), description->post_operations,
    description->destination);
  if (request.status == dnnl_success)
    request.status = forward(&terms, dnnl_forward_inference, &request);
  const int outcome = graft_request_finish(&request, slots, result);
  if (outcome != GRAFT_OK || !is_wrong(*result, description->post_operations)) return outcome;
  graft_primitive_free(*result);
  *result = NULL;
  return GRAFT_UNSUPPORTED;
}

typedef dnnl_status_t gradient_maker(
  const struct convolution_terms *terms, struct graft_request *request);

static int gradient_create(
  gradient_maker *backward, const graft_convolution *description, const int *slots,
  graft_primitive **result) {
  struct convolution_terms terms;
  struct graft_request request =
    graft_request_begin(graft_convolution_read(description, &terms), NULL, NULL);
  if (request.status == dnnl_success)
    request.status = forward(&terms, dnnl_forward_training, &request);
  if (request.status == dnnl_success) request.status = backward(&terms, &request);
  return graft_request_finish(&request, slots, result);
}

int graft_convolution_backward_data_create(
  const graft_convolution *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_WEIGHTS, GRAFT_SLOT_DIFF_SOURCE, GRAFT_SLOT_DIFF_DESTINATION, 0,
  };
  return gradient_create(backward_data, description, slots, result);
}

int graft_convolution_backward_weights_create(
  const graft_convolution *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_SOURCE, GRAFT_SLOT_DIFF_WEIGHTS, GRAFT_SLOT_DIFF_DESTINATION, 0,
  };
  return gradient_create(backward_weights, description, slots, result);
}
