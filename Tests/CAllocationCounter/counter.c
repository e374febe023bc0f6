// Counts a thread's allocations: the program's own malloc and its like count and then call those of
// glibc; memory that is mapped by itself counts too. Symbols of an executable go before those of the
// libraries it loads, so the Swift runtime's and oneDNN's allocations are counted as well.

#include "allocation_counter.h"

#include <stdlib.h>

static _Thread_local int is_counting;
static _Thread_local struct allocation_count count;

void allocation_counter_begin(void) {
  count = (struct allocation_count){0, 0, 0};
  is_counting = 1;
}

struct allocation_count allocation_counter_end(void) {
  is_counting = 0;
  return count;
}

#if defined(__GLIBC__)

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

int allocation_counter_works(void) { return 1; }

static void add(size_t bytes) {
  if (!is_counting) return;
  count.calls++;
  count.bytes += bytes;
  if (bytes > count.largest) count.largest = bytes;
}

void *malloc(size_t bytes) {
  add(bytes);
  return __libc_malloc(bytes);
}

void *calloc(size_t number, size_t bytes) {
  add(number * bytes);
  return __libc_calloc(number, bytes);
}

void *realloc(void *block, size_t bytes) {
  add(bytes);
  return __libc_realloc(block, bytes);
}

void *memalign(size_t alignment, size_t bytes) {
  add(bytes);
  return __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **block, size_t alignment, size_t bytes) {
  if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
  void *made = memalign(alignment, bytes);
  if (made == NULL) return ENOMEM;
  *block = made;
  return 0;
}

void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (file < 0) add(bytes);
  return (void *)syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
}

#else

int allocation_counter_works(void) { return 0; }

#endif
