// Prepared operations: everything oneDNN needs to run is made here once.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/// One tensor of a primitive. `pointer` is what `memory` was last given.
struct binding {
  int slot;
  int argument;
  descriptor_view descriptor;
  dnnl_memory_t memory;
  void *pointer;
};

struct graft_primitive {
  dnnl_primitive_t primitive;
  /// Owned; the descriptors of the bindings belong to it.
  dnnl_primitive_desc_t descriptor;
  dnnl_stream_t stream;
  const char *implementation;
  int64_t scratch_size;
  dnnl_memory_t scratch;
  void *scratch_pointer;
  int slot_count;
  struct binding *bindings;
  /// One per slot, and one more for the scratch memory if there is any.
  dnnl_exec_arg_t *arguments;
  int argument_count;
};

// MARK: - Slots

static int argument_of(int slot) {
  static const int arguments[] = {
    [GRAFT_SLOT_SOURCE] = DNNL_ARG_SRC,
    [GRAFT_SLOT_WEIGHTS] = DNNL_ARG_WEIGHTS,
    [GRAFT_SLOT_BIAS] = DNNL_ARG_BIAS,
    [GRAFT_SLOT_DESTINATION] = DNNL_ARG_DST,
    [GRAFT_SLOT_WORKSPACE] = DNNL_ARG_WORKSPACE,
    [GRAFT_SLOT_MEAN] = DNNL_ARG_MEAN,
    [GRAFT_SLOT_VARIANCE] = DNNL_ARG_VARIANCE,
    [GRAFT_SLOT_SCALE] = DNNL_ARG_SCALE,
    [GRAFT_SLOT_SHIFT] = DNNL_ARG_SHIFT,
    [GRAFT_SLOT_DIFF_SOURCE] = DNNL_ARG_DIFF_SRC,
    [GRAFT_SLOT_DIFF_WEIGHTS] = DNNL_ARG_DIFF_WEIGHTS,
    [GRAFT_SLOT_DIFF_BIAS] = DNNL_ARG_DIFF_BIAS,
    [GRAFT_SLOT_DIFF_DESTINATION] = DNNL_ARG_DIFF_DST,
    [GRAFT_SLOT_DIFF_SCALE] = DNNL_ARG_DIFF_SCALE,
    [GRAFT_SLOT_DIFF_SHIFT] = DNNL_ARG_DIFF_SHIFT,
    [GRAFT_SLOT_SOURCE_HIDDEN] = DNNL_ARG_SRC_ITER,
    [GRAFT_SLOT_SOURCE_CELL] = DNNL_ARG_SRC_ITER_C,
    [GRAFT_SLOT_WEIGHTS_HIDDEN] = DNNL_ARG_WEIGHTS_ITER,
    [GRAFT_SLOT_DESTINATION_HIDDEN] = DNNL_ARG_DST_ITER,
    [GRAFT_SLOT_DESTINATION_CELL] = DNNL_ARG_DST_ITER_C,
    [GRAFT_SLOT_DIFF_SOURCE_HIDDEN] = DNNL_ARG_DIFF_SRC_ITER,
    [GRAFT_SLOT_DIFF_SOURCE_CELL] = DNNL_ARG_DIFF_SRC_ITER_C,
    [GRAFT_SLOT_DIFF_WEIGHTS_HIDDEN] = DNNL_ARG_DIFF_WEIGHTS_ITER,
    [GRAFT_SLOT_DIFF_DESTINATION_HIDDEN] = DNNL_ARG_DIFF_DST_ITER,
    [GRAFT_SLOT_DIFF_DESTINATION_CELL] = DNNL_ARG_DIFF_DST_ITER_C,
  };
  if (slot >= GRAFT_SLOT_SOURCES) return DNNL_ARG_MULTIPLE_SRC + (slot - GRAFT_SLOT_SOURCES);
  if (slot >= GRAFT_SLOT_POST_OPERATION)
    return DNNL_ARG_ATTR_MULTIPLE_POST_OP(slot - GRAFT_SLOT_POST_OPERATION) | DNNL_ARG_SRC_1;
  return arguments[slot];
}

/// oneDNN does nothing if a tensor is empty, though an empty sum is zero.
static int is_empty(const struct descriptor_facts *facts) {
  for (int axis = 0; axis < facts->rank; axis++)
    if (facts->dimensions[axis] == 0) return 1;
  return 0;
}

/// Adds a slot if the operation uses it.
static dnnl_status_t bind(graft_primitive *primitive, dnnl_engine_t engine, int slot) {
  const int argument = argument_of(slot);
  const descriptor_view view =
    dnnl_primitive_desc_query_md(primitive->descriptor, dnnl_query_exec_arg_md, argument);
  struct descriptor_facts facts;
  graft_descriptor_read(view, &facts);
  if (facts.rank == 0) return dnnl_success;
  if (is_empty(&facts)) return dnnl_unimplemented;
  dnnl_memory_t memory = NULL;
  const dnnl_status_t status = dnnl_memory_create(&memory, view, engine, DNNL_MEMORY_NONE);
  if (status != dnnl_success) return status;
  const int position = primitive->slot_count;
  primitive->bindings[position] = (struct binding){slot, argument, view, memory, NULL};
  primitive->arguments[position] = (dnnl_exec_arg_t){argument, memory};
  primitive->slot_count = position + 1;
  primitive->argument_count = position + 1;
  return dnnl_success;
}

static dnnl_status_t bind_scratch(graft_primitive *primitive, dnnl_engine_t engine) {
  const descriptor_view view =
    dnnl_primitive_desc_query_md(primitive->descriptor, dnnl_query_scratchpad_md, 0);
  struct descriptor_facts facts;
  graft_descriptor_read(view, &facts);
  if (facts.rank == 0) return dnnl_success;
  primitive->scratch_size = (int64_t)dnnl_memory_desc_get_size(view);
  if (primitive->scratch_size == 0) return dnnl_success;
  const dnnl_status_t status =
    dnnl_memory_create(&primitive->scratch, view, engine, DNNL_MEMORY_NONE);
  if (status != dnnl_success) return status;
  primitive->arguments[primitive->argument_count++] =
    (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, primitive->scratch};
  return dnnl_success;
}

// MARK: - Creation

struct graft_request graft_request_begin(
  int is_sound, const graft_post_operations *operations, const graft_layout *destination) {
  struct graft_request request = {.operations = operations};
  if (!is_sound || !graft_post_operations_fit(operations, destination)) {
    request.status = dnnl_invalid_arguments;
  } else if (!graft_isa_is_trusted()) {
    request.status = dnnl_unimplemented;
  } else {
    request.engine = graft_engine();
    request.status = request.engine == NULL
      ? dnnl_runtime_error : graft_attributes_create(operations, &request.attributes);
  }
  return request;
}

#if DNNL_VERSION_MAJOR < 3

dnnl_status_t graft_make_forward(
  struct graft_request *request, dnnl_status_t status, const_dnnl_op_desc_t operation) {
  if (status != dnnl_success) return status;
  return dnnl_primitive_desc_create(
    &request->forward, operation, request->attributes, request->engine, NULL);
}

dnnl_status_t graft_make_backward(
  struct graft_request *request, dnnl_status_t status, const_dnnl_op_desc_t operation) {
  if (status != dnnl_success) return status;
  return dnnl_primitive_desc_create(
    &request->backward, operation, request->attributes, request->engine, request->forward);
}

#endif

static dnnl_status_t fill(
  graft_primitive *primitive, dnnl_engine_t engine, const int *slots,
  const graft_post_operations *operations) {
  const int post_count = operations == NULL ? 0 : operations->count;
  size_t capacity = (size_t)post_count + 1;
  for (const int *slot = slots; *slot != 0; slot++) capacity++;
  primitive->bindings = calloc(capacity, sizeof *primitive->bindings);
  primitive->arguments = calloc(capacity, sizeof *primitive->arguments);
  if (primitive->bindings == NULL || primitive->arguments == NULL) return dnnl_out_of_memory;

  dnnl_status_t status = dnnl_stream_create(&primitive->stream, engine, dnnl_stream_default_flags);
  for (const int *slot = slots; status == dnnl_success && *slot != 0; slot++)
    status = bind(primitive, engine, *slot);
  for (int index = 0; status == dnnl_success && index < post_count; index++)
    if (operations->binary_mask >> index & 1)
      status = bind(primitive, engine, GRAFT_SLOT_POST_OPERATION + index);
  if (status == dnnl_success) status = bind_scratch(primitive, engine);
  if (status == dnnl_success)
    status = dnnl_primitive_create(&primitive->primitive, primitive->descriptor);
  if (status == dnnl_success)
    status = dnnl_primitive_desc_query(
      primitive->descriptor, dnnl_query_impl_info_str, 0, (void *)&primitive->implementation);
  return status;
}

/// Takes over the descriptor.
static int wrap(
  dnnl_primitive_desc_t descriptor, const struct graft_request *request, const int *slots,
  graft_primitive **result) {
  graft_primitive *primitive = calloc(1, sizeof *primitive);
  if (primitive == NULL) {
    dnnl_primitive_desc_destroy(descriptor);
    return GRAFT_OUT_OF_MEMORY;
  }
  primitive->descriptor = descriptor;
  const dnnl_status_t status = fill(primitive, request->engine, slots, request->operations);
  if (status != dnnl_success) {
    graft_primitive_free(primitive);
    return graft_status_from(status);
  }
  *result = primitive;
  return GRAFT_OK;
}

int graft_request_finish(
  struct graft_request *request, const int *slots, graft_primitive **result) {
  *result = NULL;
  if (request->attributes != NULL) dnnl_primitive_attr_destroy(request->attributes);
  const int is_gradient = request->backward != NULL;
  const int is_made = request->status == dnnl_success;
  if (request->forward != NULL && (is_gradient || !is_made))
    dnnl_primitive_desc_destroy(request->forward);
  if (!is_made) return graft_status_from(request->status);
  return wrap(is_gradient ? request->backward : request->forward, request, slots, result);
}

void graft_primitive_free(graft_primitive *primitive) {
  if (primitive == NULL) return;
  for (int position = 0; position < primitive->slot_count; position++)
    dnnl_memory_destroy(primitive->bindings[position].memory);
  if (primitive->scratch != NULL) dnnl_memory_destroy(primitive->scratch);
  if (primitive->primitive != NULL) dnnl_primitive_destroy(primitive->primitive);
  if (primitive->descriptor != NULL) dnnl_primitive_desc_destroy(primitive->descriptor);
  if (primitive->stream != NULL) dnnl_stream_destroy(primitive->stream);
  free(primitive->bindings);
  free(primitive->arguments);
  free(primitive);
}

// MARK: - Questions

int graft_primitive_slot_count(const graft_primitive *primitive) {
  return primitive->slot_count;
}

int graft_primitive_position(const graft_primitive *primitive, int slot) {
  for (int position = 0; position < primitive->slot_count; position++)
    if (primitive->bindings[position].slot == slot) return position;
  return -1;
}

int graft_primitive_layout(const graft_primitive *primitive, int slot, graft_layout **result) {
  const int position = graft_primitive_position(primitive, slot);
  *result = NULL;
  if (position < 0) return GRAFT_INVALID_ARGUMENTS;
  return graft_layout_from(primitive->bindings[position].descriptor, result);
}

int64_t graft_primitive_scratch_size(const graft_primitive *primitive) {
  return primitive->scratch_size;
}

const char *graft_primitive_implementation(const graft_primitive *primitive) {
  return primitive->implementation;
}

static int is_recurrent(const graft_primitive *primitive) {
  dnnl_primitive_kind_t kind = dnnl_undefined_primitive;
  if (dnnl_primitive_desc_query(primitive->descriptor, dnnl_query_primitive_kind, 0, &kind)
      != dnnl_success)
    return 0;
  return kind == dnnl_rnn;
}

int graft_primitive_is_plain_loop(const graft_primitive *primitive) {
  // The recurrent "ref" is a driver around matrix products and generated code.
  return strstr(graft_primitive_implementation(primitive), "ref") != NULL
    && !is_recurrent(primitive);
}

// MARK: - Running

// The plan of a model hands over the same pointers on every run, so a pointer that did not change
// is not set again: a version may zero the padding of a buffer whenever it is told about one.
static dnnl_status_t point(dnnl_memory_t memory, void **current, void *wanted) {
  if (*current == wanted) return dnnl_success;
  const dnnl_status_t status = dnnl_memory_set_data_handle(memory, wanted);
  if (status == dnnl_success) *current = wanted;
  return status;
}

int graft_primitive_run(
  graft_primitive *primitive, void *const *pointers, int count, void *scratch) {
  if (count != primitive->slot_count) return GRAFT_INVALID_ARGUMENTS;
  if (primitive->scratch_size > 0 && scratch == NULL) return GRAFT_INVALID_ARGUMENTS;
  dnnl_status_t status = dnnl_success;
  for (int position = 0; status == dnnl_success && position < count; position++) {
    struct binding *binding = &primitive->bindings[position];
    status = point(binding->memory, &binding->pointer, pointers[position]);
  }
  if (status == dnnl_success && primitive->scratch != NULL)
    status = point(primitive->scratch, &primitive->scratch_pointer, scratch);
  if (status == dnnl_success)
    status = dnnl_primitive_execute(
      primitive->primitive, primitive->stream, primitive->argument_count, primitive->arguments);
  if (status == dnnl_success) status = dnnl_stream_wait(primitive->stream);
  return graft_status_from(status);
}
