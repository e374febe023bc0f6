// The one primitive whose creation differs so much between versions that it has a file of its own
// for that: version_recurrent.c.
#ifndef GRAFT_ONEDNN_RECURRENT_H
#define GRAFT_ONEDNN_RECURRENT_H

#include "internal.h"

/// Every tensor of a recurrent network, or the gradient of every one. Null means absent.
struct recurrent_views {
  descriptor_view source, source_hidden, source_cell;
  descriptor_view weights, weights_hidden, bias;
  descriptor_view destination, destination_hidden, destination_cell;
};

struct recurrent_operation {
  graft_recurrent_kind kind;
  dnnl_prop_kind_t propagation;
  dnnl_rnn_direction_t direction;
  /// The backward operation has gradients of the same layouts.
  struct recurrent_views views;
};

__attribute__((visibility("hidden")))
dnnl_status_t graft_make_recurrent(
  dnnl_primitive_desc_t *result, dnnl_engine_t engine,
  const struct recurrent_operation *operation, const_dnnl_primitive_desc_t hint,
  const_dnnl_primitive_attr_t attributes);

#endif
