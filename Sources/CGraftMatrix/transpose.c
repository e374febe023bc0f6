#include "graft_matrix.h"
#include "avx2.h"

/// Columns of the source that are walked together: their part of a row is some cache lines.
#define STRIP 64

#if defined(__x86_64__)

/// Transposes 8 x 8 numbers.
AVX2_INLINE void transpose_tile(
  const float *source, int64_t source_step, float *result, int64_t result_step) {
  __m256 rows[8], pairs[8], fours[8];
  for (int row = 0; row < 8; row++) rows[row] = _mm256_loadu_ps(source + row * source_step);
  for (int row = 0; row < 8; row += 2) {
    pairs[row] = _mm256_unpacklo_ps(rows[row], rows[row + 1]);
    pairs[row + 1] = _mm256_unpackhi_ps(rows[row], rows[row + 1]);
  }
  for (int row = 0; row < 8; row += 4)
    for (int half = 0; half < 2; half++) {
      fours[row + 2 * half] = _mm256_shuffle_ps(pairs[row + half], pairs[row + half + 2], 0x44);
      fours[row + 2 * half + 1] = _mm256_shuffle_ps(pairs[row + half], pairs[row + half + 2], 0xee);
    }
  for (int row = 0; row < 4; row++) {
    _mm256_storeu_ps(
      result + row * result_step, _mm256_permute2f128_ps(fours[row], fours[row + 4], 0x20));
    _mm256_storeu_ps(
      result + (row + 4) * result_step, _mm256_permute2f128_ps(fours[row], fours[row + 4], 0x31));
  }
}

AVX2 static void transpose_strip(
  const float *matrix, int64_t rows, int64_t columns, int64_t first, int64_t end, float *result) {
  int64_t row = 0;
  for (; row + 8 <= rows; row += 8) {
    int64_t column = first;
    for (; column + 8 <= end; column += 8)
      transpose_tile(matrix + row * columns + column, columns, result + column * rows + row, rows);
    for (; column < end; column++)
      for (int64_t index = row; index < row + 8; index++)
        result[column * rows + index] = matrix[index * columns + column];
  }
  for (; row < rows; row++)
    for (int64_t column = first; column < end; column++)
      result[column * rows + row] = matrix[row * columns + column];
}

void graft_matrix_transpose(
  const float *matrix, int64_t rows, int64_t columns, int64_t first, int64_t end, float *result) {
  for (int64_t column = first; column < end; column += STRIP)
    transpose_strip(
      matrix, rows, columns, column, column + STRIP < end ? column + STRIP : end, result);
}

#else

void graft_matrix_transpose(
  const float *matrix, int64_t rows, int64_t columns, int64_t first, int64_t end, float *result) {
  (void)matrix, (void)rows, (void)columns, (void)first, (void)end, (void)result;
}

#endif
