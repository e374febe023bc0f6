// Convolution of rank 1 to 3, with groups.
#include "internal.h"

#include <string.h>

// oneDNN 2 divides by strides before it looks at them, so they are checked here.
int graft_window_numbers(
  const graft_window *window, int rank, struct window_numbers *numbers) {
  const int64_t limit = INT64_C(1) << 31;
  memset(numbers, 0, sizeof *numbers);
  if (rank < 3 || rank > 5) return 0;
  for (int axis = 0; axis < rank - 2; axis++) {
    if (window->strides[axis] < 1 || window->strides[axis] > limit) return 0;
    if (window->dilations[axis] < 1 || window->dilations[axis] > limit) return 0;
    if (window->padding_begin[axis] < -limit || window->padding_begin[axis] > limit) return 0;
    if (window->padding_end[axis] < -limit || window->padding_end[axis] > limit) return 0;
    numbers->strides[axis] = window->strides[axis];
    numbers->dilations[axis] = window->dilations[axis] - 1;
    numbers->padding_begin[axis] = window->padding_begin[axis];
    numbers->padding_end[axis] = window->padding_end[axis];
  }
  return 1;
}

/// Whether the layouts that every direction needs are there.
static int is_complete(const graft_convolution *description) {
  return description != NULL && description->source != NULL && description->weights != NULL
    && description->destination != NULL;
}

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

int graft_convolution_create(const graft_convolution *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_SOURCE, GRAFT_SLOT_WEIGHTS, GRAFT_SLOT_BIAS, GRAFT_SLOT_DESTINATION, 0,
  };
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (!is_complete(description)) return GRAFT_INVALID_ARGUMENTS;
  struct window_numbers window;
  if (!graft_window_numbers(
        &description->window, graft_layout_rank(description->source), &window))
    return GRAFT_INVALID_ARGUMENTS;
  struct graft_request request;
  dnnl_status_t status =
    graft_request_begin(&request, description->post_operations, description->destination);
  if (status == dnnl_success)
    status = dnnl_convolution_forward_primitive_desc_create(
      &request.descriptor, request.engine,
      description->training ? dnnl_forward_training : dnnl_forward_inference,
      dnnl_convolution_direct, graft_view(description->source), graft_view(description->weights),
      graft_view(description->bias), graft_view(description->destination), window.strides,
      window.dilations, window.padding_begin, window.padding_end, request.attributes);
  const int outcome = graft_request_finish(
    &request, status, slots, description->post_operations, result);
  if (outcome != GRAFT_OK || !is_wrong(*result, description->post_operations)) return outcome;
  graft_primitive_free(*result);
  *result = NULL;
  return GRAFT_UNSUPPORTED;
}
