#include "graft_matrix.h"
#include "avx2.h"

#include <math.h>

#if defined(__x86_64__)

/// e to the power of numbers not above 0, within about 1 unit in the last place; 0 below -87.3, where
/// the result would be subnormal.
AVX2_INLINE __m256 exponential(__m256 x) {
  const __m256 smallest = _mm256_set1_ps(-87.3f);
  const __m256 is_normal = _mm256_cmp_ps(x, smallest, _CMP_NLT_UQ);
  x = _mm256_max_ps(smallest, x);
  // x = n ln 2 + r with |r| at most ln 2 / 2; ln 2 in two parts, the first with few bits.
  const __m256 n = _mm256_round_ps(
    _mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x);
  r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
  // The Taylor series to the seventh power: its rest is below 6e-9.
  __m256 sum = _mm256_set1_ps(1.0f / 5040);
  sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(1.0f / 720));
  sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(1.0f / 120));
  sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(1.0f / 24));
  sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(1.0f / 6));
  sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(0.5f));
  sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(1));
  sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(1));
  const __m256i exponent = _mm256_slli_epi32(
    _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
  return _mm256_and_ps(_mm256_mul_ps(sum, _mm256_castsi256_ps(exponent)), is_normal);
}

AVX2_INLINE __m256i mask_of(int64_t left) {
  const __m256i order = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(left < 8 ? (int)left : 8), order);
}

AVX2_INLINE float largest(__m256 values) {
  __m128 half = _mm_max_ps(_mm256_castps256_ps128(values), _mm256_extractf128_ps(values, 1));
  half = _mm_max_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_max_ss(half, _mm_shuffle_ps(half, half, 1)));
}

AVX2_INLINE double total(__m256d values) {
  const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(values), _mm256_extractf128_pd(values, 1));
  return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
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
