// LSTM and GRU over a whole sequence, forward and backward.
#include "recurrent.h"

static dnnl_rnn_direction_t direction(graft_direction direction) {
  switch (direction) {
  case GRAFT_DIRECTION_FORWARD: return dnnl_unidirectional_left2right;
  case GRAFT_DIRECTION_REVERSE: return dnnl_unidirectional_right2left;
  case GRAFT_DIRECTION_BOTH_CONCATENATED: return dnnl_bidirectional_concat;
  case GRAFT_DIRECTION_BOTH_ADDED: return dnnl_bidirectional_sum;
  }
  return dnnl_unidirectional_left2right;
}

static int is_known(graft_direction direction) {
  return (unsigned)direction <= GRAFT_DIRECTION_BOTH_ADDED;
}

static int is_sound(const graft_recurrent *description) {
  return description != NULL && description->source != NULL && description->weights != NULL
    && description->weights_hidden != NULL && description->bias != NULL
    && description->destination != NULL && is_known(description->direction);
}

static struct recurrent_operation operation_of(
  const graft_recurrent *description, dnnl_prop_kind_t propagation) {
  const int has_cell = description->kind == GRAFT_RECURRENT_LSTM;
  return (struct recurrent_operation){
    .kind = description->kind,
    .propagation = propagation,
    .direction = direction(description->direction),
    .views = {
      .source = graft_view(description->source),
      .source_hidden = graft_view(description->source_hidden),
      .source_cell = has_cell ? graft_view(description->source_cell) : NULL,
      .weights = graft_view(description->weights),
      .weights_hidden = graft_view(description->weights_hidden),
      .bias = graft_view(description->bias),
      .destination = graft_view(description->destination),
      .destination_hidden = graft_view(description->destination_hidden),
      .destination_cell = has_cell ? graft_view(description->destination_cell) : NULL,
    },
  };
}

int graft_recurrent_create(const graft_recurrent *description, graft_primitive **result) {
  static const int slots[] = {
    GRAFT_SLOT_SOURCE, GRAFT_SLOT_SOURCE_HIDDEN, GRAFT_SLOT_SOURCE_CELL, GRAFT_SLOT_WEIGHTS,
    GRAFT_SLOT_WEIGHTS_HIDDEN, GRAFT_SLOT_BIAS, GRAFT_SLOT_DESTINATION,
    GRAFT_SLOT_DESTINATION_HIDDEN, GRAFT_SLOT_DESTINATION_CELL, GRAFT_SLOT_WORKSPACE, 0,
  };
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (!is_sound(description)) return GRAFT_INVALID_ARGUMENTS;
  const struct recurrent_operation operation = operation_of(
    description, description->training ? dnnl_forward_training : dnnl_forward_inference);
  struct graft_request request;
  dnnl_status_t status = graft_request_begin(&request, NULL, NULL);
  if (status == dnnl_success)
    status = graft_make_recurrent(
      &request.descriptor, request.engine, &operation, NULL, request.attributes);
  return graft_request_finish(&request, status, slots, NULL, result);
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
  if (result == NULL) return GRAFT_INVALID_ARGUMENTS;
  *result = NULL;
  if (!is_sound(description)) return GRAFT_INVALID_ARGUMENTS;
  const struct recurrent_operation forward = operation_of(description, dnnl_forward_training);
  const struct recurrent_operation backward = operation_of(description, dnnl_backward);
  struct graft_request request;
  dnnl_primitive_desc_t hint = NULL;
  dnnl_status_t status = graft_request_begin(&request, NULL, NULL);
  if (status == dnnl_success)
    status = graft_make_recurrent(&hint, request.engine, &forward, NULL, request.attributes);
  if (status == dnnl_success)
    status = graft_make_recurrent(
      &request.descriptor, request.engine, &backward, hint, request.attributes);
  if (hint != NULL) dnnl_primitive_desc_destroy(hint);
  return graft_request_finish(&request, status, slots, NULL, result);
}
