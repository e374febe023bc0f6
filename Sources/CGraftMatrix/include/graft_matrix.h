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

/// Packs the panels `first` to `end` of a matrix [inner, columns].
///
/// A panel holds 16 columns row by row; the last one is filled up with zeros. Steps count numbers.
void graft_matrix_pack(
  const float *matrix, int64_t inner, int64_t columns, int64_t row_step, int64_t column_step,
  int64_t first, int64_t end, float *packed);

/// result = clamp(factor * left * right + bias + addend).
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
} graft_matrix_product;

/// Fills rows `first_row` to `end_row` of the panels `first_panel` to `end_panel` of the result.
void graft_matrix_multiply(
  const graft_matrix_product *product, int64_t first_row, int64_t end_row, int64_t first_panel,
  int64_t end_panel);

/// Replaces each row by exp(row - max) / sum.
void graft_matrix_softmax(float *rows, int64_t count, int64_t columns, int64_t step);

#endif
