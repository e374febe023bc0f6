// LSTM and GRU over a whole sequence, and their gradients.
#include "internal.h"

static dnnl_rnn_direction_t direction(const graft_recurrent *description) {
  switch (description->direction) {
  case GRAFT_DIRECTION_FORWARD: return dnnl_unidirectional_left2right;
  case GRAFT_DIRECTION_REVERSE: return dnnl_unidirectional_right2left;
  case GRAFT_DIRECTION_BOTH: return dnnl_bidirectional_concat;
  }
  return dnnl_unidirectional_left2right;
}

static int is_sound(const graft_recurrent *description) {
  return description->source != NULL && description->weights != NULL
    && description->weights_hidden != NULL && description->bias != NULL
    && description->destination != NULL
    && (unsigned)description->kind <= GRAFT_RECURRENT_GRU_RESET_AFTER
    && (unsigned)description->direction <= GRAFT_DIRECTION_BOTH;
}

/// The descriptors of all tensors, which are those of their gradients too.
struct views {
  descriptor_view source, source_hidden, source_cell;
  descriptor_view weights, weights_hidden, bias;
  descriptor_view destination, destination_hidden, destination_cell;
};

static struct views views_of(const graft_recurrent *description) {
  return (struct views){
    .source = graft_view(description->source),
    .source_hidden = graft_view(description->source_hidden),
    .source_cell = graft_view(description->source_cell),
    .weights = graft_view(description->weights),
    .weights_hidden = graft_view(description->weights_hidden),
    .bias = graft_view(description->bias),
    .destination = graft_view(description->destination),
    .destination_hidden = graft_view(description->destination_hidden),
    .destination_cell = graft_view(description->destination_cell),
  };
}

#if DNNL_VERSION_MAJOR >= 3

static dnnl_status_t forward(
  const graft_recurrent *description, dnnl_prop_kind_t propagation,
  struct graft_request *request) {
  const struct views v = views_of(description);
  if (description->kind == GRAFT_RECURRENT_LSTM)
    return dnnl_lstm_forward_primitive_desc_create(
      &request->forward, request->engine, propagation, direction(description), v.source,
      v.source_hidden, v.source_cell, v.weights, v.weights_hidden, NULL, NULL, v.bias,
      v.destination, v.destination_hidden, v.destination_cell, 0, request->attributes);
  return (
    description->kind == GRAFT_RECURRENT_GRU ? dnnl_gru_forward_primitive_desc_create
                                             : dnnl_lbr_gru_forward_primitive_desc_create)(
    &request->forward, request->engine, propagation, direction(description), v.source,
    v.source_hidden, v.weights, v.weights_hidden, v.bias, v.destination, v.destination_hidden, 0,
    request->attributes);
}

static dnnl_status_t backward(const graft_recurrent *description, struct graft_request *request) {
  const struct views v = views_of(description);
  if (description->kind == GRAFT_RECURRENT_LSTM)
    return dnnl_lstm_backward_primitive_desc_create(
      &request->backward, request->engine, dnnl_backward, direction(description), v.source,
      v.source_hidden, v.source_cell, v.weights, v.weights_hidden, NULL, NULL, v.bias,
      v.destination, v.destination_hidden, v.destination_cell, v.source, v.source_hidden,
      v.source_cell, v.weights, v.weights_hidden, NULL, NULL, v.bias, v.destination,
      v.destination_hidden, v.destination_cell, 0, request->forward, request->attributes);
  return (
    description->kind == GRAFT_RECURRENT_GRU ? dnnl_gru_backward_primitive_desc_create
                                             : dnnl_lbr_gru_backward_primitive_desc_create)(
    &request->backward, request->engine, dnnl_backward, direction(description), v.source,
    v.source_hidden, v.weights, v.weights_hidden, v.bias, v.destination, v.destination_hidden,
    v.source, v.source_hidden, v.weights, v.weights_hidden, v.bias, v.destination,
    v.destination_hidden, 0, request->forward, request->attributes);
}

#else

static dnnl_status_t forward(
  const graft_recurrent *description, dnnl_prop_kind_t propagation,
  struct graft_request *request) {
  const struct views v = views_of(description);
  dnnl_rnn_desc_t operation;
  dnnl_status_t status;
  if (description->kind == GRAFT_RECURRENT_LSTM)
    status = dnnl_lstm_forward_desc_init(
      &operation, propagation, direction(description), v.source, v.source_hidden, v.source_cell,
      v.weights, v.weights_hidden, v.bias, v.destination, v.destination_hidden,
      v.destination_cell, 0);
  else
    status = (
      description->kind == GRAFT_RECURRENT_GRU ? dnnl_gru_forward_desc_init
                                               : dnnl_lbr_gru_forward_desc_init)(
      &operation, propagation, direction(description), v.source, v.source_hidden, v.weights,
      v.weights_hidden, v.bias, v.destination, v.destination_hidden, 0);
  return graft_make_forward(request, status, &operation);
}

static dnnl_status_t backward(const graft_recurrent *description, struct graft_request *request) {
  const struct views v = views_of(description);
  dnnl_rnn_desc_t operation;
  dnnl_status_t status;
  if (description->kind == GRAFT_RECURRENT_LSTM)
    status = dnnl_lstm_backward_desc_init(
      &operation, dnnl_backward, direction(description), v.source, v.source_hidden, v.source_cell,
      v.weights, v.weights_hidden, v.bias, v.destination, v.destination_hidden,
      v.destination_cell, v.source, v.source_hidden, v.source_cell, v.weights, v.weights_hidden,
      v.bias, v.destination, v.destination_hidden, v.destination_cell, 0);
  else
    status = (
      description->kind == GRAFT_RECURRENT_GRU ? dnnl_gru_backward_desc_init
                                               : dnnl_lbr_gru_backward_desc_init)(
      &operation, dnnl_backward, direction(description), v.source, v.source_hidden, v.weights,
      v.weights_hidden, v.bias, v.destination, v.destination_hidden, v.source, v.source_hidden,
      v.weights, v.weights_hidden, v.bias, v.destination, v.destination_hidden, 0);
  return graft_make_backward(request, status, &operation);
}

#endif

int graft_recurrent_create(const graft_recurrent *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_SOURCE, GRAFT_SLOT_SOURCE_HIDDEN, GRAFT_SLOT_SOURCE_CELL, GRAFT_SLOT_WEIGHTS,
    GRAFT_SLOT_WEIGHTS_HIDDEN, GRAFT_SLOT_BIAS, GRAFT_SLOT_DESTINATION,
    GRAFT_SLOT_DESTINATION_HIDDEN, GRAFT_SLOT_DESTINATION_CELL, GRAFT_SLOT_WORKSPACE, 0,
  };
  const dnnl_prop_kind_t propagation =
    description->training ? dnnl_forward_training : dnnl_forward_inference;
  struct graft_request request = graft_request_begin(is_sound(description), NULL, NULL);
  if (request.status == dnnl_success)
    request.status = forward(description, propagation, &request);
  return graft_request_finish(&request, slots, result);
}

int graft_recurrent_backward_create(
  const graft_recurrent *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_SOURCE, GRAFT_SLOT_SOURCE_HIDDEN, GRAFT_SLOT_SOURCE_CELL, GRAFT_SLOT_WEIGHTS,
    GRAFT_SLOT_WEIGHTS_HIDDEN, GRAFT_SLOT_BIAS, GRAFT_SLOT_DESTINATION,
    GRAFT_SLOT_DESTINATION_HIDDEN, GRAFT_SLOT_DESTINATION_CELL, GRAFT_SLOT_WORKSPACE,
    GRAFT_SLOT_DIFF_SOURCE, GRAFT_SLOT_DIFF_SOURCE_HIDDEN, GRAFT_SLOT_DIFF_SOURCE_CELL,
    GRAFT_SLOT_DIFF_WEIGHTS, GRAFT_SLOT_DIFF_WEIGHTS_HIDDEN, GRAFT_SLOT_DIFF_BIAS,
    GRAFT_SLOT_DIFF_DESTINATION, GRAFT_SLOT_DIFF_DESTINATION_HIDDEN,
    GRAFT_SLOT_DIFF_DESTINATION_CELL, 0,
  };
  struct graft_request request = graft_request_begin(is_sound(description), NULL, NULL);
  if (request.status == dnnl_success)
    request.status = forward(description, dnnl_forward_training, &request);
  if (request.status == dnnl_success) request.status = backward(description, &request);
  return graft_request_finish(&request, slots, result);
}
