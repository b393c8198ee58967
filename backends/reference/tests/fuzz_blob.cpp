// Feeds damaged blobs to the parser and runs what it accepts. A libFuzzer target (with
// -DREFERENCE_LIBFUZZER), and a program: fuzz_blob ROUNDS SEED-FILE prints how many ran and how
// many were rejected.
#include "model.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

namespace {

unsigned long ran = 0;
unsigned long rejected = 0;

// As the plugin does with a blob: weights in place where they are aligned, sizes at their largest.
void load_and_run(etbk::Bytes blob, bool copy_weights) {
  reference::Program program = reference::parse_blob(blob);
  const etbk::Bytes weights(blob.data() + program.header.weights_offset,
                            program.key.empty() ? program.header.weights_size : 0);
  reference::Model model(std::move(program), weights, copy_weights);
  std::vector<int64_t> smallest;
  for (const reference::Symbol& symbol : model.program().symbols) {
    smallest.push_back(symbol.minimum);
  }
  for (int round = 0; round < 2; ++round) {
    for (const uint32_t input : model.program().inputs) {
      if (input != reference::kNone) {
        const reference::View& view = model.view(input);
        std::fill_n(view.data, view.elements(), 0.5F);
      }
    }
    reference::Device::open().run(model.job());
    for (const uint32_t output : model.program().outputs) {
      std::vector<float> result(static_cast<size_t>(model.view(output).elements()));
      reference::Device::copy_out(result.data(), model.view(output).data,
                                  model.view(output).bytes());
    }
    model.set_symbols(smallest);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  reference::Device::memory_limit = size_t{256} << 10;
  // 16 bytes past an aligned address, as memory from malloc may be.
  auto* const aligned = static_cast<uint8_t*>(std::aligned_alloc(64, (size + 16 + 63) / 64 * 64));
  for (const size_t shift : {size_t{0}, size_t{16}}) {
    std::copy_n(data, size, aligned + shift);
    try {
      load_and_run(etbk::Bytes(aligned + shift, size), shift != 0);
      ++ran;
    } catch (const etbk::Error& error) {
      rejected += error.text().empty() ? 0 : 1;
    }
  }
  std::free(aligned);
  return 0;
}

#if !defined(REFERENCE_LIBFUZZER)
int main(int argc, char** argv) {
  if (argc != 3) {
    return 2;
  }
  std::ifstream file(argv[2], std::ios::binary);
  const std::vector<uint8_t> seed{std::istreambuf_iterator<char>(file), {}};
  std::mt19937 random(1);
  for (long round = std::atol(argv[1]); round > 0; --round) {
    std::vector<uint8_t> blob = seed;
    for (uint32_t changes = random() % 3 + 1; changes > 0; --changes) {
      uint8_t& byte = blob[random() % blob.size()];
      byte = static_cast<uint8_t>(random() % 2 != 0 ? random() : random() % 4);
    }
    if (random() % 16 == 0) {
      blob.resize(random() % blob.size());
    }
    LLVMFuzzerTestOneInput(blob.data(), blob.size());
  }
  std::printf("%lu %lu\n", ran, rejected);
  std::fflush(stdout);
  // The process ends while a thread is still busy with the device: nothing hangs or crashes.
  std::thread([] {
    reference::Job job;
    while (true) {
      try {
        reference::Device::open().run(job);
      } catch (const etbk::Error&) {
        std::this_thread::sleep_for(std::chrono::hours(1));
      }
    }
  }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}
#endif
