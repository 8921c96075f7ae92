#define _GNU_SOURCE
#include "CFloor.h"
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#if defined(__x86_64__) && defined(__linux__)
#define WIDEST __attribute__((target_clones("avx2", "default")))
#else
#define WIDEST
#endif

WIDEST size_t floor_count(const int64_t *values, size_t count, int64_t low, int64_t high) {
  size_t total = 0;
  for (size_t index = 0; index < count; index++) {
    total += values[index] >= low && values[index] < high;
  }
  return total;
}

double floor_sum(const double *values, size_t count) {
  double total = 0;
  for (size_t index = 0; index < count; index++) total += values[index];
  return total;
}

int floor_contains(const void *bytes, size_t count, const void *part, size_t part_count) {
  return memmem(bytes, count, part, part_count) != NULL;
}

void floor_trim(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}
