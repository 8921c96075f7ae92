// Inner loops over columns that Swift cannot express at the speed of the machine. Each has a portable
// twin; both give the same results.
#ifndef CAMBIUM_COLUMN_KERNELS_H
#define CAMBIUM_COLUMN_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Whether `count` bytes are equal.
static inline bool cambium_equal(const void *left, const void *right, size_t count) {
  return memcmp(left, right, count) == 0;
}

#endif
