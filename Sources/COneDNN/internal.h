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

/// Whether two layouts have the same rank and sizes.
int graft_same_sizes(const graft_layout *left, const graft_layout *right);

/// Whether every tensor of the post-operations has the rank of the destination and its sizes or 1.
/// oneDNN does not look.
int graft_post_operations_fit(
  const graft_post_operations *operations, const graft_layout *destination);

/// Attributes with scratch memory from the caller and optional post-operations.
dnnl_status_t graft_attributes_create(
  const graft_post_operations *operations, dnnl_primitive_attr_t *result);

/// A primitive under construction: attributes in, primitive descriptor out.
struct graft_request {
  dnnl_engine_t engine;
  dnnl_primitive_attr_t attributes;
  dnnl_primitive_desc_t descriptor;
};

/// Prepares the engine and the attributes. Call `graft_request_finish` whatever this returns.
/// `destination` is what optional post-operations must fit.
dnnl_status_t graft_request_begin(
  struct graft_request *request, const graft_post_operations *operations,
  const graft_layout *destination);

/// Makes the primitive from `request->descriptor` if `status` is success, with those of `slots`
/// (ended by 0) that the descriptor uses and the tensors of the post-operations, and frees what the
/// request holds.
int graft_request_finish(
  struct graft_request *request, dnnl_status_t status, const int *slots,
  const graft_post_operations *operations, graft_primitive **result);

dnnl_alg_kind_t graft_binary_algorithm(graft_binary_kind kind);

/// Replaces parameters that oneDNN wants spelled out; `dnnl_alg_kind_undef` for an unknown kind.
dnnl_alg_kind_t graft_elementwise_algorithm(
  graft_elementwise_kind kind, float *alpha, float *beta);

/// Window numbers as oneDNN wants them: dilation 0 is dense. False if a number is out of range or
/// the rank of the activations is not 3 to 5.
struct window_numbers {
  dnnl_dims_t strides, dilations, padding_begin, padding_end;
};
int graft_window_numbers(
  const graft_window *window, int rank, struct window_numbers *numbers);

#pragma GCC visibility pop
#endif
