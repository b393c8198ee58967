// Replaces every form of operator new that the tests reach. Licence: BSD-3-Clause.
#include "heap_counter.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<int> count{0};

int heap_allocations() { return count; }

void* operator new(std::size_t size) {
  ++count;
  if (void* const block = std::malloc(size == 0 ? 1 : size)) {
    return block;
  }
  std::abort();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++count;
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { std::free(block); }
