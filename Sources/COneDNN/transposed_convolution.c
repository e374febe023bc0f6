// Transposed convolution (oneDNN: deconvolution).
#include "internal.h"

static dnnl_status_t forward(
  const struct convolution_terms *terms, struct graft_request *request) {
  const struct window_numbers *window = &terms->window;
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_deconvolution_forward_primitive_desc_create(
    &request->forward, request->engine, dnnl_forward_inference, dnnl_deconvolution_direct,
    terms->source, terms->weights, terms->bias, terms->destination, window->strides,
    window->dilations, window->padding_begin, window->padding_end, request->attributes);
#else
  dnnl_deconvolution_desc_t operation;
  const dnnl_status_t status = dnnl_dilated_deconvolution_forward_desc_init(
    &operation, dnnl_forward_inference, dnnl_deconvolution_direct, terms->source, terms->weights,
    terms->bias, terms->destination, window->strides, window->dilations, window->padding_begin,
    window->padding_end);
  return graft_make_forward(request, status, &operation);
#endif
}

int graft_transposed_convolution_create(
  const graft_convolution *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_SOURCE, GRAFT_SLOT_WEIGHTS, GRAFT_SLOT_BIAS, GRAFT_SLOT_DESTINATION, 0,
  };
  struct convolution_terms terms;
  struct graft_request request = graft_request_begin(
    graft_convolution_read(description, &terms), description->post_operations,
    description->destination);
  if (request.status == dnnl_success) request.status = forward(&terms, &request);
  return graft_request_finish(&request, slots, result);
}
