// AVX2 where the processor has it; else what the header compiles to.
// Licence: BSD-3-Clause.
#include "fast_hash.hpp"

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define ETBK_PTE_HAS_AVX2
#endif

namespace etbk::pte {
namespace {

#ifdef ETBK_PTE_HAS_AVX2
#define ETBK_LOAD(from) _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))
#define ETBK_PRODUCT(x) _mm256_mul_epu32(x, _mm256_shuffle_epi32(x, 0x31))

__attribute__((target("avx2"))) void stripes_avx2(uint64_t* lanes, const unsigned char* p,
                                                  size_t count, const unsigned char* secret) {
  __m256i low = ETBK_LOAD(lanes);
  __m256i high = ETBK_LOAD(lanes + 4);
  for (; count > 0; --count, p += ETBK_HASH_STRIPE, secret += 8) {
    _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(p) + 512), _MM_HINT_T0);
    const __m256i first = ETBK_LOAD(p);
    const __m256i second = ETBK_LOAD(p + 32);
    const __m256i first_keyed = _mm256_xor_si256(first, ETBK_LOAD(secret));
    const __m256i second_keyed = _mm256_xor_si256(second, ETBK_LOAD(secret + 32));
    low = _mm256_add_epi64(low, _mm256_shuffle_epi32(first, 0x4e));
    high = _mm256_add_epi64(high, _mm256_shuffle_epi32(second, 0x4e));
    low = _mm256_add_epi64(low, ETBK_PRODUCT(first_keyed));
    high = _mm256_add_epi64(high, ETBK_PRODUCT(second_keyed));
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), low);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes + 4), high);
}

#undef ETBK_LOAD
#undef ETBK_PRODUCT
#endif

EtbkHashStripes fastest() {
#ifdef ETBK_PTE_HAS_AVX2
  if (__builtin_cpu_supports("avx2") != 0) {
    return stripes_avx2;
  }
#endif
  return etbk_hash_stripes;
}

}  // namespace

FastHash::FastHash() : hash_(), take_(fastest()) { etbk_hash_begin(&hash_); }

}  // namespace etbk::pte
