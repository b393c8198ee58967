/* The envelope read from freestanding C99. */
#include <executorch_backend_kit/envelope.h>

uint64_t payload_offset(const void* blob, size_t size);

uint64_t payload_offset(const void* blob, size_t size) {
  EtbkEnvelope envelope;
  return etbk_envelope_read(blob, size, size, &envelope) == ETBK_ENVELOPE_OK ? envelope.header_size
                                                                             : 0;
}
