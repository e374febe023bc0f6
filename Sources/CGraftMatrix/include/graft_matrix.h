// Products of float32 matrices, and the attention built on them, for processors with AVX2 and FMA.
//
// Every element of a result is summed up in an order that depends on the inner dimension alone, so it
// has the same bits however the work is divided.
#ifndef GRAFT_MATRIX_H
#define GRAFT_MATRIX_H

#include <stdint.h>

/// Columns that lie together in a packed matrix.
#define GRAFT_MATRIX_PANEL 16

/// Whether this processor can run the functions below.
int graft_matrix_is_supported(void);

/// Numbers in a packed matrix, padding included.
int64_t graft_matrix_packed_count(int64_t inner, int64_t columns);

/// Where the numbers of a matrix [inner, columns] lie; steps count numbers.
typedef struct {
  int64_t inner, columns;
  /// From one row to the next, within `period` rows.
  int64_t row_step;
  int64_t column_step;
  /// From one period of rows to the next.
  int64_t period, period_step;
  /// Rows of each packed panel that are left free behind those of the matrix.
  int64_t spare_rows;
} graft_matrix_source;

/// Packs the panels `first` to `end` of a matrix.
///
/// A panel holds 16 columns row by row; the last one is filled up with zeros.
void graft_matrix_pack(
  const float *matrix, const graft_matrix_source *source, int64_t first, int64_t end,
  float *packed);

/// Fills rows `first` to `end` of the transpose of a matrix [rows, columns] in row-major order.
void graft_matrix_transpose(
  const float *matrix, int64_t rows, int64_t columns, int64_t first, int64_t end, float *result);

/// result = activation(clamp(factor * left * right + bias + addend)).
typedef struct {
  /// [rows, inner]; steps count numbers.
  const float *left;
  int64_t left_row_step, left_column_step;
  /// A packed matrix [inner, columns].
  const float *packed;
  int64_t inner, columns;
  /// [rows, columns], rows `result_step` numbers apart.
  float *result;
  int64_t result_step;
  float factor;
  /// One number for each column, or null.
  const float *bias;
  /// [rows, columns] in rows `addend_step` numbers apart, or null. May be `result` if `factor` is 1.
  const float *addend;
  int64_t addend_step;
  float lowest, highest;
  /// Whether the activation is x * P(x), P being the distribution function of the standard normal
  /// distribution; else there is none.
  int is_gelu;
} graft_matrix_product;

/// Fills rows `first_row` to `end_row` of the panels `first_panel` to `end_panel` of the result.
void graft_matrix_multiply(
  const graft_matrix_product *product, int64_t first_row, int64_t end_row, int64_t first_panel,
  int64_t end_panel);

/// Fills the spare rows of panels packed from the taps of a convolution [3 * channels, columns] with
/// `channels` spare rows: with the sums of the first tap and the last one.
void graft_matrix_add_tap_sums(
  float *packed, int64_t channels, int64_t first_panel, int64_t end_panel);

/// Numbers of scratch memory that `graft_matrix_convolve_pairs` needs.
int64_t graft_matrix_pairs_scratch(int64_t channels, int64_t columns);

/// Rows 2 * `first` to 2 * `end` of `rows`, all columns, of a convolution over one axis with 3 taps and a
/// step of 2, with five products where three taps of two rows are six.
///
/// Of two rows, w0 x0 + w1 x1 + w2 x2 and w0 x2 + w1 x3 + w2 x4, both have (w0 + w2) x2 in common:
/// the first adds w0 (x0 - x2) + w1 x1 to it, the second one w1 x3 + w2 (x4 - x2).
///
/// - `product`: left are the positions, each with its channels side by side; packed the taps with their
///   sums. Factor is 1 and there is no addend; the steps of left do not count.
void graft_matrix_convolve_pairs(
  const graft_matrix_product *product, int64_t channels, int64_t rows, int64_t first, int64_t end,
  float *scratch);

/// result = activation((source - mean) / sqrt(variance + epsilon) * scale + bias), with the moments of
/// each row.
typedef struct {
  /// [rows, columns]; the result may lie in the same place.
  const float *source;
  float *result;
  int64_t columns;
  /// If above 0, scale and bias have one number for each channel, and the rows belong to the channels
  /// in turn; else they have one for each column.
  int64_t channels;
  /// The bias may be null where there are no channels.
  const float *scale, *bias;
  double epsilon;
  /// As in `graft_matrix_product`.
  int is_gelu;
} graft_matrix_normalization;

/// Fills rows `first` to `end` of the result. Moments are formed in double precision.
void graft_matrix_normalize(
  const graft_matrix_normalization *work, int64_t first, int64_t end);

/// Replaces each row by exp(row - max) / sum.
void graft_matrix_softmax(float *rows, int64_t count, int64_t columns, int64_t step);

#endif
