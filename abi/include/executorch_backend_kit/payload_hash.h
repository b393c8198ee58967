/* ExecuTorch Backend Kit: the hash of a blob's payload, XXH3 with 64 bits and seed 0.
 *
 * C99 and C++, freestanding, without allocation. Bytes may come in pieces. The algorithm is public
 * (BSD-2-Clause specification of xxHash); `xxhsum -H3` gives the same number. It finds corruption,
 * not forgery. Licence: BSD-3-Clause.
 */
#ifndef EXECUTORCH_BACKEND_KIT_PAYLOAD_HASH_H
#define EXECUTORCH_BACKEND_KIT_PAYLOAD_HASH_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) && defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__GNUC__) && defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#define ETBK_HASH_STRIPE 64
#define ETBK_HASH_ROOM 256 /* bytes that are kept until more come */

typedef struct EtbkHash {
  uint64_t lanes[8];
  uint64_t total;
  uint32_t stripe; /* of the 16 in a block */
  uint32_t kept;   /* bytes in `rest` that are not in the lanes yet */
  unsigned char rest[ETBK_HASH_ROOM];
} EtbkHash;

#define ETBK_HASH_P32_1 UINT32_C(0x9E3779B1)
#define ETBK_HASH_P32_2 UINT32_C(0x85EBCA77)
#define ETBK_HASH_P32_3 UINT32_C(0xC2B2AE3D)
#define ETBK_HASH_P1 UINT64_C(0x9E3779B185EBCA87)
#define ETBK_HASH_P2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define ETBK_HASH_P3 UINT64_C(0x165667B19E3779F9)
#define ETBK_HASH_P4 UINT64_C(0x85EBCA77C2B2AE63)
#define ETBK_HASH_P5 UINT64_C(0x27D4EB2F165667C5)

/* The algorithm's constant bytes. */
static inline const unsigned char* etbk_hash_secret(void) {
  static const unsigned char kSecret[192] = {
      0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad,
      0x1c, 0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3,
      0x67, 0x1f, 0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc,
      0xff, 0x72, 0x21, 0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6,
      0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65,
      0x8b, 0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19,
      0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8, 0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9,
      0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31,
      0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64, 0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb,
      0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb, 0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0,
      0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16, 0xbe, 0x58, 0x7d,
      0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f,
      0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e};
  return kSecret;
}

/* Little-endian loads from any address. */
#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static inline uint32_t etbk_hash_read32(const unsigned char* p) {
  uint32_t value;
  __builtin_memcpy(&value, p, sizeof value);
  return value;
}
static inline uint64_t etbk_hash_read64(const unsigned char* p) {
  uint64_t value;
  __builtin_memcpy(&value, p, sizeof value);
  return value;
}
#else
static inline uint32_t etbk_hash_read32(const unsigned char* p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t etbk_hash_read64(const unsigned char* p) {
  return (uint64_t)etbk_hash_read32(p) | (uint64_t)etbk_hash_read32(p + 4) << 32;
}
#endif

static inline uint64_t etbk_hash_rotate(uint64_t x, int bits) {
  return (x << bits) | (x >> (64 - bits));
}

/* The two halves of a 128-bit product, joined. */
static inline uint64_t etbk_hash_fold(uint64_t a, uint64_t b) {
  const uint64_t al = a & UINT32_MAX;
  const uint64_t ah = a >> 32;
  const uint64_t bl = b & UINT32_MAX;
  const uint64_t bh = b >> 32;
  const uint64_t low = al * bl;
  const uint64_t cross = (low >> 32) + (ah * bl & UINT32_MAX) + al * bh;
  const uint64_t high = ah * bh + (ah * bl >> 32) + (cross >> 32);
  return (cross << 32 | (low & UINT32_MAX)) ^ high;
}

static inline uint64_t etbk_hash_settle(uint64_t x) {
  x = (x ^ x >> 37) * UINT64_C(0x165667919E3779F9);
  return x ^ x >> 32;
}

static inline uint64_t etbk_hash_settle_more(uint64_t x) {
  x = (x ^ x >> 33) * ETBK_HASH_P2;
  x = (x ^ x >> 29) * ETBK_HASH_P3;
  return x ^ x >> 32;
}

static inline uint64_t etbk_hash_mix(const unsigned char* p, const unsigned char* secret) {
  return etbk_hash_fold(etbk_hash_read64(p) ^ etbk_hash_read64(secret),
                        etbk_hash_read64(p + 8) ^ etbk_hash_read64(secret + 8));
}

/* At most 16 bytes. */
static inline uint64_t etbk_hash_tiny(const unsigned char* p, size_t size) {
  const unsigned char* const s = etbk_hash_secret();
  uint64_t x;
  if (size > 8) {
    const uint64_t low = etbk_hash_read64(p) ^ etbk_hash_read64(s + 24) ^ etbk_hash_read64(s + 32);
    const uint64_t high =
        etbk_hash_read64(p + size - 8) ^ etbk_hash_read64(s + 40) ^ etbk_hash_read64(s + 48);
    uint64_t turned = 0;
    int i;
    for (i = 0; i < 8; ++i) {
      turned = turned << 8 | (low >> (8 * i) & 255);
    }
    return etbk_hash_settle(size + turned + high + etbk_hash_fold(low, high));
  }
  if (size >= 4) {
    x = etbk_hash_read32(p + size - 4) + ((uint64_t)etbk_hash_read32(p) << 32);
    x ^= etbk_hash_read64(s + 8) ^ etbk_hash_read64(s + 16);
    x ^= etbk_hash_rotate(x, 49) ^ etbk_hash_rotate(x, 24);
    x *= UINT64_C(0x9FB21C651E98DF25);
    x ^= (x >> 35) + size;
    x *= UINT64_C(0x9FB21C651E98DF25);
    return x ^ x >> 28;
  }
  if (size > 0) {
    x = (uint64_t)p[0] << 16 | (uint64_t)p[size >> 1] << 24 | p[size - 1] | (uint64_t)size << 8;
    return etbk_hash_settle_more(x ^ (etbk_hash_read32(s) ^ etbk_hash_read32(s + 4)));
  }
  return etbk_hash_settle_more(etbk_hash_read64(s + 56) ^ etbk_hash_read64(s + 64));
}

/* At most 240 bytes. */
static inline uint64_t etbk_hash_short(const unsigned char* p, size_t size) {
  const unsigned char* const s = etbk_hash_secret();
  uint64_t sum = size * ETBK_HASH_P1;
  size_t i;
  if (size <= 16) {
    return etbk_hash_tiny(p, size);
  }
  if (size <= 128) {
    for (i = (size - 1) / 32 + 1; i-- > 0;) {
      sum += etbk_hash_mix(p + 16 * i, s + 32 * i);
      sum += etbk_hash_mix(p + size - 16 * (i + 1), s + 32 * i + 16);
    }
    return etbk_hash_settle(sum);
  }
  for (i = 0; i < 8; ++i) {
    sum += etbk_hash_mix(p + 16 * i, s + 16 * i);
  }
  sum = etbk_hash_settle(sum);
  for (; i < size / 16; ++i) {
    sum += etbk_hash_mix(p + 16 * i, s + 16 * (i - 8) + 3);
  }
  return etbk_hash_settle(sum + etbk_hash_mix(p + size - 16, s + 119));
}

/* Takes `count` stripes in a row into the lanes, each with its part of the secret. */
static inline void etbk_hash_stripes(uint64_t* lanes, const unsigned char* p, size_t count,
                                     const unsigned char* secret) {
#if defined(__GNUC__) && defined(__SSE2__)
  __m128i sums[4];
  int i;
  for (i = 0; i < 4; ++i) {
    sums[i] = _mm_loadu_si128((const __m128i*)(const void*)(lanes + 2 * i));
  }
  for (; count > 0; --count, p += ETBK_HASH_STRIPE, secret += 8) {
    _mm_prefetch((const char*)((uintptr_t)p + 384), _MM_HINT_T0);
    for (i = 0; i < 4; ++i) {
      const __m128i data = _mm_loadu_si128((const __m128i*)(const void*)(p + 16 * i));
      const __m128i keyed =
          _mm_xor_si128(data, _mm_loadu_si128((const __m128i*)(const void*)(secret + 16 * i)));
      const __m128i product = _mm_mul_epu32(keyed, _mm_shuffle_epi32(keyed, 0x31));
      sums[i] = _mm_add_epi64(product, _mm_add_epi64(sums[i], _mm_shuffle_epi32(data, 0x4e)));
    }
  }
  for (i = 0; i < 4; ++i) {
    _mm_storeu_si128((__m128i*)(void*)(lanes + 2 * i), sums[i]);
  }
#elif defined(__GNUC__) && defined(__aarch64__) && defined(__ARM_NEON)
  uint64x2_t sums[4];
  int i;
  for (i = 0; i < 4; ++i) {
    sums[i] = vld1q_u64(lanes + 2 * i);
  }
  for (; count > 0; --count, p += ETBK_HASH_STRIPE, secret += 8) {
    for (i = 0; i < 4; ++i) {
      const uint64x2_t data = vreinterpretq_u64_u8(vld1q_u8(p + 16 * i));
      const uint64x2_t keyed = veorq_u64(data, vreinterpretq_u64_u8(vld1q_u8(secret + 16 * i)));
      sums[i] = vaddq_u64(sums[i], vextq_u64(data, data, 1));
      sums[i] = vmlal_u32(sums[i], vmovn_u64(keyed), vshrn_n_u64(keyed, 32));
    }
  }
  for (i = 0; i < 4; ++i) {
    vst1q_u64(lanes + 2 * i, sums[i]);
  }
#else
  int i;
  for (; count > 0; --count, p += ETBK_HASH_STRIPE, secret += 8) {
    for (i = 0; i < 8; ++i) {
      const uint64_t data = etbk_hash_read64(p + 8 * i);
      const uint64_t keyed = data ^ etbk_hash_read64(secret + 8 * i);
      lanes[i ^ 1] += data;
      lanes[i] += (keyed & UINT32_MAX) * (keyed >> 32);
    }
  }
#endif
}

/* How stripes are taken: etbk_hash_stripes, or the same for a special processor. */
typedef void (*EtbkHashStripes)(uint64_t* lanes, const unsigned char* p, size_t count,
                                const unsigned char* secret);

static inline void etbk_hash_blocks(EtbkHash* hash, const unsigned char* p, size_t count,
                                    EtbkHashStripes take) {
  const unsigned char* const secret = etbk_hash_secret();
  while (count > 0) {
    const size_t room = 16 - hash->stripe;
    const size_t now = count < room ? count : room;
    take(hash->lanes, p, now, secret + 8 * hash->stripe);
    p += ETBK_HASH_STRIPE * now;
    count -= now;
    hash->stripe += (uint32_t)now;
    if (hash->stripe == 16) { /* the end of a block */
      int i;
      for (i = 0; i < 8; ++i) {
        const uint64_t lane = hash->lanes[i];
        hash->lanes[i] =
            (lane ^ lane >> 47 ^ etbk_hash_read64(secret + 128 + 8 * i)) * ETBK_HASH_P32_1;
      }
      hash->stripe = 0;
    }
  }
}

static inline void etbk_hash_begin(EtbkHash* hash) {
  hash->lanes[0] = ETBK_HASH_P32_3;
  hash->lanes[1] = ETBK_HASH_P1;
  hash->lanes[2] = ETBK_HASH_P2;
  hash->lanes[3] = ETBK_HASH_P3;
  hash->lanes[4] = ETBK_HASH_P4;
  hash->lanes[5] = ETBK_HASH_P32_2;
  hash->lanes[6] = ETBK_HASH_P5;
  hash->lanes[7] = ETBK_HASH_P32_1;
  hash->total = 0;
  hash->stripe = 0;
  hash->kept = 0;
}

/* Adds bytes. Those that may be the last 64 of all are kept back. */
static inline void etbk_hash_add_with(EtbkHash* hash, const void* data, size_t size,
                                      EtbkHashStripes take) {
  const unsigned char* p = (const unsigned char*)data;
  size_t i;
  hash->total += size;
  if (size > ETBK_HASH_ROOM - hash->kept) {
    if (hash->kept > 0) {
      for (; hash->kept < ETBK_HASH_ROOM; --size) {
        hash->rest[hash->kept++] = *p++;
      }
      etbk_hash_blocks(hash, hash->rest, ETBK_HASH_ROOM / ETBK_HASH_STRIPE, take);
      hash->kept = 0;
    }
    if (size > ETBK_HASH_ROOM) {
      const size_t count = (size - 1) / ETBK_HASH_STRIPE;
      etbk_hash_blocks(hash, p, count, take);
      p += ETBK_HASH_STRIPE * count;
      size -= ETBK_HASH_STRIPE * count;
      for (i = 0; i < ETBK_HASH_STRIPE; ++i) {
        hash->rest[ETBK_HASH_ROOM - ETBK_HASH_STRIPE + i] = (p - ETBK_HASH_STRIPE)[i];
      }
    }
  }
  for (i = 0; i < size; ++i) {
    hash->rest[hash->kept++] = p[i];
  }
}

static inline void etbk_hash_add(EtbkHash* hash, const void* data, size_t size) {
  etbk_hash_add_with(hash, data, size, etbk_hash_stripes);
}

static inline uint64_t etbk_hash_end(const EtbkHash* hash) {
  const unsigned char* const secret = etbk_hash_secret();
  EtbkHash end;
  unsigned char last[ETBK_HASH_STRIPE];
  uint64_t result = hash->total * ETBK_HASH_P1;
  size_t i;
  if (hash->total <= 240) {
    return etbk_hash_short(hash->rest, (size_t)hash->total);
  }
  for (i = 0; i < 8; ++i) {
    end.lanes[i] = hash->lanes[i];
  }
  end.stripe = hash->stripe;
  etbk_hash_blocks(&end, hash->rest, (hash->kept - 1) / ETBK_HASH_STRIPE, etbk_hash_stripes);
  /* The last 64 bytes, once more; those that are no longer in front are at the end of `rest`. */
  for (i = 0; i < ETBK_HASH_STRIPE; ++i) {
    last[i] = hash->rest[(hash->kept + ETBK_HASH_ROOM - ETBK_HASH_STRIPE + i) % ETBK_HASH_ROOM];
  }
  etbk_hash_stripes(end.lanes, last, 1, secret + 121);
  for (i = 0; i < 4; ++i) {
    result += etbk_hash_fold(end.lanes[2 * i] ^ etbk_hash_read64(secret + 11 + 16 * i),
                             end.lanes[2 * i + 1] ^ etbk_hash_read64(secret + 19 + 16 * i));
  }
  return etbk_hash_settle(result);
}

static inline uint64_t etbk_hash_of(const void* data, size_t size) {
  EtbkHash hash;
  etbk_hash_begin(&hash);
  etbk_hash_add(&hash, data, size);
  return etbk_hash_end(&hash);
}

#endif /* EXECUTORCH_BACKEND_KIT_PAYLOAD_HASH_H */
