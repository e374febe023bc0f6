#include "graft_matrix.h"
#include "avx2.h"
#include "functions.h"

#include <math.h>
#include <stddef.h>

int64_t graft_matrix_packed_count(int64_t inner, int64_t columns) {
  const int64_t panels = (columns + GRAFT_MATRIX_PANEL - 1) / GRAFT_MATRIX_PANEL;
  return panels * GRAFT_MATRIX_PANEL * inner;
}

void graft_matrix_pack(
  const float *matrix, const graft_matrix_source *source, int64_t first, int64_t end,
  float *packed) {
  const int64_t inner = source->inner, step = source->column_step;
  // Columns side by side are copied row by row; columns of their own in tiles that stay in the cache.
  const int64_t tile = step == 1 ? inner : 64;
  for (int64_t panel = first; panel < end; panel++) {
    const int64_t start = panel * GRAFT_MATRIX_PANEL;
    const int64_t left = source->columns - start;
    const int64_t width = left < GRAFT_MATRIX_PANEL ? left : GRAFT_MATRIX_PANEL;
    const float *columns = matrix + start * step;
    float *target = packed + start * (inner + source->spare_rows);
    for (int64_t begin = 0; begin < inner; begin += tile) {
      const int64_t stop = begin + tile < inner ? begin + tile : inner;
      for (int64_t row = begin; row < stop; row++) {
        float *line = target + row * GRAFT_MATRIX_PANEL;
        const float *numbers = columns + row % source->period * source->row_step
          + row / source->period * source->period_step;
        if (width == GRAFT_MATRIX_PANEL && step == 1) {
          for (int64_t column = 0; column < GRAFT_MATRIX_PANEL; column++)
            line[column] = numbers[column];
        } else {
          for (int64_t column = 0; column < GRAFT_MATRIX_PANEL; column++)
            line[column] = column < width ? numbers[column * step] : 0;
        }
      }
    }
  }
}

#if defined(__x86_64__)

// The inner dimension is walked in passes, whose part of a panel stays in the second-level cache.
#define LONGEST_PASS 768
// Rows that meet one panel after the other: many, so that a panel is read seldom; but fewer where the
// rows overlap, whose block would push itself out of the second-level cache.
#define ROWS_AT_ONCE 504
#define OVERLAPPING_ROWS_AT_ONCE 96
#define LARGEST_TILE 6
// Pairs of rows whose left sides are gathered at once.
#define PAIRS_AT_ONCE 36

/// One pass over the inner dimension, from `left_begin` on in a row and from `begin` on in a panel.
struct pass {
  const graft_matrix_product *product;
  int64_t left_begin, begin, count;
  int is_first, is_last;
};

AVX2_INLINE __m256 read(const float *numbers, int is_partial, __m256i mask) {
  return is_partial ? _mm256_maskload_ps(numbers, mask) : _mm256_loadu_ps(numbers);
}

/// What happens to a finished sum. `offset` is that of its column.
AVX2_INLINE __m256 finish(
  const graft_matrix_product *product, __m256 sum, int64_t row, int64_t column, int is_partial,
  __m256i mask) {
  sum = _mm256_mul_ps(sum, _mm256_set1_ps(product->factor));
  if (product->bias != NULL)
    sum = _mm256_add_ps(sum, read(product->bias + column, is_partial, mask));
  if (product->addend != NULL && product->factor != 1) {
    const float *addend = product->addend + row * product->addend_step + column;
    sum = _mm256_add_ps(sum, read(addend, is_partial, mask));
  }
  // In this order a sum that is no number stays so.
  sum = _mm256_max_ps(_mm256_set1_ps(product->lowest), sum);
  return _mm256_min_ps(_mm256_set1_ps(product->highest), sum);
}

/// Some rows of one panel, in one pass.
AVX2_INLINE void multiply_tile(
  const struct pass *pass, int64_t row, const int rows, int64_t panel, const int is_partial) {
  const graft_matrix_product *product = pass->product;
  const int64_t column = panel * GRAFT_MATRIX_PANEL;
  const int64_t row_step = product->left_row_step, step = product->left_column_step;
  const float *left = product->left + row * row_step + pass->left_begin * step;
  const float *right = product->packed + column * product->inner
    + pass->begin * GRAFT_MATRIX_PANEL;
  float *result = product->result + row * product->result_step + column;
  const __m256i order = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const int width = (int)(product->columns - column);
  const __m256i low_mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(width), order);
  const __m256i high_mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(width - 8), order);
  // The first pass adds to nothing, or to the addend; every other one to what the one before left.
  const float *start = result;
  int64_t start_step = product->result_step;
  if (pass->is_first) {
    start = product->factor == 1 && product->addend != NULL
      ? product->addend + row * product->addend_step + column : NULL;
    start_step = product->addend_step;
  }
  __m256 sums[LARGEST_TILE][2];
  for (int index = 0; index < rows; index++) {
    sums[index][0] = sums[index][1] = _mm256_setzero_ps();
    if (start == NULL) continue;
    sums[index][0] = read(start + index * start_step, is_partial, low_mask);
    sums[index][1] = read(start + index * start_step + 8, is_partial, high_mask);
  }
  for (int64_t index = 0; index < pass->count; index++) {
    const __m256 low = _mm256_loadu_ps(right), high = _mm256_loadu_ps(right + 8);
    for (int line = 0; line < rows; line++) {
      const __m256 number = _mm256_broadcast_ss(left + line * row_step);
      sums[line][0] = _mm256_fmadd_ps(number, low, sums[line][0]);
      sums[line][1] = _mm256_fmadd_ps(number, high, sums[line][1]);
    }
    left += step;
    right += GRAFT_MATRIX_PANEL;
  }
  for (int index = 0; index < rows; index++) {
    float *line = result + index * product->result_step;
    __m256 low = sums[index][0], high = sums[index][1];
    if (pass->is_last) {
      low = finish(product, low, row + index, column, is_partial, low_mask);
      high = finish(product, high, row + index, column + 8, is_partial, high_mask);
    }
    if (is_partial) {
      _mm256_maskstore_ps(line, low_mask, low);
      _mm256_maskstore_ps(line + 8, high_mask, high);
    } else {
      _mm256_storeu_ps(line, low);
      _mm256_storeu_ps(line + 8, high);
    }
  }
}

/// Gelu in place, for finished rows of one panel.
AVX2 static void activate_tile(
  const graft_matrix_product *product, int64_t row, int64_t rows, int64_t panel) {
  const int64_t column = panel * GRAFT_MATRIX_PANEL;
  const int64_t left = product->columns - column;
  const int64_t width = left < GRAFT_MATRIX_PANEL ? left : GRAFT_MATRIX_PANEL;
  for (int64_t index = row; index < row + rows; index++) {
    float *line = product->result + index * product->result_step + column;
    for (int64_t start = 0; start < width; start += 8) {
      if (width - start >= 8) {
        _mm256_storeu_ps(line + start, gelu(_mm256_loadu_ps(line + start)));
      } else {
        const __m256i mask = mask_of(width - start);
        const __m256 values = _mm256_maskload_ps(line + start, mask);
        _mm256_maskstore_ps(line + start, mask, gelu(values));
      }
    }
  }
}

#define TILE(ROWS) \
  AVX2 static void tile_##ROWS(const struct pass *pass, int64_t row, int64_t panel) { \
    if (pass->product->columns - panel * GRAFT_MATRIX_PANEL < GRAFT_MATRIX_PANEL) \
      multiply_tile(pass, row, ROWS, panel, 1); \
    else \
      multiply_tile(pass, row, ROWS, panel, 0); \
  }
TILE(1) TILE(2) TILE(3) TILE(4) TILE(5) TILE(6)

typedef void (*tile_function)(const struct pass *, int64_t, int64_t);
static const tile_function tiles[] = {NULL, tile_1, tile_2, tile_3, tile_4, tile_5, tile_6};

/// Rows of the next tile when so many are left: none is much smaller than the others.
static int64_t tile_rows(int64_t left) {
  if (left <= LARGEST_TILE) return left;
  return left < 2 * LARGEST_TILE ? (left + 1) / 2 : LARGEST_TILE;
}

void graft_matrix_multiply(
  const graft_matrix_product *product, int64_t first_row, int64_t end_row, int64_t first_panel,
  int64_t end_panel) {
  const int64_t passes = product->inner > 0 ? (product->inner + LONGEST_PASS - 1) / LONGEST_PASS : 1;
  const int64_t longest = (product->inner + passes - 1) / passes;
  const int64_t rows_at_once = product->left_column_step == 1
      && product->left_row_step < product->inner ? OVERLAPPING_ROWS_AT_ONCE : ROWS_AT_ONCE;
  for (int64_t block = first_row; block < end_row; block += rows_at_once) {
    const int64_t stop = block + rows_at_once < end_row ? block + rows_at_once : end_row;
    for (int64_t number = 0; number < passes; number++) {
      const int64_t begin = number * longest;
      const int64_t rest = product->inner - begin;
      const struct pass pass = {
        product, begin, begin, rest < longest ? rest : longest, number == 0, number + 1 == passes,
      };
      for (int64_t panel = first_panel; panel < end_panel; panel++)
        for (int64_t row = block; row < stop;) {
          const int64_t rows = tile_rows(stop - row);
          tiles[rows](&pass, row, panel);
          if (product->is_gelu && pass.is_last) activate_tile(product, row, rows, panel);
          row += rows;
        }
    }
  }
}

void graft_matrix_add_tap_sums(
  float *packed, int64_t channels, int64_t first_panel, int64_t end_panel) {
  const int64_t count = channels * GRAFT_MATRIX_PANEL;
  for (int64_t panel = first_panel; panel < end_panel; panel++) {
    float *taps = packed + 4 * count * panel;
    for (int64_t index = 0; index < count; index++)
      taps[3 * count + index] = taps[index] + taps[2 * count + index];
  }
}

int64_t graft_matrix_pairs_scratch(int64_t channels, int64_t columns) {
  return PAIRS_AT_ONCE * (4 * channels + columns);
}

/// The left sides of some pairs: for each its even row, then its odd one.
///
/// With x0 to x4 being the positions that a pair covers, these are x0 - x2 and x1, and x3 and x4 - x2.
AVX2 static void gather_pairs(
  const float *left, int64_t channels, int64_t pairs, int64_t odd, float *rows) {
  for (int64_t pair = 0; pair < pairs; pair++) {
    const float *x = left + 4 * pair * channels;
    float *even_row = rows + 4 * pair * channels, *odd_row = even_row + 2 * channels;
    for (int64_t index = 0; index < channels; index++) {
      even_row[index] = x[index] - x[2 * channels + index];
      even_row[channels + index] = x[channels + index];
    }
    if (pair >= odd) return;
    for (int64_t index = 0; index < channels; index++) {
      odd_row[index] = x[3 * channels + index];
      odd_row[channels + index] = x[4 * channels + index] - x[2 * channels + index];
    }
  }
}

void graft_matrix_convolve_pairs(
  const graft_matrix_product *product, int64_t channels, int64_t rows, int64_t first, int64_t end,
  float *scratch) {
  float *gathered = scratch, *shared = scratch + PAIRS_AT_ONCE * 4 * channels;
  const int64_t columns = product->columns;
  for (int64_t block = first; block < end; block += PAIRS_AT_ONCE) {
    const int64_t pairs = end - block < PAIRS_AT_ONCE ? end - block : PAIRS_AT_ONCE;
    const int64_t odd = rows / 2 - block < pairs ? rows / 2 - block : pairs;
    const float *left = product->left + 4 * block * channels;
    gather_pairs(left, channels, pairs, odd, gathered);
    graft_matrix_product both = *product, even = *product, later;
    both.left = left + 2 * channels;
    both.left_row_step = 4 * channels;
    both.result = shared;
    both.result_step = columns;
    even.left = gathered;
    even.left_row_step = 4 * channels;
    even.addend = shared;
    even.addend_step = columns;
    even.result += 2 * block * product->result_step;
    even.result_step = 2 * product->result_step;
    later = even;
    later.left += 2 * channels;
    later.result += product->result_step;
    const struct pass passes[] = {
      {&both, 0, 3 * channels, channels, 1, 0}, {&even, 0, 0, 2 * channels, 1, 1},
      {&later, 0, channels, 2 * channels, 1, 1},
    };
    const int64_t counts[] = {pairs, pairs, odd};
    const int64_t panels = (columns + GRAFT_MATRIX_PANEL - 1) / GRAFT_MATRIX_PANEL;
    for (int64_t panel = 0; panel < panels; panel++)
      for (int part = 0; part < 3; part++)
        for (int64_t row = 0; row < counts[part];) {
          const int64_t tile = tile_rows(counts[part] - row);
          tiles[tile](&passes[part], row, panel);
          if (part > 0 && product->is_gelu)
            activate_tile(passes[part].product, row, tile, panel);
          row += tile;
        }
  }
}

#else

void graft_matrix_multiply(
  const graft_matrix_product *product, int64_t first_row, int64_t end_row, int64_t first_panel,
  int64_t end_panel) {
  (void)product, (void)first_row, (void)end_row, (void)first_panel, (void)end_panel;
}

void graft_matrix_add_tap_sums(
  float *packed, int64_t channels, int64_t first_panel, int64_t end_panel) {
  (void)packed, (void)channels, (void)first_panel, (void)end_panel;
}

int64_t graft_matrix_pairs_scratch(int64_t channels, int64_t columns) {
  (void)channels, (void)columns;
  return 0;
}

void graft_matrix_convolve_pairs(
  const graft_matrix_product *product, int64_t channels, int64_t rows, int64_t first, int64_t end,
  float *scratch) {
  (void)product, (void)channels, (void)rows, (void)first, (void)end, (void)scratch;
}

#endif
