/* ExecuTorch Backend Kit: the hash of a blob's payload, XXH64 with seed 0.
 *
 * C99 and C++, freestanding, without allocation. Bytes may come in pieces. The algorithm is public
 * (BSD-2-Clause specification of xxHash); `xxhsum -H64` gives the same number. It finds corruption,
 * not forgery. Licence: BSD-3-Clause.
 */
#ifndef EXECUTORCH_BACKEND_KIT_PAYLOAD_HASH_H
#define EXECUTORCH_BACKEND_KIT_PAYLOAD_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct EtbkHash {
  uint64_t lanes[4];
  uint64_t total;
  unsigned char rest[32]; /* what does not fill a stripe yet */
} EtbkHash;

#define ETBK_HASH_P1 UINT64_C(0x9E3779B185EBCA87)
#define ETBK_HASH_P2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define ETBK_HASH_P3 UINT64_C(0x165667B19E3779F9)
#define ETBK_HASH_P4 UINT64_C(0x85EBCA77C2B2AE63)
#define ETBK_HASH_P5 UINT64_C(0x27D4EB2F165667C5)

static inline uint64_t etbk_hash_rotate(uint64_t x, int bits) {
  return (x << bits) | (x >> (64 - bits));
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

static inline uint64_t etbk_hash_round(uint64_t lane, uint64_t input) {
  return etbk_hash_rotate(lane + input * ETBK_HASH_P2, 31) * ETBK_HASH_P1;
}

static inline void etbk_hash_begin(EtbkHash* hash) {
  hash->lanes[0] = ETBK_HASH_P1 + ETBK_HASH_P2;
  hash->lanes[1] = ETBK_HASH_P2;
  hash->lanes[2] = 0;
  hash->lanes[3] = UINT64_C(0) - ETBK_HASH_P1;
  hash->total = 0;
}

static inline void etbk_hash_add(EtbkHash* hash, const void* data, size_t size) {
  const unsigned char* p = (const unsigned char*)data;
  const size_t kept = (size_t)(hash->total & 31);
  uint64_t a = hash->lanes[0];
  uint64_t b = hash->lanes[1];
  uint64_t c = hash->lanes[2];
  uint64_t d = hash->lanes[3];
  hash->total += size;
  if (kept > 0) {
    size_t i = kept;
    while (i < 32 && size > 0) {
      hash->rest[i++] = *p++;
      --size;
    }
    if (i < 32) {
      return;
    }
    a = etbk_hash_round(a, etbk_hash_read64(hash->rest));
    b = etbk_hash_round(b, etbk_hash_read64(hash->rest + 8));
    c = etbk_hash_round(c, etbk_hash_read64(hash->rest + 16));
    d = etbk_hash_round(d, etbk_hash_read64(hash->rest + 24));
  }
  while (size >= 32) {
    a = etbk_hash_round(a, etbk_hash_read64(p));
    b = etbk_hash_round(b, etbk_hash_read64(p + 8));
    c = etbk_hash_round(c, etbk_hash_read64(p + 16));
    d = etbk_hash_round(d, etbk_hash_read64(p + 24));
    p += 32;
    size -= 32;
  }
  hash->lanes[0] = a;
  hash->lanes[1] = b;
  hash->lanes[2] = c;
  hash->lanes[3] = d;
  {
    size_t i = 0;
    for (; i < size; ++i) {
      hash->rest[i] = p[i];
    }
  }
}

static inline uint64_t etbk_hash_merge(uint64_t result, uint64_t lane) {
  return (result ^ etbk_hash_round(0, lane)) * ETBK_HASH_P1 + ETBK_HASH_P4;
}

static inline uint64_t etbk_hash_end(const EtbkHash* hash) {
  const unsigned char* p = hash->rest;
  size_t size = (size_t)(hash->total & 31);
  uint64_t result = ETBK_HASH_P5;
  if (hash->total >= 32) {
    result = etbk_hash_rotate(hash->lanes[0], 1) + etbk_hash_rotate(hash->lanes[1], 7) +
             etbk_hash_rotate(hash->lanes[2], 12) + etbk_hash_rotate(hash->lanes[3], 18);
    result = etbk_hash_merge(result, hash->lanes[0]);
    result = etbk_hash_merge(result, hash->lanes[1]);
    result = etbk_hash_merge(result, hash->lanes[2]);
    result = etbk_hash_merge(result, hash->lanes[3]);
  }
  result += hash->total;
  while (size >= 8) {
    result ^= etbk_hash_round(0, etbk_hash_read64(p));
    result = etbk_hash_rotate(result, 27) * ETBK_HASH_P1 + ETBK_HASH_P4;
    p += 8;
    size -= 8;
  }
  if (size >= 4) {
    result ^= etbk_hash_read32(p) * ETBK_HASH_P1;
    result = etbk_hash_rotate(result, 23) * ETBK_HASH_P2 + ETBK_HASH_P3;
    p += 4;
    size -= 4;
  }
  while (size > 0) {
    result ^= *p * ETBK_HASH_P5;
    result = etbk_hash_rotate(result, 11) * ETBK_HASH_P1;
    ++p;
    --size;
  }
  result = (result ^ (result >> 33)) * ETBK_HASH_P2;
  result = (result ^ (result >> 29)) * ETBK_HASH_P3;
  return result ^ (result >> 32);
}

static inline uint64_t etbk_hash_of(const void* data, size_t size) {
  EtbkHash hash;
  etbk_hash_begin(&hash);
  etbk_hash_add(&hash, data, size);
  return etbk_hash_end(&hash);
}

#endif /* EXECUTORCH_BACKEND_KIT_PAYLOAD_HASH_H */
