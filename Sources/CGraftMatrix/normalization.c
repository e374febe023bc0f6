#include "graft_matrix.h"
#include "avx2.h"
#include "functions.h"

#include <math.h>
#include <stddef.h>

#if defined(__x86_64__)

/// The sum of numbers less `mean`, or of the squares of that.
AVX2_INLINE double deviation(const float *numbers, int64_t count, double mean, const int squares) {
  const __m256d offset = _mm256_set1_pd(mean);
  __m256d sums[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
  int64_t index = 0;
  for (; index + 8 <= count; index += 8)
    for (int half = 0; half < 2; half++) {
      const __m256d part = _mm256_sub_pd(
        _mm256_cvtps_pd(_mm_loadu_ps(numbers + index + 4 * half)), offset);
      sums[half] = squares ? _mm256_fmadd_pd(part, part, sums[half])
                           : _mm256_add_pd(part, sums[half]);
    }
  double sum = total(_mm256_add_pd(sums[0], sums[1]));
  for (; index < count; index++) {
    const double part = numbers[index] - mean;
    sum += squares ? part * part : part;
  }
  return sum;
}

AVX2 static void normalize_row(const graft_matrix_normalization *work, int64_t row) {
  const int64_t columns = work->columns;
  const float *source = work->source + row * columns;
  float *result = work->result + row * columns;
  const double mean = deviation(source, columns, 0, 0) / (double)columns;
  const double variance = deviation(source, columns, mean, 1) / (double)columns;
  const float share = (float)(1 / sqrt(variance + work->epsilon));
  const int64_t channel = work->channels > 0 ? row % work->channels : 0;
  const __m256 offset = _mm256_set1_ps((float)mean), factor = _mm256_set1_ps(share);
  __m256 scale = _mm256_set1_ps(work->channels > 0 ? work->scale[channel] : 1);
  __m256 bias = _mm256_set1_ps(work->channels > 0 ? work->bias[channel] : 0);
  for (int64_t index = 0; index < columns; index += 8) {
    const int is_partial = columns - index < 8;
    const __m256i mask = mask_of(columns - index);
    if (work->channels == 0) {
      scale = _mm256_maskload_ps(work->scale + index, mask);
      if (work->bias != NULL) bias = _mm256_maskload_ps(work->bias + index, mask);
    }
    const __m256 number = _mm256_maskload_ps(source + index, mask);
    const __m256 standard = _mm256_mul_ps(_mm256_sub_ps(number, offset), factor);
    __m256 value = _mm256_fmadd_ps(standard, scale, bias);
    if (work->is_gelu) value = gelu(value);
    if (is_partial)
      _mm256_maskstore_ps(result + index, mask, value);
    else
      _mm256_storeu_ps(result + index, value);
  }
}

void graft_matrix_normalize(
  const graft_matrix_normalization *work, int64_t first, int64_t end) {
  for (int64_t row = first; row < end; row++) normalize_row(work, row);
}

#else

void graft_matrix_normalize(
  const graft_matrix_normalization *work, int64_t first, int64_t end) {
  (void)work, (void)first, (void)end;
}

#endif
