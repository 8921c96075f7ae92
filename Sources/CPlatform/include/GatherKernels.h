// Inner loops that pick rows out of the columns of a packed leaf. Rows ascend and are below the number of
// rows; nothing reads past the bytes it is given.
#ifndef CAMBIUM_GATHER_KERNELS_H
#define CAMBIUM_GATHER_KERNELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// How many of `count` rows have their bit set.
static inline size_t cambium_count_bits(const uint8_t *bits, const int32_t *rows, size_t count) {
  size_t total = 0;
  for (size_t i = 0; i < count; i++) total += bits[rows[i] >> 3] >> (rows[i] & 7) & 1;
  return total;
}

/// Puts the bits of `count` rows one after another to `target`, from bit `first` on; the target is zero
/// from there on.
static inline void cambium_gather_bits(const uint8_t *bits, const int32_t *rows, size_t count,
                                       uint8_t *target, size_t first) {
  target += first >> 3;
  unsigned filled = first & 7;
  uint64_t word = filled ? *target : 0;
  for (size_t i = 0; i < count; i++) {
    word |= (uint64_t)(bits[rows[i] >> 3] >> (rows[i] & 7) & 1) << filled;
    if (++filled == 64) {
      memcpy(target, &word, 8);
      target += 8, filled = 0, word = 0;
    }
  }
  for (; filled > 0; filled = filled > 8 ? filled - 8 : 0, word >>= 8) *target++ = (uint8_t)word;
}

/// Where each of `count` values begins that lie one after another, and where the last one ends, given
/// their lengths of one byte.
static inline void cambium_value_starts(const uint8_t *lengths, size_t count, uint32_t *starts) {
  uint32_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    starts[i] = sum;
    sum += lengths[i];
  }
  starts[count] = sum;
}

/// The lengths of `count` rows' values, given where all values begin.
struct cambium_lengths {
  size_t total;
  uint32_t shortest;
  uint32_t longest;
};

static inline struct cambium_lengths cambium_gathered_lengths(const uint32_t *starts,
                                                              const int32_t *rows, size_t count) {
  struct cambium_lengths result = {0, UINT32_MAX, 0};
  for (size_t i = 0; i < count; i++) {
    uint32_t length = starts[rows[i] + 1] - starts[rows[i]];
    result.total += length;
    result.shortest = length < result.shortest ? length : result.shortest;
    result.longest = length > result.longest ? length : result.longest;
  }
  return result;
}

/// Copies the values of `count` rows one after another to `target`, given where all values begin, each
/// between `head` and `tail`; returns the bytes written. Their lengths of one byte go to `lengths` unless
/// it is null. Up to 31 bytes behind what is written are overwritten; nothing is read at or behind
/// `limit`.
static inline size_t cambium_gather_values(const char *heap, const char *limit,
                                           const uint32_t *starts, const int32_t *rows,
                                           size_t count, const char *head, size_t head_count,
                                           const char *tail, size_t tail_count, uint8_t *lengths,
                                           char *target) {
  char *to = target;
  size_t more = head_count + tail_count;
  for (size_t i = 0; i < count; i++) {
    uint32_t start = starts[rows[i]];
    size_t length = starts[rows[i] + 1] - start;
    const char *from = heap + start;
    if (lengths) lengths[i] = (uint8_t)(length + more);
    if (head_count > 0) memcpy(to, head, head_count), to += head_count;
    // One guess that is nearly always right, in place of one that hangs on the length.
    if (length <= 32 && from + 32 <= limit) {
      memcpy(to, from, 32);
    } else {
      memcpy(to, from, length);
    }
    to += length;
    if (tail_count > 0) memcpy(to, tail, tail_count), to += tail_count;
  }
  return (size_t)(to - target);
}

/// Tells for every 16th of `count` values where it begins, in 2 or 4 bytes, given their lengths of one
/// byte.
static inline void cambium_put_anchors(const uint8_t *lengths, size_t count, void *anchors,
                                       int anchor_byte_count) {
  uint32_t end = 0;
  for (size_t first = 0; first < count; first += 16) {
    memcpy((char *)anchors + first / 16 * (size_t)anchor_byte_count, &end,
           (size_t)anchor_byte_count);
    size_t limit = first + 16 < count ? first + 16 : count;
    for (size_t i = first; i < limit; i++) end += lengths[i];
  }
}

#endif
