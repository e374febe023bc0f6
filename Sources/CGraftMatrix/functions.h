// Functions of eight numbers at a time.
#pragma once
#include "avx2.h"

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

AVX2_INLINE double total(__m256d values) {
  const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(values), _mm256_extractf128_pd(values, 1));
  return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}

/// x * P(x), P(x) = (1 + erf(x / sqrt(2))) / 2; P within about 1e-7.
/// Source of the approximation of erf: Abramowitz and Stegun, 7.1.26.
AVX2_INLINE __m256 gelu(__m256 x) {
  const __m256 one = _mm256_set1_ps(1), half = _mm256_set1_ps(0.5f);
  const __m256 sign = _mm256_set1_ps(-0.0f);
  const __m256 a = _mm256_mul_ps(_mm256_andnot_ps(sign, x), _mm256_set1_ps(0.707106781f));
  const __m256 t = _mm256_div_ps(one, _mm256_fmadd_ps(a, _mm256_set1_ps(0.3275911f), one));
  __m256 sum = _mm256_set1_ps(1.061405429f);
  sum = _mm256_fmadd_ps(sum, t, _mm256_set1_ps(-1.453152027f));
  sum = _mm256_fmadd_ps(sum, t, _mm256_set1_ps(1.421413741f));
  sum = _mm256_fmadd_ps(sum, t, _mm256_set1_ps(-0.284496736f));
  sum = _mm256_fmadd_ps(sum, t, _mm256_set1_ps(0.254829592f));
  const __m256 power = exponential(_mm256_xor_ps(sign, _mm256_mul_ps(a, a)));
  // Half of erfc(a) is P(-|x|).
  const __m256 tail = _mm256_mul_ps(_mm256_mul_ps(half, _mm256_mul_ps(sum, t)), power);
  return _mm256_mul_ps(x, _mm256_blendv_ps(_mm256_sub_ps(one, tail), tail, x));
}

#endif
