/* ExecuTorch Backend Kit: the reader of the compatibility envelope around a backend's blob.
 *
 * C99 and C++, freestanding, without allocation: a backend, a host and a tool read the same way.
 * The format is specified byte by byte in docs/formats/envelope.md. Reading looks at the header
 * only, never at the payload. Licence: BSD-3-Clause.
 */
#ifndef EXECUTORCH_BACKEND_KIT_ENVELOPE_H
#define EXECUTORCH_BACKEND_KIT_ENVELOPE_H

#include <executorch_backend_kit/payload_hash.h>
#include <stddef.h>
#include <stdint.h>

#define ETBK_ENVELOPE_MAJOR 1u
#define ETBK_ENVELOPE_MINOR 0u
#define ETBK_ENVELOPE_FIXED_SIZE 160u /* of version 1.0, before the named data and the texts */

/* What the payload's hash is. */
enum { ETBK_PAYLOAD_HASH_NONE = 0, ETBK_PAYLOAD_HASH_XXH3 = 1, ETBK_PAYLOAD_HASH_SHA256 = 2 };

typedef struct EtbkEnvelopeText {
  const char* data; /* UTF-8, not zero-terminated */
  size_t size;
} EtbkEnvelopeText;

/* A read envelope: views into the blob, valid as long as its memory. */
typedef struct EtbkEnvelope {
  uint32_t major;
  uint32_t minor;
  size_t header_size; /* where the payload begins: a multiple of payload_alignment */
  uint64_t payload_size;
  uint32_t payload_alignment; /* a power of two */
  uint32_t hash_kind;         /* ETBK_PAYLOAD_HASH_... */
  const unsigned char* hash;  /* 32 bytes; XXH3 fills the first 8, little-endian */
  uint32_t blob_format;
  uint32_t oldest_reader; /* the oldest backend blob format whose readers understand this one */
  uint32_t named_count;
  EtbkEnvelopeText backend_id;
  EtbkEnvelopeText backend_version;
  EtbkEnvelopeText package; /* of the ahead-of-time side */
  EtbkEnvelopeText executorch_version;
  EtbkEnvelopeText torch_version;
  EtbkEnvelopeText arch;     /* "any", or as in etbk_envelope_arch() */
  EtbkEnvelopeText features; /* of the target, the vendor's words, separated by commas */
  EtbkEnvelopeText device;   /* the vendor's word; empty = any */
  const unsigned char* named;
} EtbkEnvelope;

typedef struct EtbkEnvelopeNamed {
  EtbkEnvelopeText key;
  uint64_t size;
  uint64_t hash; /* XXH3 of the content */
} EtbkEnvelopeNamed;

/* Results of reading. X(NAME, value, text) */
#define ETBK_ENVELOPE_RESULT_LIST(X)                                              \
  X(OK, 0, "the envelope is sound")                                               \
  X(ABSENT, 1, "the blob has no envelope")                                        \
  X(TRUNCATED, 2, "the blob ends inside its envelope")                            \
  X(TOO_NEW, 3, "the envelope is of a newer major version than this reader")      \
  X(DAMAGED, 4, "the envelope is damaged: its checksum does not match its bytes") \
  X(INVALID, 5, "the envelope's fields contradict each other")

enum {
#define ETBK_ENVELOPE_ENUMERATOR(name, value, text) ETBK_ENVELOPE_##name = value,
  ETBK_ENVELOPE_RESULT_LIST(ETBK_ENVELOPE_ENUMERATOR)
#undef ETBK_ENVELOPE_ENUMERATOR
};

static inline const char* etbk_envelope_result_text(int result) {
  switch (result) {
#define ETBK_ENVELOPE_CASE(name, value, text) \
  case value:                                 \
    return text;
    ETBK_ENVELOPE_RESULT_LIST(ETBK_ENVELOPE_CASE)
#undef ETBK_ENVELOPE_CASE
    default:
      return "unknown";
  }
}

/* The name of the processor this file was compiled for. */
static inline const char* etbk_envelope_arch(void) {
#if defined(__x86_64__) || defined(_M_X64)
  return "x86_64";
#elif defined(__aarch64__) || defined(_M_ARM64)
  return "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
  return "riscv64";
#elif defined(__riscv)
  return "riscv32";
#elif defined(__arm__) || defined(_M_ARM)
  return "arm";
#elif defined(__i386__) || defined(_M_IX86)
  return "i386";
#else
  return "unknown";
#endif
}

static inline int etbk_envelope_is_there(const void* blob, size_t size) {
  static const unsigned char magic[8] = {'E', 'T', 'B', 'K', 'E', 'N', 'V', 0x1a};
  const unsigned char* p = (const unsigned char*)blob;
  size_t i;
  if (!blob || size < 8) {
    return 0;
  }
  for (i = 0; i < 8; ++i) {
    if (p[i] != magic[i]) {
      return 0;
    }
  }
  return 1;
}

static inline int etbk_envelope_text(const unsigned char* p, size_t header_size, size_t at,
                                     EtbkEnvelopeText* text) {
  const uint32_t offset = etbk_hash_read32(p + at);
  const uint32_t size = etbk_hash_read32(p + at + 4);
  if (offset > header_size || size > header_size - offset) {
    return 0;
  }
  text->data = (const char*)p + offset;
  text->size = size;
  return 1;
}

/* Reads the envelope at the start of `blob`. `size` is what is readable, at least the header: with
 * the whole blob give its size; `blob_size` is the whole blob's size. Writes `envelope` on OK only.
 */
static inline int etbk_envelope_read(const void* blob, size_t size, uint64_t blob_size,
                                     EtbkEnvelope* envelope) {
  static const unsigned char zeros[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  const unsigned char* p = (const unsigned char*)blob;
  EtbkEnvelope e;
  EtbkEnvelopeText* texts[8];
  EtbkHash hash;
  uint32_t named_offset;
  size_t i;
  if (!etbk_envelope_is_there(blob, size)) {
    return ETBK_ENVELOPE_ABSENT;
  }
  if (size < ETBK_ENVELOPE_FIXED_SIZE) {
    return ETBK_ENVELOPE_TRUNCATED;
  }
  e.major = (uint32_t)p[8] | (uint32_t)p[9] << 8;
  e.minor = (uint32_t)p[10] | (uint32_t)p[11] << 8;
  if (e.major > ETBK_ENVELOPE_MAJOR) {
    return ETBK_ENVELOPE_TOO_NEW;
  }
  e.header_size = etbk_hash_read32(p + 12);
  if (e.header_size < ETBK_ENVELOPE_FIXED_SIZE) {
    return ETBK_ENVELOPE_INVALID;
  }
  if (e.header_size > size) {
    return ETBK_ENVELOPE_TRUNCATED;
  }
  etbk_hash_begin(&hash);
  etbk_hash_add(&hash, p, 16);
  etbk_hash_add(&hash, zeros, 8);
  etbk_hash_add(&hash, p + 24, e.header_size - 24);
  if (etbk_hash_end(&hash) != etbk_hash_read64(p + 16)) {
    return ETBK_ENVELOPE_DAMAGED;
  }
  e.payload_size = etbk_hash_read64(p + 24);
  e.hash = p + 32;
  e.hash_kind = etbk_hash_read32(p + 64);
  e.payload_alignment = etbk_hash_read32(p + 68);
  e.blob_format = etbk_hash_read32(p + 72);
  e.oldest_reader = etbk_hash_read32(p + 76);
  e.named_count = etbk_hash_read32(p + 80);
  named_offset = etbk_hash_read32(p + 84);
  if (e.major == 0 || e.payload_alignment == 0 ||
      (e.payload_alignment & (e.payload_alignment - 1)) != 0 ||
      e.header_size % e.payload_alignment != 0 || e.oldest_reader > e.blob_format ||
      named_offset > e.header_size || named_offset % 8 != 0 ||
      e.named_count > (e.header_size - named_offset) / 24) {
    return ETBK_ENVELOPE_INVALID;
  }
  e.named = p + named_offset;
  texts[0] = &e.backend_id;
  texts[1] = &e.backend_version;
  texts[2] = &e.package;
  texts[3] = &e.executorch_version;
  texts[4] = &e.torch_version;
  texts[5] = &e.arch;
  texts[6] = &e.features;
  texts[7] = &e.device;
  for (i = 0; i < 8; ++i) {
    if (!etbk_envelope_text(p, e.header_size, 88 + 8 * i, texts[i])) {
      return ETBK_ENVELOPE_INVALID;
    }
  }
  for (i = 0; i < e.named_count; ++i) {
    EtbkEnvelopeText key;
    if (!etbk_envelope_text(p, e.header_size, named_offset + 24 * i, &key)) {
      return ETBK_ENVELOPE_INVALID;
    }
  }
  if (blob_size < e.header_size || e.payload_size > blob_size - e.header_size) {
    return ETBK_ENVELOPE_TRUNCATED;
  }
  *envelope = e;
  return ETBK_ENVELOPE_OK;
}

/* Entry `index` of the named data that the blob needs; `index` below named_count. */
static inline EtbkEnvelopeNamed etbk_envelope_named(const void* blob, const EtbkEnvelope* envelope,
                                                    uint32_t index) {
  const unsigned char* entry = envelope->named + 24 * (size_t)index;
  EtbkEnvelopeNamed named;
  named.key.data = (const char*)blob + etbk_hash_read32(entry);
  named.key.size = etbk_hash_read32(entry + 4);
  named.size = etbk_hash_read64(entry + 8);
  named.hash = etbk_hash_read64(entry + 16);
  return named;
}

/* How a blob fits, numbered as ETBK_BLOB_... of plugin.h. X(NAME, grade, sentence, cure) */
#define ETBK_ENVELOPE_VERDICT_LIST(X)                                                            \
  X(FITS, 0, "the blob fits", "")                                                                \
  X(NEWER_BUT_READABLE, 1, "the blob is of a newer format that this backend can still read",     \
    "update the backend")                                                                        \
  X(MISALIGNED, 1, "the blob's payload is not aligned in memory as it was made for",             \
    "load the file by mapping it, or export with a larger segment_alignment")                    \
  X(FORMAT_TOO_OLD, 2, "the blob is of an older format than this backend reads",                 \
    "export the model again with the installed package")                                         \
  X(OTHER_BACKEND, 3, "the blob was made for another backend",                                   \
    "the file was put together wrongly: export the model again")                                 \
  X(FORMAT_TOO_NEW, 3, "the blob is of a newer format than this backend reads",                  \
    "update the backend, or export with an older package")                                       \
  X(OTHER_ARCH, 3, "the blob was compiled for another processor", "export for this processor")   \
  X(TOO_NEW_ENVELOPE, 3, "the blob's envelope is newer than this host", "update the kit's host") \
  X(DAMAGED_ENVELOPE, 3, "the blob's envelope is damaged", "copy or export the file again")      \
  X(CUT_SHORT, 3, "the blob ends before its payload does", "copy or export the file again")

enum {
#define ETBK_ENVELOPE_ENUMERATOR(name, grade, text, cure) ETBK_VERDICT_##name,
  ETBK_ENVELOPE_VERDICT_LIST(ETBK_ENVELOPE_ENUMERATOR)
#undef ETBK_ENVELOPE_ENUMERATOR
};

typedef struct EtbkEnvelopeVerdict {
  uint32_t grade;       /* as ETBK_BLOB_OPTIMAL, _USABLE, _NEEDS_REBUILD, _UNUSABLE */
  const char* sentence; /* static */
  const char* cure;     /* static */
} EtbkEnvelopeVerdict;

static inline EtbkEnvelopeVerdict etbk_envelope_verdict(int verdict) {
  static const EtbkEnvelopeVerdict all[] = {
#define ETBK_ENVELOPE_ROW(name, grade, text, cure) {grade, text, cure},
      ETBK_ENVELOPE_VERDICT_LIST(ETBK_ENVELOPE_ROW)
#undef ETBK_ENVELOPE_ROW
  };
  return all[verdict];
}

/* What a backend reads; as in EtbkBackendInfo. `arch` is the machine's, zero-terminated. */
typedef struct EtbkEnvelopeReader {
  const char* id;
  size_t id_size;
  uint32_t format_oldest;
  uint32_t format_newest;
  const char* arch;
} EtbkEnvelopeReader;

static inline int etbk_envelope_same(EtbkEnvelopeText text, const char* other, size_t size) {
  size_t i;
  if (text.size != size) {
    return 0;
  }
  for (i = 0; i < size; ++i) {
    if (text.data[i] != other[i]) {
      return 0;
    }
  }
  return 1;
}

/* Grades a blob for a backend from its envelope alone; returns ETBK_VERDICT_.... A blob without
 * envelope fits as far as can be known. `envelope` is written when the result of reading, returned
 * in `result`, is OK. */
static inline int etbk_envelope_grade(const void* blob, size_t size, uint64_t blob_size,
                                      const EtbkEnvelopeReader* reader, EtbkEnvelope* envelope,
                                      int* result) {
  size_t arch_size = 0;
  *result = etbk_envelope_read(blob, size, blob_size, envelope);
  switch (*result) {
    case ETBK_ENVELOPE_OK:
      break;
    case ETBK_ENVELOPE_ABSENT:
      return ETBK_VERDICT_FITS;
    case ETBK_ENVELOPE_TOO_NEW:
      return ETBK_VERDICT_TOO_NEW_ENVELOPE;
    case ETBK_ENVELOPE_TRUNCATED:
      return ETBK_VERDICT_CUT_SHORT;
    default:
      return ETBK_VERDICT_DAMAGED_ENVELOPE;
  }
  if (!etbk_envelope_same(envelope->backend_id, reader->id, reader->id_size)) {
    return ETBK_VERDICT_OTHER_BACKEND;
  }
  while (reader->arch[arch_size] != 0) {
    ++arch_size;
  }
  if (envelope->arch.size != 0 && !etbk_envelope_same(envelope->arch, "any", 3) &&
      !etbk_envelope_same(envelope->arch, reader->arch, arch_size)) {
    return ETBK_VERDICT_OTHER_ARCH;
  }
  if (envelope->oldest_reader > reader->format_newest) {
    return ETBK_VERDICT_FORMAT_TOO_NEW;
  }
  if (envelope->blob_format < reader->format_oldest) {
    return ETBK_VERDICT_FORMAT_TOO_OLD;
  }
  if (((uintptr_t)blob & (envelope->payload_alignment - 1)) != 0) {
    return ETBK_VERDICT_MISALIGNED;
  }
  return envelope->blob_format > reader->format_newest ? ETBK_VERDICT_NEWER_BUT_READABLE
                                                       : ETBK_VERDICT_FITS;
}

#endif /* EXECUTORCH_BACKEND_KIT_ENVELOPE_H */
