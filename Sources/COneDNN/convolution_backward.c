// Gradients of convolution, for its source and for its weights and bias.
#include "internal.h"

static int is_sound(const graft_convolution *description, struct window_numbers *window) {
  if (description == NULL || description->source == NULL || description->weights == NULL
      || description->destination == NULL)
    return 0;
  return graft_window_numbers(
    &description->window, graft_layout_rank(description->source), window);
}

/// The forward primitive that oneDNN wants to see first.
static dnnl_status_t hint_create(
  const graft_convolution *description, const struct window_numbers *window,
  struct graft_request *request, dnnl_primitive_desc_t *result) {
  return dnnl_convolution_forward_primitive_desc_create(
    result, request->engine, dnnl_forward_training, dnnl_convolution_direct,
    graft_view(description->source), graft_view(description->weights),
    graft_view(description->bias), graft_view(description->destination), window->strides,
    window->dilations, window->padding_begin, window->padding_end, request->attributes);
}

int graft_convolution_backward_data_create(
  const graft_convolution *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_WEIGHTS, GRAFT_SLOT_DIFF_SOURCE, GRAFT_SLOT_DIFF_DESTINATION, 0,
  };
  struct window_numbers window;
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (!is_sound(description, &window)) return GRAFT_INVALID_ARGUMENTS;
  struct graft_request request;
  dnnl_primitive_desc_t hint = NULL;
  dnnl_status_t status = graft_request_begin(&request, NULL, NULL);
  if (status == dnnl_success) status = hint_create(description, &window, &request, &hint);
  if (status == dnnl_success)
    status = dnnl_convolution_backward_data_primitive_desc_create(
      &request.descriptor, request.engine, dnnl_convolution_direct,
      graft_view(description->source), graft_view(description->weights),
      graft_view(description->destination), window.strides, window.dilations,
      window.padding_begin, window.padding_end, hint, request.attributes);
  if (hint != NULL) dnnl_primitive_desc_destroy(hint);
  return graft_request_finish(&request, status, slots, NULL, result);
}

int graft_convolution_backward_weights_create(
  const graft_convolution *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_SOURCE, GRAFT_SLOT_DIFF_WEIGHTS, GRAFT_SLOT_DIFF_BIAS,
    GRAFT_SLOT_DIFF_DESTINATION, 0,
  };
  struct window_numbers window;
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (!is_sound(description, &window)) return GRAFT_INVALID_ARGUMENTS;
  struct graft_request request;
  dnnl_primitive_desc_t hint = NULL;
  dnnl_status_t status = graft_request_begin(&request, NULL, NULL);
  if (status == dnnl_success) status = hint_create(description, &window, &request, &hint);
  if (status == dnnl_success)
    status = dnnl_convolution_backward_weights_primitive_desc_create(
      &request.descriptor, request.engine, dnnl_convolution_direct,
      graft_view(description->source), graft_view(description->weights),
      graft_view(description->bias), graft_view(description->destination), window.strides,
      window.dilations, window.padding_begin, window.padding_end, hint, request.attributes);
  if (hint != NULL) dnnl_primitive_desc_destroy(hint);
  return graft_request_finish(&request, status, slots, NULL, result);
}
