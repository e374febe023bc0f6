// The geometry of convolution and pooling.
#include "internal.h"

#include <string.h>

// oneDNN 2 divides by strides before it looks at them, so they are checked here.
int graft_window_numbers(
  const graft_window *window, int rank, struct window_numbers *numbers) {
  const int64_t limit = INT64_C(1) << 31;
  memset(numbers, 0, sizeof *numbers);
  if (rank < 3 || rank > 5) return 0;
  for (int axis = 0; axis < rank - 2; axis++) {
    if (window->strides[axis] < 1 || window->strides[axis] > limit) return 0;
    if (window->dilations[axis] < 1 || window->dilations[axis] > limit) return 0;
    if (window->padding_begin[axis] < -limit || window->padding_begin[axis] > limit) return 0;
    if (window->padding_end[axis] < -limit || window->padding_end[axis] > limit) return 0;
    numbers->strides[axis] = window->strides[axis];
    numbers->dilations[axis] = window->dilations[axis] - 1;
    numbers->padding_begin[axis] = window->padding_begin[axis];
    numbers->padding_end[axis] = window->padding_end[axis];
  }
  return 1;
}

int graft_convolution_read(
  const graft_convolution *description, struct convolution_terms *terms) {
  terms->source = graft_view(description->source);
  terms->weights = graft_view(description->weights);
  terms->bias = graft_view(description->bias);
  terms->destination = graft_view(description->destination);
  const int rank = graft_layout_rank(description->source);
  return terms->source != NULL && terms->weights != NULL
    && terms->destination != NULL
    && graft_window_numbers(&description->window, rank, &terms->window);
}
