// Status codes, library facts, threads and the engine.
#define _GNU_SOURCE  // RTLD_DEFAULT
#include "internal.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

int graft_status_from(dnnl_status_t status) {
  switch (status) {
  case dnnl_success: return GRAFT_OK;
  case dnnl_out_of_memory: return GRAFT_OUT_OF_MEMORY;
  case dnnl_invalid_arguments: return GRAFT_INVALID_ARGUMENTS;
  case dnnl_unimplemented: return GRAFT_UNSUPPORTED;
  default: return GRAFT_RUNTIME_ERROR;
  }
}

const char *graft_dnn_message(int status) {
  switch (status) {
  case GRAFT_OK: return "no error";
  case GRAFT_OUT_OF_MEMORY: return "out of memory";
  case GRAFT_INVALID_ARGUMENTS: return "the arguments do not fit together";
  case GRAFT_UNSUPPORTED: return "oneDNN has no kernel for this shape, type or layout";
  case GRAFT_RUNTIME_ERROR: return "oneDNN failed while running";
  default: return "unknown status";
  }
}

static char version_text[32];
static dnnl_engine_t engine;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void prepare(void) {
  const dnnl_version_t *version = dnnl_version();
  snprintf(
    version_text, sizeof version_text, "%d.%d.%d", version->major, version->minor, version->patch);
  if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success) engine = NULL;
}

dnnl_engine_t graft_engine(void) {
  pthread_once(&once, prepare);
  return engine;
}

const char *graft_dnn_version(void) {
  pthread_once(&once, prepare);
  return version_text;
}

const char *graft_dnn_isa(void) {
  switch ((int)dnnl_get_effective_cpu_isa()) {
  case dnnl_cpu_isa_sse41: return "sse41";
  case dnnl_cpu_isa_avx: return "avx";
  case dnnl_cpu_isa_avx2: return "avx2";
  case dnnl_cpu_isa_avx2_vnni: return "avx2_vnni";
  case dnnl_cpu_isa_avx512_core: return "avx512_core";
  case dnnl_cpu_isa_avx512_core_vnni: return "avx512_core_vnni";
  case dnnl_cpu_isa_avx512_core_bf16: return "avx512_core_bf16";
  case dnnl_cpu_isa_avx512_core_amx: return "avx512_core_amx";
  default: return "another";
  }
}

// Below AVX2 a depthwise convolution crashes (2.6.3, 3.2) and comparisons are wrong (2.6.3).
int graft_isa_is_trusted(void) {
  const int isa = (int)dnnl_get_effective_cpu_isa();
  return isa != dnnl_cpu_isa_sse41 && isa != dnnl_cpu_isa_avx;
}

// OpenMP is looked up instead of linked, so that the functions are those of the runtime that oneDNN
// itself brought in (gomp, omp5 or iomp5).
int graft_dnn_set_threads(int count) {
  if (count < 1) return GRAFT_INVALID_ARGUMENTS;
  void (*set)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "omp_set_num_threads");
  if (set == NULL) return GRAFT_UNSUPPORTED;
  set(count);
  return GRAFT_OK;
}
