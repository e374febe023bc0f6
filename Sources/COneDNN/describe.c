// The text form of a layout, in the notation of oneDNN's own logs.
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// Text that is cut where the buffer ends.
struct writer {
  char *text;
  int capacity;
  int length;
};

static void write_text(struct writer *writer, const char *format, ...) {
  const int room = writer->capacity - writer->length;
  if (room <= 1) return;
  va_list arguments;
  va_start(arguments, format);
  const int wanted = vsnprintf(writer->text + writer->length, (size_t)room, format, arguments);
  va_end(arguments);
  if (wanted > 0) writer->length += wanted < room ? wanted : room - 1;
}

/// Only the places of maxima, which a pooling keeps, are not f32.
static const char *element_name(dnnl_data_type_t element) {
  switch ((int)element) {
  case dnnl_f32: return "f32";
  case dnnl_s32: return "s32";
  case dnnl_s8: return "s8";
  case dnnl_u8: return "u8";
  default: return "other";
  }
}

static int is_blocked_axis(const struct descriptor_facts *facts, int axis) {
  for (int block = 0; block < facts->inner_block_count; block++)
    if (facts->inner_axes[block] == axis) return 1;
  return 0;
}

/// How many steps of its stride an axis takes: its size without the inner blocks.
static int64_t outer_count(const struct descriptor_facts *facts, int axis) {
  int64_t count = facts->padded_dimensions[axis];
  for (int block = 0; block < facts->inner_block_count; block++)
    if (facts->inner_axes[block] == axis) count /= facts->inner_blocks[block];
  return count;
}

/// Whether `left` lies outside of `right`. An axis of one step may have any stride, so equal
/// strides are told apart by the number of steps and then by position.
static int is_outside(const struct descriptor_facts *facts, int left, int right) {
  if (facts->strides[left] != facts->strides[right])
    return facts->strides[left] > facts->strides[right];
  if (outer_count(facts, left) != outer_count(facts, right))
    return outer_count(facts, left) > outer_count(facts, right);
  return left < right;
}

static void write_order(struct writer *writer, const struct descriptor_facts *facts) {
  int order[DNNL_MAX_NDIMS];
  for (int axis = 0; axis < facts->rank; axis++) {
    int place = axis;
    while (place > 0 && is_outside(facts, axis, order[place - 1])) {
      order[place] = order[place - 1];
      place--;
    }
    order[place] = axis;
  }
  for (int place = 0; place < facts->rank; place++)
    write_text(
      writer, "%c", (is_blocked_axis(facts, order[place]) ? 'A' : 'a') + order[place]);
  for (int block = 0; block < facts->inner_block_count; block++)
    write_text(
      writer, "%d%c", (int)facts->inner_blocks[block], 'a' + (int)facts->inner_axes[block]);
}

int graft_layout_describe(const graft_layout *layout, char *text, int capacity) {
  if (capacity < 1) return 0;
  struct writer writer = {text, capacity, 0};
  text[0] = 0;
  struct descriptor_facts facts;
  graft_descriptor_read(graft_view(layout), &facts);
  if (facts.rank == 0) {
    write_text(&writer, "absent");
    return writer.length;
  }
  write_text(&writer, "%s ", element_name(facts.element));
  for (int axis = 0; axis < facts.rank; axis++)
    write_text(&writer, axis == 0 ? "%lld" : "x%lld", (long long)facts.dimensions[axis]);
  write_text(&writer, " ");
  if (facts.format == dnnl_format_kind_any) {
    write_text(&writer, "any");
  } else if (facts.format == dnnl_blocked) {
    write_order(&writer, &facts);
  } else {
    write_text(&writer, "opaque");
  }
  return writer.length;
}
