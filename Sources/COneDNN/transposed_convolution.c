// Transposed convolution (oneDNN: deconvolution), forward and backward.
#include "internal.h"

static int is_sound(const graft_convolution *description, struct window_numbers *window) {
  if (description == NULL || description->source == NULL || description->weights == NULL
      || description->destination == NULL)
    return 0;
  return graft_window_numbers(
    &description->window, graft_layout_rank(description->source), window);
}

static dnnl_status_t forward(
  const graft_convolution *description, const struct window_numbers *window, int training,
  struct graft_request *request, dnnl_primitive_desc_t *result) {
  return dnnl_deconvolution_forward_primitive_desc_create(
    result, request->engine, training ? dnnl_forward_training : dnnl_forward_inference,
    dnnl_deconvolution_direct, graft_view(description->source),
    graft_view(description->weights), graft_view(description->bias),
    graft_view(description->destination), window->strides, window->dilations,
    window->padding_begin, window->padding_end, request->attributes);
}

int graft_transposed_convolution_create(
  const graft_convolution *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_SOURCE, GRAFT_SLOT_WEIGHTS, GRAFT_SLOT_BIAS, GRAFT_SLOT_DESTINATION, 0,
  };
  struct window_numbers window;
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (!is_sound(description, &window)) return GRAFT_INVALID_ARGUMENTS;
  struct graft_request request;
  dnnl_status_t status =
    graft_request_begin(&request, description->post_operations, description->destination);
  if (status == dnnl_success)
    status = forward(description, &window, description->training, &request, &request.descriptor);
  return graft_request_finish(
    &request, status, slots, description->post_operations, result);
}

int graft_transposed_convolution_backward_data_create(
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
  if (status == dnnl_success) status = forward(description, &window, 1, &request, &hint);
  if (status == dnnl_success)
    status = dnnl_deconvolution_backward_data_primitive_desc_create(
      &request.descriptor, request.engine, dnnl_deconvolution_direct,
      graft_view(description->source), graft_view(description->weights),
      graft_view(description->destination), window.strides, window.dilations,
      window.padding_begin, window.padding_end, hint, request.attributes);
  if (hint != NULL) dnnl_primitive_desc_destroy(hint);
  return graft_request_finish(&request, status, slots, NULL, result);
}

int graft_transposed_convolution_backward_weights_create(
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
  if (status == dnnl_success) status = forward(description, &window, 1, &request, &hint);
  if (status == dnnl_success)
    status = dnnl_deconvolution_backward_weights_primitive_desc_create(
      &request.descriptor, request.engine, dnnl_deconvolution_direct,
      graft_view(description->source), graft_view(description->weights),
      graft_view(description->bias), graft_view(description->destination), window.strides,
      window.dilations, window.padding_begin, window.padding_end, hint, request.attributes);
  if (hint != NULL) dnnl_primitive_desc_destroy(hint);
  return graft_request_finish(&request, status, slots, NULL, result);
}
