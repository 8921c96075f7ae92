// Inner loops over columns that Swift cannot express at the speed of the machine. Each has a portable
// twin; both give the same results. No loop reads more than 15 bytes past the values it is given.
#ifndef CAMBIUM_COLUMN_KERNELS_H
#define CAMBIUM_COLUMN_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(CAMBIUM_PORTABLE_KERNELS)
#include <emmintrin.h>
#define CAMBIUM_SSE2 1
#else
#define CAMBIUM_SSE2 0
#endif

/// Whether `count` bytes are equal.
static inline bool cambium_equal(const void *left, const void *right, size_t count) {
  if (count >= 8 && count <= 16) {
    // Two words that may overlap: most values are this short, and a call costs more.
    uint64_t a, b, c, d;
    memcpy(&a, left, 8), memcpy(&b, right, 8);
    memcpy(&c, (const char *)left + count - 8, 8), memcpy(&d, (const char *)right + count - 8, 8);
    return ((a ^ b) | (c ^ d)) == 0;
  }
  if (count > 16 && count <= 32) {
    const char *one = (const char *)left, *other = (const char *)right;
    uint64_t a[4], b[4];
    memcpy(a, one, 16), memcpy(a + 2, one + count - 16, 16);
    memcpy(b, other, 16), memcpy(b + 2, other + count - 16, 16);
    return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3])) == 0;
  }
  return memcmp(left, right, count) == 0;
}

/// Whether one of the first `count` words of 8 bytes differs; a constant count becomes vector code.
static inline __attribute__((always_inline)) int cambium_differ(
    const char *left, const char *right, size_t count) {
  uint64_t difference = 0;
  for (size_t index = 0; index < count; index++) {
    uint64_t a, b;
    memcpy(&a, left + 8 * index, 8), memcpy(&b, right + 8 * index, 8);
    difference |= a ^ b;
  }
  return difference != 0;
}

/// How many bytes from the start are equal: whole words of 8 bytes, or all `count`.
static inline size_t cambium_equal_prefix(const void *left, const void *right, size_t count) {
  const char *one = (const char *)left, *other = (const char *)right;
  // Most looks end here.
  if (count >= 8 && cambium_differ(one, other, 1)) return 0;
  size_t place = 0;
  while (count - place >= 128 && !cambium_differ(one + place, other + place, 16)) place += 128;
  while (count - place >= 16 && !cambium_differ(one + place, other + place, 2)) place += 16;
  if (count - place >= 8 && !cambium_differ(one + place, other + place, 1)) place += 8;
  if (count - place >= 8) return place;
  while (count > place && one[place] == other[place]) place++;
  return place == count ? count : place & ~(size_t)7;
}

static inline int64_t cambium_value_at(const void *values, size_t index) {
  int64_t value;
  memcpy(&value, (const char *)values + index * 8, 8);
  return value;
}

/// How many of `count` ascending values are at or below `key`.
///
/// Values that lie evenly, as those of dense keys do, are found by proportion, which the processor runs
/// ahead of. The search for others takes no branch that depends on them: a wrong guess costs more than
/// all steps. Any values give a result of at most `count`.
static inline size_t cambium_upper_bound(const void *values, size_t count, int64_t key) {
  if (count == 0) return 0;
  if (count > 8) {
    int64_t first = cambium_value_at(values, 0), last = cambium_value_at(values, count - 1);
    if (key >= last) return count;
    if (key < first) return 0;
    double share = (double)((uint64_t)key - (uint64_t)first) /
                   (double)((uint64_t)last - (uint64_t)first);
    size_t place = (size_t)(share * (double)(count - 1));
    if (place > count - 2) place = count - 2;
    if (cambium_value_at(values, place) <= key) {
      if (key < cambium_value_at(values, place + 1)) return place + 1;
      if (place + 2 < count && key < cambium_value_at(values, place + 2)) return place + 2;
    } else if (place > 0 && cambium_value_at(values, place - 1) <= key) {
      return place;
    }
  }
  size_t base = 0;
  while (count > 1) {
    size_t half = count / 2;
    base += half & (0 - (size_t)(cambium_value_at(values, base + half - 1) <= key));
    count -= half;
  }
  return base + (cambium_value_at(values, base) <= key);
}

// MARK: Masks: bit i tells whether values[i] - low <= span, without sign, for 64 values

static inline uint64_t cambium_portable_mask8(const uint8_t *values, uint8_t low, uint8_t span) {
  uint64_t mask = 0;
  for (int i = 0; i < 64; i++) mask |= (uint64_t)((uint8_t)(values[i] - low) <= span) << i;
  return mask;
}

static inline uint64_t cambium_portable_mask16(const uint16_t *values, uint16_t low,
                                               uint16_t span) {
  uint64_t mask = 0;
  for (int i = 0; i < 64; i++) mask |= (uint64_t)((uint16_t)(values[i] - low) <= span) << i;
  return mask;
}

static inline uint64_t cambium_portable_mask32(const uint32_t *values, uint32_t low,
                                               uint32_t span) {
  uint64_t mask = 0;
  for (int i = 0; i < 64; i++) mask |= (uint64_t)(values[i] - low <= span) << i;
  return mask;
}

static inline uint64_t cambium_mask64(const uint64_t *values, uint64_t low, uint64_t span) {
  uint64_t mask = 0;
  for (int i = 0; i < 64; i++) mask |= (uint64_t)(values[i] - low <= span) << i;
  return mask;
}

/// Bit i tells whether low <= values[i] <= high; never for NaN.
static inline uint64_t cambium_portable_mask_double(const double *values, double low, double high) {
  uint64_t mask = 0;
  for (int i = 0; i < 64; i++) {
    mask |= (uint64_t)((values[i] >= low) & (values[i] <= high)) << i;
  }
  return mask;
}

#if CAMBIUM_SSE2

static inline uint64_t cambium_mask8(const uint8_t *values, uint8_t low, uint8_t span) {
  const __m128i lows = _mm_set1_epi8((char)low), spans = _mm_set1_epi8((char)span);
  uint64_t mask = 0;
  for (int i = 0; i < 4; i++) {
    __m128i x = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)values + i), lows);
    x = _mm_cmpeq_epi8(_mm_min_epu8(x, spans), x);
    mask |= (uint64_t)(uint16_t)_mm_movemask_epi8(x) << (16 * i);
  }
  return mask;
}

static inline uint64_t cambium_mask16(const uint16_t *values, uint16_t low, uint16_t span) {
  const __m128i lows = _mm_set1_epi16((short)low), spans = _mm_set1_epi16((short)span);
  const __m128i zero = _mm_setzero_si128();
  uint64_t mask = 0;
  for (int i = 0; i < 4; i++) {
    __m128i a = _mm_sub_epi16(_mm_loadu_si128((const __m128i *)values + 2 * i), lows);
    __m128i b = _mm_sub_epi16(_mm_loadu_si128((const __m128i *)values + 2 * i + 1), lows);
    a = _mm_cmpeq_epi16(_mm_subs_epu16(a, spans), zero);
    b = _mm_cmpeq_epi16(_mm_subs_epu16(b, spans), zero);
    mask |= (uint64_t)(uint16_t)_mm_movemask_epi8(_mm_packs_epi16(a, b)) << (16 * i);
  }
  return mask;
}

static inline __m128i cambium_above32(__m128i values, __m128i lows, __m128i spans) {
  const __m128i sign = _mm_set1_epi32((int)0x80000000u);
  return _mm_cmpgt_epi32(_mm_xor_si128(_mm_sub_epi32(values, lows), sign), spans);
}

static inline uint64_t cambium_mask32(const uint32_t *values, uint32_t low, uint32_t span) {
  const __m128i lows = _mm_set1_epi32((int)low);
  const __m128i spans = _mm_set1_epi32((int)(span ^ 0x80000000u));
  const __m128i *vectors = (const __m128i *)values;
  uint64_t mask = 0;
  for (int i = 0; i < 4; i++) {
    __m128i a = cambium_above32(_mm_loadu_si128(vectors + 4 * i), lows, spans);
    __m128i b = cambium_above32(_mm_loadu_si128(vectors + 4 * i + 1), lows, spans);
    __m128i c = cambium_above32(_mm_loadu_si128(vectors + 4 * i + 2), lows, spans);
    __m128i d = cambium_above32(_mm_loadu_si128(vectors + 4 * i + 3), lows, spans);
    __m128i all = _mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
    mask |= (uint64_t)(uint16_t)~_mm_movemask_epi8(all) << (16 * i);
  }
  return mask;
}

static inline uint64_t cambium_mask_double(const double *values, double low, double high) {
  const __m128d lows = _mm_set1_pd(low), highs = _mm_set1_pd(high);
  uint64_t mask = 0;
  for (int i = 0; i < 32; i++) {
    __m128d x = _mm_loadu_pd(values + 2 * i);
    x = _mm_and_pd(_mm_cmpge_pd(x, lows), _mm_cmple_pd(x, highs));
    mask |= (uint64_t)(unsigned)_mm_movemask_pd(x) << (2 * i);
  }
  return mask;
}

#else

static inline uint64_t cambium_mask8(const uint8_t *values, uint8_t low, uint8_t span) {
  return cambium_portable_mask8(values, low, span);
}
static inline uint64_t cambium_mask16(const uint16_t *values, uint16_t low, uint16_t span) {
  return cambium_portable_mask16(values, low, span);
}
static inline uint64_t cambium_mask32(const uint32_t *values, uint32_t low, uint32_t span) {
  return cambium_portable_mask32(values, low, span);
}
static inline uint64_t cambium_mask_double(const double *values, double low, double high) {
  return cambium_portable_mask_double(values, low, high);
}

#endif

// MARK: Counts of values with value - low <= span, without sign

static inline size_t cambium_portable_count8(const uint8_t *values, size_t count, uint8_t low,
                                             uint8_t span) {
  size_t total = 0;
  for (size_t i = 0; i < count; i++) total += (uint8_t)(values[i] - low) <= span;
  return total;
}

#if CAMBIUM_SSE2

static inline size_t cambium_count8(const uint8_t *values, size_t count, uint8_t low,
                                    uint8_t span) {
  const __m128i lows = _mm_set1_epi8((char)low), spans = _mm_set1_epi8((char)span);
  const __m128i zero = _mm_setzero_si128();
  __m128i total = zero;
  size_t i = 0;
  while (i + 16 <= count) {
    size_t end = count - i > 255 * 16 ? i + 255 * 16 : i + (count - i) / 16 * 16;
    __m128i lanes = zero;
    for (; i < end; i += 16) {
      __m128i x = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(values + i)), lows);
      lanes = _mm_sub_epi8(lanes, _mm_cmpeq_epi8(_mm_min_epu8(x, spans), x));
    }
    total = _mm_add_epi64(total, _mm_sad_epu8(lanes, zero));
  }
  if (i < count) {
    // The last few values: the slack behind them may be read, and is masked out.
    __m128i x = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(values + i)), lows);
    x = _mm_cmpeq_epi8(_mm_min_epu8(x, spans), x);
    unsigned mask = (unsigned)_mm_movemask_epi8(x) & ((1u << (count - i)) - 1);
    total = _mm_add_epi64(total, _mm_cvtsi32_si128(__builtin_popcount(mask)));
  }
  total = _mm_add_epi64(total, _mm_srli_si128(total, 8));
  return (size_t)_mm_cvtsi128_si64(total);
}

#else

static inline size_t cambium_count8(const uint8_t *values, size_t count, uint8_t low,
                                    uint8_t span) {
  return cambium_portable_count8(values, count, low, span);
}

#endif

static inline size_t cambium_count16(const uint16_t *values, size_t count, uint16_t low,
                                     uint16_t span) {
  size_t total = 0;
  for (size_t i = 0; i < count;) {
    size_t end = count - i > 65535 ? i + 65535 : count;
    uint16_t lanes = 0;
    for (; i < end; i++) lanes = (uint16_t)(lanes + ((uint16_t)(values[i] - low) <= span));
    total += lanes;
  }
  return total;
}

static inline size_t cambium_count32(const uint32_t *values, size_t count, uint32_t low,
                                     uint32_t span) {
  uint32_t total = 0;
  for (size_t i = 0; i < count; i++) total += values[i] - low <= span;
  return total;
}

static inline size_t cambium_count64(const uint64_t *values, size_t count, uint64_t low,
                                     uint64_t span) {
  uint64_t total = 0;
  for (size_t i = 0; i < count; i++) total += values[i] - low <= span;
  return (size_t)total;
}

// MARK: Sums

static inline uint64_t cambium_sum8(const uint8_t *values, size_t count) {
  uint64_t total = 0;
  size_t i = 0;
#if CAMBIUM_SSE2
  __m128i sums = _mm_setzero_si128();
  for (; i + 16 <= count; i += 16) {
    sums = _mm_add_epi64(sums, _mm_sad_epu8(_mm_loadu_si128((const __m128i *)(values + i)),
                                            _mm_setzero_si128()));
  }
  sums = _mm_add_epi64(sums, _mm_srli_si128(sums, 8));
  total = (uint64_t)_mm_cvtsi128_si64(sums);
#endif
  for (; i < count; i++) total += values[i];
  return total;
}

static inline uint64_t cambium_sum16(const uint16_t *values, size_t count) {
  uint64_t total = 0;
  for (size_t i = 0; i < count;) {
    size_t end = count - i > 65536 ? i + 65536 : count;
    uint32_t lanes = 0;
    for (; i < end; i++) lanes += values[i];
    total += lanes;
  }
  return total;
}

static inline uint64_t cambium_sum32(const uint32_t *values, size_t count) {
  uint64_t total = 0;
  for (size_t i = 0; i < count; i++) total += values[i];
  return total;
}

/// The sum in no particular order: eight partial sums run side by side.
static inline double cambium_sum_double(const double *values, size_t count) {
  double lanes[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int lane = 0; lane < 8; lane++) lanes[lane] += values[i + lane];
  }
  double total = ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
                 ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
  for (; i < count; i++) total += values[i];
  return total;
}

/// The sum of floats as doubles, in no particular order.
static inline double cambium_sum_float(const float *values, size_t count) {
  double lanes[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int lane = 0; lane < 8; lane++) lanes[lane] += values[i + lane];
  }
  double total = ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
                 ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
  for (; i < count; i++) total += values[i];
  return total;
}

// MARK: Small offsets

/// Spreads 64 values of `width` bits (2 or 4) over 64 bytes.
static inline void cambium_spread(const uint8_t *values, int width, uint8_t out[64]) {
  if (width == 4) {
    for (int i = 0; i < 32; i++) {
      out[2 * i] = values[i] & 15;
      out[2 * i + 1] = values[i] >> 4;
    }
  } else {
    for (int i = 0; i < 16; i++) {
      out[4 * i] = values[i] & 3;
      out[4 * i + 1] = values[i] >> 2 & 3;
      out[4 * i + 2] = values[i] >> 4 & 3;
      out[4 * i + 3] = values[i] >> 6;
    }
  }
}

// MARK: Bits

static inline uint64_t cambium_portable_squeeze(uint64_t word, uint64_t mask) {
  // Runs of ones move down by the zeros below them.
  uint64_t result = 0;
  int end = 0;
  while (mask != 0) {
    int start = __builtin_ctzll(mask);
    uint64_t rest = ~(mask >> start);
    int count = rest == 0 ? 64 : __builtin_ctzll(rest);
    uint64_t ones = count == 64 ? ~0ULL : (1ULL << count) - 1;
    result |= (word >> start & ones) << end;
    mask &= ~(ones << start);
    end += count;
  }
  return result;
}

#if defined(__x86_64__) && !defined(CAMBIUM_PORTABLE_KERNELS)
__attribute__((target("bmi2"))) static inline void cambium_squeeze_words_bmi2(
    void *words, size_t stride, size_t count, uint64_t mask) {
  char *place = (char *)words;
  for (size_t i = 0; i < count; i++, place += stride) {
    uint64_t word;
    memcpy(&word, place, 8);
    word = __builtin_ia32_pext_di(word, mask);
    memcpy(place, &word, 8);
  }
}
#endif

/// Moves the bits of `mask` together at the bottom of `count` words, one every `stride` bytes; others
/// are dropped.
static inline void cambium_squeeze_words(void *words, size_t stride, size_t count, uint64_t mask) {
#if defined(__x86_64__) && !defined(CAMBIUM_PORTABLE_KERNELS)
  if (__builtin_cpu_supports("bmi2")) {
    cambium_squeeze_words_bmi2(words, stride, count, mask);
    return;
  }
#endif
  char *place = (char *)words;
  for (size_t i = 0; i < count; i++, place += stride) {
    uint64_t word;
    memcpy(&word, place, 8);
    word = cambium_portable_squeeze(word, mask);
    memcpy(place, &word, 8);
  }
}

// MARK: Search

/// Copies `count` bytes to `target`, the first `capitals` letters from A on as small ones: none or all
/// of ASCII's. Returns all bytes, one or another; 0x80 and more say that not all are ASCII.
static inline uint8_t cambium_fold_ascii(const void *bytes, size_t count, void *target,
                                         uint8_t capitals) {
  const uint8_t *source = (const uint8_t *)bytes;
  uint8_t *folded = (uint8_t *)target;
  uint8_t all = 0;
  for (size_t i = 0; i < count; i++) {
    uint8_t byte = source[i];
    all |= byte;
    folded[i] = byte | ((uint8_t)(byte - 'A') < capitals ? 0x20 : 0);
  }
  return all;
}

/// The first place from `start` on where `needle` occurs in `bytes`, or `count`. Compares the first
/// and the last byte of the needle 16 places at a time. `needle_count` is at least 1.
static inline size_t cambium_find(const uint8_t *bytes, size_t count, size_t start,
                                  const uint8_t *needle, size_t needle_count) {
  if (needle_count > count) return count;
  size_t last = count - needle_count;
  size_t i = start;
#if CAMBIUM_SSE2
  const __m128i first_bytes = _mm_set1_epi8((char)needle[0]);
  const __m128i last_bytes = _mm_set1_epi8((char)needle[needle_count - 1]);
  for (; i + 15 <= last; i += 16) {
    __m128i a = _mm_loadu_si128((const __m128i *)(bytes + i));
    __m128i b = _mm_loadu_si128((const __m128i *)(bytes + i + needle_count - 1));
    unsigned mask = (unsigned)_mm_movemask_epi8(
        _mm_and_si128(_mm_cmpeq_epi8(a, first_bytes), _mm_cmpeq_epi8(b, last_bytes)));
    while (mask != 0) {
      size_t place = i + (size_t)__builtin_ctz(mask);
      if (needle_count <= 2 || memcmp(bytes + place + 1, needle + 1, needle_count - 2) == 0) {
        return place;
      }
      mask &= mask - 1;
    }
  }
#endif
  for (; i <= last; i++) {
    if (bytes[i] == needle[0] && memcmp(bytes + i, needle, needle_count) == 0) return i;
  }
  return count;
}

#endif
