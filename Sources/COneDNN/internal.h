// What the files of the shim share. Nothing here is visible outside of it.
#ifndef GRAFT_ONEDNN_INTERNAL_H
#define GRAFT_ONEDNN_INTERNAL_H

#include "graft_onednn.h"
#include "version.h"

#pragma GCC visibility push(hidden)

/// Post-operations are found by their position, which is part of a slot number.
enum { POST_OPERATION_LIMIT = 16 };

struct graft_layout {
  descriptor_handle descriptor;
};

struct graft_post_operations {
  int count;
  dnnl_post_ops_t list;
  /// Bit n is set if operation n reads a tensor.
  unsigned binary_mask;
  /// The sizes of those tensors.
  struct descriptor_facts operands[POST_OPERATION_LIMIT];
};

int graft_status_from(dnnl_status_t status);

/// The one CPU engine, made on first use and kept for the life of the process; null on failure.
dnnl_engine_t graft_engine(void);

/// Whether oneDNN is known to compute rightly with the instruction set it uses.
int graft_isa_is_trusted(void);

/// The descriptor of an optional layout.
descriptor_view graft_view(const graft_layout *layout);

/// A layout that owns a copy of `view`.
int graft_layout_from(descriptor_view view, graft_layout **result);

/// Whether every tensor of the post-operations has the rank of the destination and its sizes or 1.
/// oneDNN does not look.
int graft_post_operations_fit(
  const graft_post_operations *operations, const graft_layout *destination);

/// Attributes with scratch memory from the caller and optional post-operations.
dnnl_status_t graft_attributes_create(
  const graft_post_operations *operations, dnnl_primitive_attr_t *result);

/// A primitive under construction. Every creating function begins a request, makes the forward
/// descriptor and for a gradient the backward one, and finishes the request; a step that fails
/// leaves its status, and the next steps are left out.
struct graft_request {
  dnnl_status_t status;
  dnnl_engine_t engine;
  dnnl_primitive_attr_t attributes;
  const graft_post_operations *operations;
  dnnl_primitive_desc_t forward;
  /// oneDNN wants to see the forward descriptor before it makes this one.
  dnnl_primitive_desc_t backward;
};

/// Prepares the engine and the attributes. Call `graft_request_finish` whatever the status is.
/// `is_sound` tells whether oneDNN may see the description; `destination` is what optional
/// post-operations must fit.
struct graft_request graft_request_begin(
  int is_sound, const graft_post_operations *operations, const graft_layout *destination);

/// Makes the primitive if the status is success, with those of `slots` (ended by 0) that the
/// descriptor uses and the tensors of the post-operations, and frees what the request holds.
int graft_request_finish(
  struct graft_request *request, const int *slots, graft_primitive **result);

#if DNNL_VERSION_MAJOR < 3
/// oneDNN 2 makes a primitive descriptor from an operation descriptor; `status` is how filling that
/// one went.
dnnl_status_t graft_make_forward(
  struct graft_request *request, dnnl_status_t status, const_dnnl_op_desc_t operation);
dnnl_status_t graft_make_backward(
  struct graft_request *request, dnnl_status_t status, const_dnnl_op_desc_t operation);
#endif

/// Replaces parameters that oneDNN wants spelled out; `dnnl_alg_kind_undef` for an unknown kind.
dnnl_alg_kind_t graft_elementwise_algorithm(
  graft_elementwise_kind kind, float *alpha, float *beta);

/// Window numbers as oneDNN wants them: dilation 0 is dense.
struct window_numbers {
  dnnl_dims_t strides, dilations, padding_begin, padding_end;
};

/// False if a number is out of range or the rank of the activations is not 3 to 5.
int graft_window_numbers(
  const graft_window *window, int rank, struct window_numbers *numbers);

/// A convolution, or a transposed one, in oneDNN's terms.
struct convolution_terms {
  descriptor_view source, weights, bias, destination;
  struct window_numbers window;
};

/// Whether the description is one that oneDNN may see.
int graft_convolution_read(
  const graft_convolution *description, struct convolution_terms *terms);

#pragma GCC visibility pop
#endif
