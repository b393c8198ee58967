// Runs a fuzz target without libFuzzer: the seeds, and a fixed number of random changes to them.
//
//   TARGET COUNT SEED-FILE...      the same inputs on every run
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

void change(Bytes* bytes, std::mt19937* random) {
  const auto any = [&](std::size_t below) { return below == 0 ? 0 : (*random)() % below; };
  const std::size_t at = any(bytes->size());
  switch (any(6)) {
    case 0:
      bytes->resize(at);
      return;
    case 1:
      bytes->insert(bytes->begin() + static_cast<std::ptrdiff_t>(at),
                    static_cast<std::uint8_t>((*random)()));
      return;
    case 2:  // an extreme number
      for (std::size_t i = at; i < bytes->size() && i < at + 8; ++i) {
        (*bytes)[i] = any(2) == 0 ? 0xff : 0x7f;
      }
      return;
    case 3: {  // a piece again, elsewhere
      const Bytes piece(bytes->begin() + static_cast<std::ptrdiff_t>(at),
                        bytes->begin() + static_cast<std::ptrdiff_t>(at + any(bytes->size() - at)));
      bytes->insert(bytes->begin() + static_cast<std::ptrdiff_t>(any(bytes->size())), piece.begin(),
                    piece.end());
      return;
    }
    default:
      if (!bytes->empty()) {
        (*bytes)[at] = static_cast<std::uint8_t>((*random)());
      }
  }
}

Bytes read(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace

int main(int count, char** values) {
  if (count < 3) {
    std::fprintf(stderr, "usage: %s COUNT SEED-FILE...\n", values[0]);
    return 2;
  }
  const long rounds = std::strtol(values[1], nullptr, 10);
  std::mt19937 random(20260101);
  long inputs = 0;
  for (int i = 2; i < count; ++i) {
    const Bytes seed = read(values[i]);
    if (seed.empty()) {
      std::fprintf(stderr, "the seed %s cannot be read\n", values[i]);
      return 2;
    }
    LLVMFuzzerTestOneInput(seed.data(), seed.size());
    for (long round = 0; round < rounds; ++round) {
      Bytes bytes = seed;
      for (unsigned changes = 1 + random() % 8; changes != 0; --changes) {
        change(&bytes, &random);
      }
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
      ++inputs;
    }
  }
  std::printf("%ld inputs\n", inputs);
  return 0;
}
