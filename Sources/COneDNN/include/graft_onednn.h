/// A small C face over oneDNN (2.6 and 3.x) for Graft.
///
/// Layouts say where the elements of a tensor lie. A primitive is one prepared operation for fixed
/// shapes and layouts; running it allocates nothing here. No type of oneDNN appears in this file.
///
/// Every function that can fail returns a `graft_status` and leaves null in `result` then. Pointers
/// are never null, but for those called optional, where null means absent, and for layouts left out
/// of a description, which is `GRAFT_INVALID_ARGUMENTS`.
///
/// Elements are float32. Sizes are in elements unless the name says bytes. Dimensions follow ONNX:
/// activations N C [D] [H] W, convolution weights O I [D] [H] W. Operations on empty tensors are
/// unsupported.
///
/// Threads: one primitive is used by one thread at a time; different primitives may run at the same
/// time. The number of OpenMP threads is a property of the calling thread, so the thread that
/// creates a primitive should also run it.
#ifndef GRAFT_ONEDNN_H
#define GRAFT_ONEDNN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// MARK: - Status and context

typedef enum graft_status {
  GRAFT_OK = 0,
  GRAFT_OUT_OF_MEMORY = 1,
  GRAFT_INVALID_ARGUMENTS = 2,
  /// oneDNN has no implementation for the request; use another kernel.
  GRAFT_UNSUPPORTED = 3,
  GRAFT_RUNTIME_ERROR = 4,
} graft_status;

/// A sentence fragment for a `graft_status`; never null.
const char *graft_dnn_message(int status);

/// Version of the library in use, such as "2.6.3"; never null.
const char *graft_dnn_version(void);

/// Instruction set oneDNN generates code for: "avx2", for instance, or "another"; never null. With
/// "sse41" and "avx" every primitive is unsupported, since some compute wrongly there.
const char *graft_dnn_isa(void);

/// Sets how many OpenMP threads primitives created and run by the calling thread use.
/// `GRAFT_UNSUPPORTED` if the library was built without OpenMP.
int graft_dnn_set_threads(int count);

// MARK: - Layouts

typedef struct graft_layout graft_layout;

/// A dense or strided layout of rank 1 to 12. `strides` in elements, one per dimension, or null for
/// row-major.
int graft_layout_create_plain(
  int rank, const int64_t *dimensions, const int64_t *strides, graft_layout **result);

/// A layout that the primitive chooses; ask `graft_primitive_layout` what it chose.
int graft_layout_create_any(int rank, const int64_t *dimensions, graft_layout **result);

/// Channels (dimension 1) in blocks of 4, 8 or 16 innermost, such as nChw8c. Rank 3 to 5.
int graft_layout_create_blocked(
  int rank, const int64_t *dimensions, int block, graft_layout **result);

/// Null is nothing to free.
void graft_layout_free(graft_layout *layout);

/// Whether two layouts place the same elements in the same places, so that no reorder is needed.
int graft_layout_equal(const graft_layout *left, const graft_layout *right);

/// Bytes a buffer of this layout needs, padding included; 0 for "any".
int64_t graft_layout_byte_size(const graft_layout *layout);

int graft_layout_rank(const graft_layout *layout);
/// The size of one dimension without padding; 0 if `axis` is out of range.
int64_t graft_layout_dimension(const graft_layout *layout, int axis);
/// Whether any dimension is padded. Padding holds zeros: every primitive that writes a padded
/// layout zeroes it, and every primitive that reads one relies on that.
int graft_layout_has_padding(const graft_layout *layout);
int graft_layout_is_plain_row_major(const graft_layout *layout);

/// Writes text such as "f32 1x64x56x56 aBcd8b" (letters are dimensions, outermost first, capital if
/// blocked) and returns its length; the text is cut to `capacity` and always ends in a zero byte.
int graft_layout_describe(const graft_layout *layout, char *text, int capacity);

// MARK: - Primitives

typedef struct graft_primitive graft_primitive;

/// What a tensor is to a primitive. The comments at each creation function say which it has.
typedef enum graft_slot {
  GRAFT_SLOT_SOURCE = 1,
  GRAFT_SLOT_WEIGHTS = 2,
  GRAFT_SLOT_BIAS = 3,
  GRAFT_SLOT_DESTINATION = 4,
  GRAFT_SLOT_WORKSPACE = 5,
  GRAFT_SLOT_MEAN = 6,
  GRAFT_SLOT_VARIANCE = 7,
  GRAFT_SLOT_SCALE = 8,
  GRAFT_SLOT_SHIFT = 9,
  GRAFT_SLOT_DIFF_SOURCE = 10,
  GRAFT_SLOT_DIFF_WEIGHTS = 11,
  GRAFT_SLOT_DIFF_BIAS = 12,
  GRAFT_SLOT_DIFF_DESTINATION = 13,
  GRAFT_SLOT_DIFF_SCALE = 14,
  GRAFT_SLOT_DIFF_SHIFT = 15,
  /// Recurrent networks: hidden and cell state before the first and after the last step, and the
  /// weights that multiply the hidden state.
  GRAFT_SLOT_SOURCE_HIDDEN = 16,
  GRAFT_SLOT_SOURCE_CELL = 17,
  GRAFT_SLOT_WEIGHTS_HIDDEN = 18,
  GRAFT_SLOT_DESTINATION_HIDDEN = 19,
  GRAFT_SLOT_DESTINATION_CELL = 20,
  GRAFT_SLOT_DIFF_SOURCE_HIDDEN = 21,
  GRAFT_SLOT_DIFF_SOURCE_CELL = 22,
  GRAFT_SLOT_DIFF_WEIGHTS_HIDDEN = 23,
  GRAFT_SLOT_DIFF_DESTINATION_HIDDEN = 24,
  GRAFT_SLOT_DIFF_DESTINATION_CELL = 25,
  /// The tensor of the n-th post-operation is GRAFT_SLOT_POST_OPERATION + n.
  GRAFT_SLOT_POST_OPERATION = 64,
  /// The n-th input of concat is GRAFT_SLOT_SOURCES + n.
  GRAFT_SLOT_SOURCES = 128,
} graft_slot;

/// How many tensors the primitive takes; position 0 ..< count is their order in `run`.
int graft_primitive_slot_count(const graft_primitive *primitive);
/// The position of a slot, or -1 if the primitive does not take it.
int graft_primitive_position(const graft_primitive *primitive, int slot);

/// A copy of the layout the primitive reads or writes at a slot, for the caller to free.
/// `GRAFT_INVALID_ARGUMENTS` if the primitive does not take the slot.
int graft_primitive_layout(const graft_primitive *primitive, int slot, graft_layout **result);

/// Bytes of scratch memory a run needs; contents need not survive between runs.
int64_t graft_primitive_scratch_size(const graft_primitive *primitive);

/// Name of the implementation oneDNN chose, such as "jit:avx2".
const char *graft_primitive_implementation(const graft_primitive *primitive);

/// Whether that is a loop over single elements, slower than a tuned kernel by far.
int graft_primitive_is_plain_loop(const graft_primitive *primitive);

/// Runs with `pointers[position]` for each slot, at its `graft_primitive_position`. They should be
/// 64-byte aligned for speed. `scratch` may be null if the scratch size is 0.
int graft_primitive_run(
  graft_primitive *primitive, void *const *pointers, int count, void *scratch);

/// Null is nothing to free.
void graft_primitive_free(graft_primitive *primitive);

// MARK: - Post-operations

typedef enum graft_elementwise_kind {
  GRAFT_ELEMENTWISE_RELU = 0,         // x > 0 ? x : alpha x
  GRAFT_ELEMENTWISE_CLIP = 1,         // min(max(x, alpha), beta)
  GRAFT_ELEMENTWISE_GELU_ERF = 2,     // 0.5 x (1 + erf(x / sqrt 2))
  GRAFT_ELEMENTWISE_GELU_TANH = 3,    // 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  GRAFT_ELEMENTWISE_HARD_SWISH = 4,   // x min(max(x / 6 + 0.5, 0), 1)
  GRAFT_ELEMENTWISE_SIGMOID = 5,      // 1 / (1 + exp(-x))
  GRAFT_ELEMENTWISE_TANH = 6,
  GRAFT_ELEMENTWISE_ELU = 7,          // x > 0 ? x : alpha (exp(x) - 1)
  GRAFT_ELEMENTWISE_LINEAR = 8,       // alpha x + beta
  GRAFT_ELEMENTWISE_ROUND = 9,        // to the nearest integer, ties to even
} graft_elementwise_kind;

typedef enum graft_binary_kind {
  GRAFT_BINARY_ADD = 0,
  GRAFT_BINARY_MULTIPLY = 1,
} graft_binary_kind;

/// Steps applied to the result before it is stored, in order.
typedef struct graft_post_operations graft_post_operations;

int graft_post_operations_create(graft_post_operations **result);
/// Null is nothing to free.
void graft_post_operations_free(graft_post_operations *operations);
/// Adds what the destination buffer held before.
int graft_post_operations_add_sum(graft_post_operations *operations);
int graft_post_operations_add_elementwise(
  graft_post_operations *operations, graft_elementwise_kind kind, float alpha, float beta);
/// Combines with a second tensor of the same rank whose dimensions are 1 or those of the
/// destination. The layout may not be "any".
int graft_post_operations_add_binary(
  graft_post_operations *operations, graft_binary_kind kind, const graft_layout *layout);

// MARK: - Forward operations

/// Copies between layouts of the same dimensions. Slots: SOURCE, DESTINATION.
int graft_reorder_create(
  const graft_layout *source, const graft_layout *destination, graft_primitive **result);

/// Window geometry of convolution and pooling: one number per spatial dimension, outermost first;
/// numbers past the spatial rank are ignored. A dilation of 1 is dense.
typedef struct graft_window {
  int64_t strides[3];
  int64_t dilations[3];
  int64_t padding_begin[3];
  int64_t padding_end[3];
} graft_window;

/// Convolution, or transposed convolution where a function says so. Groups: weights of rank
/// activations + 1, G x O/G x I/G x kernel (transposed: G x O/G x I/G x kernel too; the caller
/// swaps the strides of ONNX's G x I/G x O/G). Any layout may be "any".
typedef struct graft_convolution {
  const graft_layout *source;
  const graft_layout *weights;
  const graft_layout *bias;  // optional, rank 1
  const graft_layout *destination;
  graft_window window;
  const graft_post_operations *post_operations;  // optional
} graft_convolution;

/// Slots: SOURCE, WEIGHTS, BIAS, DESTINATION, POST_OPERATION + n.
int graft_convolution_create(const graft_convolution *description, graft_primitive **result);

/// Batched matrix product source x weights + bias. All of the same rank, at least 2; leading
/// dimensions are equal or 1; a transposed operand is a plain layout with swapped strides.
typedef struct graft_matrix_product {
  const graft_layout *source;   // ... x M x K
  const graft_layout *weights;  // ... x K x N
  const graft_layout *bias;     // optional, of the same rank, dimensions 1 or those of destination
  const graft_layout *destination;  // ... x M x N
  const graft_post_operations *post_operations;  // optional
} graft_matrix_product;

/// Slots: SOURCE, WEIGHTS, BIAS, DESTINATION, POST_OPERATION + n.
int graft_matrix_product_create(const graft_matrix_product *description, graft_primitive **result);

typedef enum graft_pooling_kind {
  GRAFT_POOLING_MAXIMUM = 0,
  GRAFT_POOLING_AVERAGE_WITH_PADDING = 1,
  GRAFT_POOLING_AVERAGE_WITHOUT_PADDING = 2,
} graft_pooling_kind;

/// Pooling; a global one has a window of the source's size. Source may not be "any".
typedef struct graft_pooling {
  graft_pooling_kind kind;
  const graft_layout *source;
  const graft_layout *destination;
  int64_t size[3];
  graft_window window;
  /// Maximum only: also writes to WORKSPACE where each maximum was, for the backward primitive.
  int training;
  const graft_post_operations *post_operations;  // optional
} graft_pooling;

/// Slots: SOURCE, DESTINATION, WORKSPACE (maximum in training), POST_OPERATION + n.
int graft_pooling_create(const graft_pooling *description, graft_primitive **result);
/// The gradients have the layouts of source and destination, which must be those of the forward
/// primitive. Slots: DIFF_DESTINATION, WORKSPACE (maximum), DIFF_SOURCE.
int graft_pooling_backward_create(const graft_pooling *description, graft_primitive **result);

/// One function of each element; in place is fine.
typedef struct graft_elementwise {
  graft_elementwise_kind kind;
  float alpha;
  float beta;
  const graft_layout *layout;  // of every tensor
} graft_elementwise;

/// Slots: SOURCE, DESTINATION.
int graft_elementwise_create(const graft_elementwise *description, graft_primitive **result);
/// From the source, not the result. Slots: SOURCE, DIFF_DESTINATION, DIFF_SOURCE.
int graft_elementwise_backward_create(
  const graft_elementwise *description, graft_primitive **result);

/// Softmax or its logarithm along one axis.
typedef struct graft_softmax {
  int is_logarithmic;
  int axis;
  const graft_layout *layout;  // of every tensor
} graft_softmax;

/// Slots: SOURCE, DESTINATION.
int graft_softmax_create(const graft_softmax *description, graft_primitive **result);
/// Slots: DESTINATION, DIFF_DESTINATION, DIFF_SOURCE.
int graft_softmax_backward_create(const graft_softmax *description, graft_primitive **result);

/// Layer normalization over the last axis, or batch normalization over all axes but 1.
typedef struct graft_normalization {
  /// Of source, destination and their gradients; not "any". Scale and shift have the normalized
  /// size.
  const graft_layout *layout;
  float epsilon;
  int has_scale;
  int has_shift;
  /// Reads MEAN and VARIANCE instead of computing them, in both directions.
  int uses_given_statistics;
  /// Writes MEAN and VARIANCE (not if given), for the backward primitive.
  int training;
  const graft_post_operations *post_operations;  // optional, batch normalization only
} graft_normalization;

/// Slots: SOURCE, MEAN and VARIANCE (given, or in training), SCALE, SHIFT, DESTINATION.
/// Statistics of layer normalization have the dimensions of the source without the last, row-major;
/// the variance is the biased one.
int graft_layer_normalization_create(
  const graft_normalization *description, graft_primitive **result);
int graft_batch_normalization_create(
  const graft_normalization *description, graft_primitive **result);
/// Slots: SOURCE, MEAN, VARIANCE, SCALE, SHIFT (depends on the version: ask
/// graft_primitive_position), DIFF_DESTINATION, DIFF_SOURCE, DIFF_SCALE, DIFF_SHIFT.
int graft_layer_normalization_backward_create(
  const graft_normalization *description, graft_primitive **result);
int graft_batch_normalization_backward_create(
  const graft_normalization *description, graft_primitive **result);

/// Joins `count` tensors along an axis, in the layout that oneDNN chooses. Slots: SOURCES + n,
/// DESTINATION.
int graft_concat_create(
  const graft_layout *const *sources, int count, int axis, graft_primitive **result);

typedef enum graft_resampling_kind {
  GRAFT_RESAMPLING_NEAREST = 0,
  GRAFT_RESAMPLING_LINEAR = 1,
} graft_resampling_kind;

/// Resizes the spatial axes; pixel centres at half (ONNX half_pixel), edges clamped. Nearest rounds
/// (i + 0.5) * source / destination - 0.5 to the nearest.
typedef struct graft_resampling {
  graft_resampling_kind kind;
  const graft_layout *source;
  const graft_layout *destination;
} graft_resampling;

/// Slots: SOURCE, DESTINATION.
int graft_resampling_create(const graft_resampling *description, graft_primitive **result);
/// Slots: DIFF_DESTINATION, DIFF_SOURCE.
int graft_resampling_backward_create(
  const graft_resampling *description, graft_primitive **result);

// MARK: - Gradients of convolution, transposed convolution

/// The layouts of the description are those of the gradients too. Slots: WEIGHTS, DIFF_DESTINATION,
/// DIFF_SOURCE.
int graft_convolution_backward_data_create(
  const graft_convolution *description, graft_primitive **result);
/// Without the bias. Slots: SOURCE, DIFF_DESTINATION, DIFF_WEIGHTS.
int graft_convolution_backward_weights_create(
  const graft_convolution *description, graft_primitive **result);

/// Transposed convolution: destination = (source - 1) stride + (kernel - 1) dilation + 1 - padding.
/// ONNX's output_padding is a smaller `padding_end`. Slots as for convolution.
int graft_transposed_convolution_create(
  const graft_convolution *description, graft_primitive **result);

// MARK: - Recurrent networks

typedef enum graft_recurrent_kind {
  /// Gates in the order input, forget, candidate, output (ONNX: input, output, forget, candidate).
  GRAFT_RECURRENT_LSTM = 0,
  /// Gates update, reset, candidate (as ONNX). Reset acts on the hidden state before its product.
  GRAFT_RECURRENT_GRU = 1,
  /// Reset acts after the product (ONNX linear_before_reset = 1). The bias has a fourth row: that
  /// of the candidate's product with the hidden state.
  GRAFT_RECURRENT_GRU_RESET_AFTER = 2,
} graft_recurrent_kind;

typedef enum graft_direction {
  GRAFT_DIRECTION_FORWARD = 0,
  GRAFT_DIRECTION_REVERSE = 1,
  /// Results side by side.
  GRAFT_DIRECTION_BOTH = 2,
} graft_direction;

/// One layer or several (L) over T steps; D is 2 for both directions, else 1; G is the number of
/// gates, 4 or 3. Absent states are zero. Weights may be "any" and should be. For several layers,
/// or both directions in several layers, the sizes must agree as oneDNN documents.
typedef struct graft_recurrent {
  graft_recurrent_kind kind;
  graft_direction direction;
  const graft_layout *source;              // T x N x inputs
  const graft_layout *source_hidden;       // optional, L x D x N x H
  const graft_layout *source_cell;         // LSTM only, with source_hidden: L x D x N x H
  const graft_layout *weights;             // L x D x inputs x G x H
  const graft_layout *weights_hidden;      // L x D x H x G x H
  const graft_layout *bias;                // L x D x G x H (reset after: 4 x H)
  const graft_layout *destination;         // T x N x H, both directions 2 H
  const graft_layout *destination_hidden;  // optional, L x D x N x H
  const graft_layout *destination_cell;    // LSTM only, with destination_hidden: L x D x N x H
  int training;
} graft_recurrent;

/// Slots: SOURCE, SOURCE_HIDDEN, SOURCE_CELL, WEIGHTS, WEIGHTS_HIDDEN, BIAS, DESTINATION,
/// DESTINATION_HIDDEN, DESTINATION_CELL, WORKSPACE (training).
int graft_recurrent_create(const graft_recurrent *description, graft_primitive **result);
/// Slots: those of the forward primitive in training, all read, and the gradient of each but the
/// workspace. The gradients of weights and bias are added to what their buffers hold: zero them
/// first. Weights must be "any" (plain ones are unsupported) and may be chosen to lie differently
/// than for the forward primitive.
int graft_recurrent_backward_create(
  const graft_recurrent *description, graft_primitive **result);

#ifdef __cplusplus
}
#endif

#endif
