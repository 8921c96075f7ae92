// Inner loops that pick rows out of the columns of a packed leaf. Rows ascend and are below the number of
// rows; nothing reads past the bytes it is given.
#ifndef CAMBIUM_GATHER_KERNELS_H
#define CAMBIUM_GATHER_KERNELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ColumnKernels.h"
#include "TextKernels.h"

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

/// The bytes of all of `count` values, given their lengths of one byte, or of those alone that `removed`
/// does not mark with a one.
static inline size_t cambium_kept_bytes(const uint8_t *lengths, const uint8_t *removed,
                                        size_t count) {
  size_t total = 0, i = 0;
#if CAMBIUM_SSE2
  const __m128i one = _mm_set1_epi8(1), zero = _mm_setzero_si128();
  __m128i sums = zero;
  for (; i + 16 <= count; i += 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(lengths + i));
    if (removed) {
      __m128i marks = _mm_loadu_si128((const __m128i *)(removed + i));
      bytes = _mm_and_si128(bytes, _mm_sub_epi8(marks, one));
    }
    sums = _mm_add_epi64(sums, _mm_sad_epu8(bytes, zero));
  }
  sums = _mm_add_epi64(sums, _mm_srli_si128(sums, 8));
  total = (size_t)_mm_cvtsi128_si64(sums);
#endif
  for (; i < count; i++) total += removed && removed[i] ? 0 : lengths[i];
  return total;
}

/// Where 16 values begin that lie one after another, given their lengths of one byte; returns the bytes of
/// all of them.
static inline size_t cambium_starts16(const uint8_t *lengths, uint16_t *starts) {
#if CAMBIUM_SSE2
  const __m128i zero = _mm_setzero_si128();
  __m128i all = _mm_loadu_si128((const __m128i *)lengths);
  __m128i low = _mm_unpacklo_epi8(all, zero), high = _mm_unpackhi_epi8(all, zero);
  __m128i low_ends = low, high_ends = high;
  // Sums of 1, 2, 4 and 8 neighbours.
  low_ends = _mm_add_epi16(low_ends, _mm_slli_si128(low_ends, 2));
  high_ends = _mm_add_epi16(high_ends, _mm_slli_si128(high_ends, 2));
  low_ends = _mm_add_epi16(low_ends, _mm_slli_si128(low_ends, 4));
  high_ends = _mm_add_epi16(high_ends, _mm_slli_si128(high_ends, 4));
  low_ends = _mm_add_epi16(low_ends, _mm_slli_si128(low_ends, 8));
  high_ends = _mm_add_epi16(high_ends, _mm_slli_si128(high_ends, 8));
  high_ends = _mm_add_epi16(high_ends, _mm_set1_epi16((short)_mm_extract_epi16(low_ends, 7)));
  _mm_storeu_si128((__m128i *)starts, _mm_sub_epi16(low_ends, low));
  _mm_storeu_si128((__m128i *)(starts + 8), _mm_sub_epi16(high_ends, high));
  return (size_t)_mm_extract_epi16(high_ends, 7);
#else
  size_t end = 0;
  for (size_t i = 0; i < 16; end += lengths[i], i++) starts[i] = (uint16_t)end;
  return end;
#endif
}

/// The bits of those of 16 rows that `removed` does not mark with a one.
static inline unsigned cambium_kept16(const uint8_t *removed) {
#if CAMBIUM_SSE2
  __m128i marks = _mm_loadu_si128((const __m128i *)removed);
  return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(marks, _mm_setzero_si128()));
#else
  unsigned kept = 0;
  for (size_t i = 0; i < 16; i++) kept |= (unsigned)(removed[i] == 0) << i;
  return kept;
#endif
}

/// Copies a value; up to 31 bytes behind it are overwritten, and nothing is read at or behind `limit`.
static inline void cambium_copy_value(char *to, const char *from, size_t length,
                                      const char *limit) {
  if (length <= 32 && limit - from >= 32) {
    uint64_t words[4];
    memcpy(words, from, 32);
    memcpy(to, words, 32);
  } else {
    cambium_copy(to, from, length);
  }
}

/// Copies those of `count` values that `removed` does not mark with a one to `target`, each between `head`
/// and `tail`, and their lengths of one byte to `kept_lengths` unless it is null; returns the bytes
/// written. Up to 31 bytes behind those are overwritten; nothing is read at or behind `limit`.
static inline size_t cambium_keep_values(const char *values, const char *limit,
                                         const uint8_t *lengths, const uint8_t *removed,
                                         size_t count, const char *head, size_t head_count,
                                         const char *tail, size_t tail_count,
                                         uint8_t *kept_lengths, char *target) {
  const char *from = values;
  char *to = target;
  size_t i = 0;
  if (head_count + tail_count == 0) {
    // Where 16 values begin is found at once, so that no copy waits for the lengths before it.
    for (; i + 16 <= count; i += 16) {
      uint16_t starts[16];
      size_t all = cambium_starts16(lengths + i, starts);
      unsigned kept = cambium_kept16(removed + i);
      if (kept == 0xffff) {
        cambium_copy(to, from, all), to += all;
        if (kept_lengths) memcpy(kept_lengths, lengths + i, 16), kept_lengths += 16;
      } else {
        for (; kept; kept &= kept - 1) {
          size_t row = (size_t)__builtin_ctz(kept), length = lengths[i + row];
          cambium_copy_value(to, from + starts[row], length, limit), to += length;
          if (kept_lengths) *kept_lengths++ = (uint8_t)length;
        }
      }
      from += all;
    }
  }
  for (; i < count; from += lengths[i], i++) {
    if (removed[i]) continue;
    cambium_copy(to, head, head_count), to += head_count;
    cambium_copy_value(to, from, lengths[i], limit), to += lengths[i];
    cambium_copy(to, tail, tail_count), to += tail_count;
    if (kept_lengths) *kept_lengths++ = (uint8_t)(head_count + lengths[i] + tail_count);
  }
  return (size_t)(to - target);
}

/// Tells for every 16th of `count` values where it begins, in 2 or 4 bytes, given their lengths of one
/// byte.
static inline void cambium_put_anchors(const uint8_t *lengths, size_t count, void *anchors,
                                       int anchor_byte_count) {
  uint32_t end = 0;
  for (size_t first = 0; first < count; first += 16) {
    if (anchor_byte_count == 2) {
      uint16_t anchor = (uint16_t)end;
      memcpy((char *)anchors + first / 16 * 2, &anchor, 2);
    } else {
      memcpy((char *)anchors + first / 16 * 4, &end, 4);
    }
    size_t limit = first + 16 < count ? first + 16 : count;
    for (size_t i = first; i < limit; i++) end += lengths[i];
  }
}

#endif
