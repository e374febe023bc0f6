#include "graft_matrix.h"
#include "avx2.h"
#include "functions.h"

#include <math.h>

#if defined(__x86_64__)

AVX2_INLINE float largest(__m256 values) {
  __m128 half = _mm_max_ps(_mm256_castps256_ps128(values), _mm256_extractf128_ps(values, 1));
  half = _mm_max_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_max_ss(half, _mm_shuffle_ps(half, half, 1)));
}

AVX2_INLINE __m256d added(__m256d sum, __m256 powers) {
  sum = _mm256_add_pd(sum, _mm256_cvtps_pd(_mm256_castps256_ps128(powers)));
  return _mm256_add_pd(sum, _mm256_cvtps_pd(_mm256_extractf128_ps(powers, 1)));
}

AVX2 static void softmax(float *row, int64_t columns) {
  // Storing under a mask is slow, so only the rest of a row is.
  const int64_t whole = columns / 8 * 8;
  const __m256i mask = mask_of(columns - whole);
  const __m256 lowest = _mm256_set1_ps(-INFINITY);
  __m256 highest = _mm256_blendv_ps(
    lowest, _mm256_maskload_ps(row + whole, mask), _mm256_castsi256_ps(mask));
  for (int64_t column = 0; column < whole; column += 8)
    highest = _mm256_max_ps(highest, _mm256_loadu_ps(row + column));
  const __m256 offset = _mm256_set1_ps(largest(highest));
  __m256d sum = _mm256_setzero_pd();
  for (int64_t column = 0; column < whole; column += 8) {
    const __m256 power = exponential(_mm256_sub_ps(_mm256_loadu_ps(row + column), offset));
    _mm256_storeu_ps(row + column, power);
    sum = added(sum, power);
  }
  const __m256 last = _mm256_and_ps(
    exponential(_mm256_sub_ps(_mm256_maskload_ps(row + whole, mask), offset)),
    _mm256_castsi256_ps(mask));
  const __m256 share = _mm256_set1_ps((float)(1 / total(added(sum, last))));
  for (int64_t column = 0; column < whole; column += 8)
    _mm256_storeu_ps(row + column, _mm256_mul_ps(_mm256_loadu_ps(row + column), share));
  _mm256_maskstore_ps(row + whole, mask, _mm256_mul_ps(last, share));
}

void graft_matrix_softmax(float *rows, int64_t count, int64_t columns, int64_t step) {
  for (int64_t row = 0; row < count; row++) softmax(rows + row * step, columns);
}

#else

void graft_matrix_softmax(float *rows, int64_t count, int64_t columns, int64_t step) {
  (void)rows, (void)count, (void)columns, (void)step;
}

#endif
