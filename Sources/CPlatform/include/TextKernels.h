// Inner loops over the bytes of a column while a leaf is put together. Nothing reads or writes past
// the bytes it is given.
#ifndef CAMBIUM_TEXT_KERNELS_H
#define CAMBIUM_TEXT_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ColumnKernels.h"

/// Copies `count` bytes that do not overlap; most are a few, and a call costs more than they do.
static inline void cambium_copy(void *target, const void *source, size_t count) {
  char *to = (char *)target;
  const char *from = (const char *)source;
  if (count > 32) {
    memcpy(to, from, count);
  } else if (count >= 16) {
    uint64_t a, b, c, d;
    memcpy(&a, from, 8), memcpy(&b, from + 8, 8);
    memcpy(&c, from + count - 16, 8), memcpy(&d, from + count - 8, 8);
    memcpy(to, &a, 8), memcpy(to + 8, &b, 8);
    memcpy(to + count - 16, &c, 8), memcpy(to + count - 8, &d, 8);
  } else if (count >= 8) {
    uint64_t first, last;
    memcpy(&first, from, 8), memcpy(&last, from + count - 8, 8);
    memcpy(to, &first, 8), memcpy(to + count - 8, &last, 8);
  } else if (count >= 4) {
    uint32_t first, last;
    memcpy(&first, from, 4), memcpy(&last, from + count - 4, 4);
    memcpy(to, &first, 4), memcpy(to + count - 4, &last, 4);
  } else if (count > 0) {
    char first = from[0], middle = from[count / 2], last = from[count - 1];
    to[0] = first, to[count / 2] = middle, to[count - 1] = last;
  }
}

/// What the values of a column share at both ends, and their lengths.
struct cambium_affixes {
  size_t prefix;
  size_t suffix;
  size_t shortest;
  size_t longest;
};

/// How many of `rows` values, up to the first that has it not, end with the `count` bytes at `suffix`, 8
/// to 16 of them; widens the bounds of lengths.
static inline size_t cambium_rows_with_suffix(const uint64_t *slots, const uint8_t *nulls,
                                              const char *heap, size_t rows, const char *suffix,
                                              size_t count, size_t *shortest, size_t *longest) {
  uint64_t head, tail;
  memcpy(&head, suffix, 8), memcpy(&tail, suffix + count - 8, 8);
  size_t least = *shortest, most = *longest, row = 0;
  for (; row < rows; row++) {
    if (nulls && nulls[row]) continue;
    size_t length = slots[row] >> 32 & 0x7fffffff;
    if (length < count) break;
    const char *end = heap + (uint32_t)slots[row] + length;
    uint64_t a, b;
    memcpy(&a, end - count, 8), memcpy(&b, end - 8, 8);
    if (((a ^ head) | (b ^ tail)) != 0) break;
    least = length < least ? length : least;
    most = length > most ? length : most;
  }
  *shortest = least, *longest = most;
  return row;
}

/// Finds what `rows` values share with the one of row `model`, which is present. A slot tells where in
/// `heap` a value begins (low half) and how long it is (high half). `nulls`, if given, marks absent rows.
static inline struct cambium_affixes cambium_shared_affixes(const uint64_t *slots,
                                                            const uint8_t *nulls,
                                                            const char *heap, size_t rows,
                                                            size_t model) {
  const char *first = heap + (uint32_t)slots[model];
  size_t first_count = slots[model] >> 32 & 0x7fffffff;
  struct cambium_affixes result = {first_count, first_count, first_count, first_count};
  size_t prefix = first_count, suffix = first_count, shortest = first_count;
  size_t longest = first_count, row = model + 1;
  for (; row < rows && prefix + suffix > 0; row++) {
    if (prefix == 0 && suffix >= 8 && suffix <= 16) {
      // Most columns have settled after a few rows, those of addresses at a suffix of this length.
      row += cambium_rows_with_suffix(slots + row, nulls ? nulls + row : NULL, heap, rows - row,
                                      first + first_count - suffix, suffix, &shortest, &longest);
      if (row == rows) break;
    }
    if (nulls && nulls[row]) continue;
    size_t count = slots[row] >> 32 & 0x7fffffff;
    const char *bytes = heap + (uint32_t)slots[row];
    if (count < shortest) shortest = count;
    if (count > longest) longest = count;
    if (prefix > 0 && (prefix > count || !cambium_equal(first, bytes, prefix))) {
      size_t limit = prefix < count ? prefix : count, same = 0;
      while (same < limit && first[same] == bytes[same]) same++;
      prefix = same;
    }
    if (suffix > 0 &&
        (suffix > count ||
         !cambium_equal(first + first_count - suffix, bytes + count - suffix, suffix))) {
      size_t limit = suffix < count ? suffix : count, same = 0;
      while (same < limit && first[first_count - same - 1] == bytes[count - same - 1]) same++;
      suffix = same;
    }
  }
  for (; row < rows; row++) {
    if (nulls && nulls[row]) continue;
    size_t count = slots[row] >> 32 & 0x7fffffff;
    if (count < shortest) shortest = count;
    if (count > longest) longest = count;
  }
  result.prefix = prefix, result.suffix = suffix;
  result.shortest = shortest, result.longest = longest;
  return result;
}

/// Writes `rows` values one after another to `target`, without the `prefix` bytes at their start and the
/// `suffix` bytes at their end, and their lengths of one byte each. An anchor of 2 or 4 bytes tells for
/// every 16th value where it begins. Absent rows take no bytes; their length stays as it is. Returns the
/// bytes written.
static inline size_t cambium_pack_values(const uint64_t *slots, const uint8_t *nulls,
                                         const char *heap, size_t rows, size_t prefix,
                                         size_t suffix, uint8_t *lengths, void *anchors,
                                         int anchor_byte_count, char *target) {
  size_t end = 0;
  for (size_t row = 0; row < rows; row++) {
    if (row % 16 == 0) {
      if (anchor_byte_count == 2) {
        uint16_t anchor = (uint16_t)end;
        memcpy((char *)anchors + row / 16 * 2, &anchor, 2);
      } else {
        uint32_t anchor = (uint32_t)end;
        memcpy((char *)anchors + row / 16 * 4, &anchor, 4);
      }
    }
    if (nulls && nulls[row]) continue;
    size_t count = (slots[row] >> 32 & 0x7fffffff) - prefix - suffix;
    lengths[row] = (uint8_t)count;
    cambium_copy(target + end, heap + (uint32_t)slots[row] + prefix, count);
    end += count;
  }
  return end;
}

/// Says of `rows` values that lie one after another, given their lengths of one byte, where each begins,
/// counted from `base`, and how long it is. Stops before the value that would end behind `limit` bytes;
/// returns how many there are, and in `end` where they end.
static inline size_t cambium_load_slots(const uint8_t *lengths, size_t rows, size_t base, size_t limit,
                                        uint64_t *slots, size_t *end) {
  size_t place = 0, row = 0;
  for (; row < rows; row++) {
    size_t count = lengths[row];
    if (place + count > limit) break;
    slots[row] = (uint64_t)(base + place) | (uint64_t)count << 32;
    place += count;
  }
  *end = place;
  return row;
}

/// Puts `rows` values of `heap`, given their lengths of one byte, one after another to `target`, each
/// between `prefix_count` bytes and `suffix_count` bytes of `affixes`. Those that `removed`, if given,
/// marks are left out. A slot tells where a value begins, counted from `base`, and how long it is; that
/// of one left out is zero. Stops before the value that would end behind `limit` bytes of the heap;
/// returns how many there are, and in `end` the bytes written.
static inline size_t cambium_load_values(const uint8_t *lengths, const uint8_t *removed, size_t rows,
                                         const char *heap, size_t limit, const char *affixes,
                                         size_t prefix_count, size_t suffix_count, size_t base,
                                         char *target, uint64_t *slots, size_t *end) {
  size_t place = 0, written = 0, row = 0;
  for (; row < rows; row++) {
    size_t count = lengths[row];
    if (place + count > limit) break;
    if (removed && removed[row]) {
      slots[row] = 0;
    } else {
      size_t total = prefix_count + count + suffix_count;
      char *to = target + written;
      cambium_copy(to, affixes, prefix_count);
      cambium_copy(to + prefix_count, heap + place, count);
      cambium_copy(to + prefix_count + count, affixes + prefix_count, suffix_count);
      slots[row] = (uint64_t)(base + written) | (uint64_t)total << 32;
      written += total;
    }
    place += count;
  }
  *end = written;
  return row;
}

/// As `cambium_pack_values` where the values lie in `heap` as they are to lie on the page: writes
/// lengths and anchors alone. Slots of absent rows have no length.
static inline void cambium_pack_lengths(const uint64_t *slots, size_t rows, uint8_t *lengths,
                                        void *anchors, int anchor_byte_count) {
  size_t end = 0, row = 0;
  for (size_t group = 0; row < rows; group++) {
    if (anchor_byte_count == 2) {
      uint16_t anchor = (uint16_t)end;
      memcpy((char *)anchors + group * 2, &anchor, 2);
    } else {
      uint32_t anchor = (uint32_t)end;
      memcpy((char *)anchors + group * 4, &anchor, 4);
    }
    size_t limit = row + 16 < rows ? row + 16 : rows;
    for (; row < limit; row++) {
      size_t count = slots[row] >> 32 & 0x7fffffff;
      lengths[row] = (uint8_t)count;
      end += count;
    }
  }
}

/// Values that lie one after another, given their lengths of one byte and, in 2 or 4 bytes, where every 16th
/// begins. Up to 15 bytes behind lengths and values may be read.
struct cambium_values {
  const uint8_t *lengths;
  size_t count;
  const void *anchors;
  int anchor_byte_count;
  const char *bytes;
  /// Values that end behind so many bytes are passed over.
  size_t limit;
};

/// Which of the 16 values from `first` on have a length, as bits.
static inline unsigned cambium_values_of_length(const struct cambium_values *values, size_t first,
                                                uint8_t length) {
  unsigned mask = 0;
#if CAMBIUM_SSE2
  __m128i group = _mm_loadu_si128((const __m128i *)(values->lengths + first));
  mask = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(group, _mm_set1_epi8((char)length)));
  if (values->count - first < 16) mask &= (1u << (values->count - first)) - 1;
#else
  for (size_t i = 0; i < 16 && first + i < values->count; i++) {
    mask |= (unsigned)(values->lengths[first + i] == length) << i;
  }
#endif
  return mask;
}

/// Where value `first + i` begins, for a multiple `first` of 16 and `i` below 16.
static inline size_t cambium_value_place(const struct cambium_values *values, size_t first,
                                         unsigned i) {
  size_t place = 0;
  if (values->anchor_byte_count == 2) {
    uint16_t anchor;
    memcpy(&anchor, (const char *)values->anchors + first / 16 * 2, 2);
    place = anchor;
  } else {
    uint32_t anchor;
    memcpy(&anchor, (const char *)values->anchors + first / 16 * 4, 4);
    place = anchor;
  }
#if CAMBIUM_SSE2
  static const uint8_t ones[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                   255, 255, 255, 255, 255, 255, 255, 255};
  __m128i before = _mm_loadu_si128((const __m128i *)(ones + 16 - i));
  __m128i group = _mm_loadu_si128((const __m128i *)(values->lengths + first));
  __m128i sums = _mm_sad_epu8(_mm_and_si128(group, before), _mm_setzero_si128());
  sums = _mm_add_epi64(sums, _mm_srli_si128(sums, 8));
  place += (size_t)_mm_cvtsi128_si64(sums);
#else
  for (unsigned j = 0; j < i; j++) place += values->lengths[first + j];
#endif
  return place;
}

/// Bytes to compare many values of their length with: most differ within the first ones.
struct cambium_needle {
  const char *bytes;
  size_t count;
  uint64_t head;
  uint64_t head_bits;
};

static inline struct cambium_needle cambium_make_needle(const char *bytes, size_t count) {
  struct cambium_needle needle = {bytes, count, 0, ~0ULL};
  memcpy(&needle.head, bytes, count < 8 ? count : 8);
  if (count < 8) needle.head_bits = (1ULL << (8 * count)) - 1;
  return needle;
}

static inline bool cambium_is_needle(const char *value, const struct cambium_needle *needle) {
  uint64_t head;
  memcpy(&head, value, 8);
  if (((head ^ needle->head) & needle->head_bits) != 0) return false;
  return needle->count <= 8 || cambium_equal(value, needle->bytes, needle->count);
}

/// Sets the bits of the values that equal the needle in `bitmap`.
static inline void cambium_select_equal(const struct cambium_values *values,
                                        const struct cambium_needle *needle, uint64_t *bitmap) {
  if (needle->count > 255) return;
  for (size_t first = 0; first < values->count; first += 16) {
    unsigned mask = cambium_values_of_length(values, first, (uint8_t)needle->count);
    for (; mask != 0; mask &= mask - 1) {
      unsigned i = (unsigned)__builtin_ctz(mask);
      size_t place = cambium_value_place(values, first, i);
      if (place + needle->count > values->limit) continue;
      if (!cambium_is_needle(values->bytes + place, needle)) continue;
      bitmap[(first + i) >> 6] |= 1ULL << ((first + i) & 63);
    }
  }
}

/// Puts where the values of a length lie to `places`, which has room for all values, and asks for their
/// first bytes; returns how many there are.
static inline size_t cambium_places_of_length(const struct cambium_values *values, size_t length,
                                              const char **places) {
  size_t count = 0;
  if (length > 255) return 0;
  for (size_t first = 0; first < values->count; first += 16) {
    unsigned mask = cambium_values_of_length(values, first, (uint8_t)length);
    for (; mask != 0; mask &= mask - 1) {
      size_t place = cambium_value_place(values, first, (unsigned)__builtin_ctz(mask));
      if (place + length > values->limit) continue;
      places[count] = values->bytes + place;
      __builtin_prefetch(places[count++]);
    }
  }
  return count;
}

/// How many of `count` values, which have the needle's length, equal it.
static inline size_t cambium_count_equal(const char *const *places, size_t count,
                                         const struct cambium_needle *needle) {
  size_t total = 0;
  for (size_t i = 0; i < count; i++) total += cambium_is_needle(places[i], needle);
  return total;
}

#endif
