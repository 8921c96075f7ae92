#ifndef CFLOOR_H
#define CFLOOR_H
#include <stddef.h>
#include <stdint.h>

/// How many of `count` values lie in `low ..< high`; as many at once as the processor can.
size_t floor_count(const int64_t *values, size_t count, int64_t low, int64_t high);

/// The sum of `count` values, added up one after another.
double floor_sum(const double *values, size_t count);

/// Whether `part` lies somewhere in `bytes`, found the fastest way that the C library has.
int floor_contains(const void *bytes, size_t count, const void *part, size_t part_count);

/// Gives memory that nobody uses back to the system, as far as the system can take it.
void floor_trim(void);

#endif
