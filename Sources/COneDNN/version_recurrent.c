// Primitive descriptors of recurrent networks for oneDNN 2 and 3.
#include "recurrent.h"

#if DNNL_VERSION_MAJOR >= 3

static dnnl_status_t forward(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, const struct recurrent_operation *o,
  const_dnnl_primitive_attr_t attributes) {
  const struct recurrent_views *v = &o->views;
  switch (o->kind) {
  case GRAFT_RECURRENT_LSTM:
    return dnnl_lstm_forward_primitive_desc_create(
      result, engine, o->propagation, o->direction, v->source, v->source_hidden, v->source_cell,
      v->weights, v->weights_hidden, NULL, NULL, v->bias, v->destination, v->destination_hidden,
      v->destination_cell, 0, attributes);
  case GRAFT_RECURRENT_GRU:
    return dnnl_gru_forward_primitive_desc_create(
      result, engine, o->propagation, o->direction, v->source, v->source_hidden, v->weights,
      v->weights_hidden, v->bias, v->destination, v->destination_hidden, 0, attributes);
  case GRAFT_RECURRENT_GRU_RESET_AFTER:
    return dnnl_lbr_gru_forward_primitive_desc_create(
      result, engine, o->propagation, o->direction, v->source, v->source_hidden, v->weights,
      v->weights_hidden, v->bias, v->destination, v->destination_hidden, 0, attributes);
  }
  return dnnl_invalid_arguments;
}

static dnnl_status_t backward(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine, const struct recurrent_operation *o,
  const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t attributes) {
  const struct recurrent_views *v = &o->views;
  switch (o->kind) {
  case GRAFT_RECURRENT_LSTM:
    return dnnl_lstm_backward_primitive_desc_create(
      result, engine, dnnl_backward, o->direction, v->source, v->source_hidden, v->source_cell,
      v->weights, v->weights_hidden, NULL, NULL, v->bias, v->destination, v->destination_hidden,
      v->destination_cell, v->source, v->source_hidden, v->source_cell, v->weights,
      v->weights_hidden, NULL, NULL, v->bias, v->destination, v->destination_hidden,
      v->destination_cell, 0, hint, attributes);
  case GRAFT_RECURRENT_GRU:
    return dnnl_gru_backward_primitive_desc_create(
      result, engine, dnnl_backward, o->direction, v->source, v->source_hidden, v->weights,
      v->weights_hidden, v->bias, v->destination, v->destination_hidden, v->source,
      v->source_hidden, v->weights, v->weights_hidden, v->bias, v->destination,
      v->destination_hidden, 0, hint, attributes);
  case GRAFT_RECURRENT_GRU_RESET_AFTER:
    return dnnl_lbr_gru_backward_primitive_desc_create(
      result, engine, dnnl_backward, o->direction, v->source, v->source_hidden, v->weights,
      v->weights_hidden, v->bias, v->destination, v->destination_hidden, v->source,
      v->source_hidden, v->weights, v->weights_hidden, v->bias, v->destination,
      v->destination_hidden, 0, hint, attributes);
  }
  return dnnl_invalid_arguments;
}

dnnl_status_t graft_make_recurrent(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine,
  const struct recurrent_operation *operation, const_dnnl_primitive_desc_t hint,
  const_dnnl_primitive_attr_t attributes) {
  return operation->propagation == dnnl_backward
    ? backward(result, engine, operation, hint, attributes)
    : forward(result, engine, operation, attributes);
}

#else

static dnnl_status_t forward(dnnl_rnn_desc_t *result, const struct recurrent_operation *o) {
  const struct recurrent_views *v = &o->views;
  switch (o->kind) {
  case GRAFT_RECURRENT_LSTM:
    return dnnl_lstm_forward_desc_init(
      result, o->propagation, o->direction, v->source, v->source_hidden, v->source_cell,
      v->weights, v->weights_hidden, v->bias, v->destination, v->destination_hidden,
      v->destination_cell, 0);
  case GRAFT_RECURRENT_GRU:
    return dnnl_gru_forward_desc_init(
      result, o->propagation, o->direction, v->source, v->source_hidden, v->weights,
      v->weights_hidden, v->bias, v->destination, v->destination_hidden, 0);
  case GRAFT_RECURRENT_GRU_RESET_AFTER:
    return dnnl_lbr_gru_forward_desc_init(
      result, o->propagation, o->direction, v->source, v->source_hidden, v->weights,
      v->weights_hidden, v->bias, v->destination, v->destination_hidden, 0);
  }
  return dnnl_invalid_arguments;
}

static dnnl_status_t backward(dnnl_rnn_desc_t *result, const struct recurrent_operation *o) {
  const struct recurrent_views *v = &o->views;
  switch (o->kind) {
  case GRAFT_RECURRENT_LSTM:
    return dnnl_lstm_backward_desc_init(
      result, dnnl_backward, o->direction, v->source, v->source_hidden, v->source_cell,
      v->weights, v->weights_hidden, v->bias, v->destination, v->destination_hidden,
      v->destination_cell, v->source, v->source_hidden, v->source_cell, v->weights,
      v->weights_hidden, v->bias, v->destination, v->destination_hidden, v->destination_cell, 0);
  case GRAFT_RECURRENT_GRU:
    return dnnl_gru_backward_desc_init(
      result, dnnl_backward, o->direction, v->source, v->source_hidden, v->weights,
      v->weights_hidden, v->bias, v->destination, v->destination_hidden, v->source,
      v->source_hidden, v->weights, v->weights_hidden, v->bias, v->destination,
      v->destination_hidden, 0);
  case GRAFT_RECURRENT_GRU_RESET_AFTER:
    return dnnl_lbr_gru_backward_desc_init(
      result, dnnl_backward, o->direction, v->source, v->source_hidden, v->weights,
      v->weights_hidden, v->bias, v->destination, v->destination_hidden, v->source,
      v->source_hidden, v->weights, v->weights_hidden, v->bias, v->destination,
      v->destination_hidden, 0);
  }
  return dnnl_invalid_arguments;
}

dnnl_status_t graft_make_recurrent(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine,
  const struct recurrent_operation *operation, const_dnnl_primitive_desc_t hint,
  const_dnnl_primitive_attr_t attributes) {
  dnnl_rnn_desc_t descriptor;
  const dnnl_status_t status = operation->propagation == dnnl_backward
    ? backward(&descriptor, operation) : forward(&descriptor, operation);
  if (status != dnnl_success) return status;
  return dnnl_primitive_desc_create(result, &descriptor, attributes, engine, hint);
}

#endif
