#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stddef.h>

/// What one thread asked of the heap while it counted.
struct allocation_count {
  size_t calls;
  size_t bytes;
  /// The largest single block.
  size_t largest;
};

/// Whether this program's allocations can be counted: only with glibc.
int allocation_counter_works(void);

/// Begins to count the calling thread's allocations, at zero.
void allocation_counter_begin(void);

/// Ends counting.
struct allocation_count allocation_counter_end(void);

#endif
