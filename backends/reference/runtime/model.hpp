// A blob made ready on the device: its weights, its registers, its commands.
#pragma once

#include "device.hpp"

namespace reference {

class Model {
 public:
  // `weights` is what the program refers to. The device uses it in place if it can and
  // `copy_weights` is not set; then it must outlive the model. Throws INCOMPATIBLE_BLOB or
  // BACKEND_OUT_OF_MEMORY.
  Model(Program program, etbk::Bytes weights, bool copy_weights);

  const Program& program() const { return program_; }
  bool has_copied_weights() const { return has_copied_weights_; }

  // Gives the symbols their values, within their bounds, and with them each value its sizes.
  void set_symbols(const std::vector<int64_t>& symbols);

  // A value at its current sizes.
  const View& view(uint32_t value) const { return views_[value]; }

  Job& job() { return job_; }

 private:
  Program program_;
  Memory weights_;
  bool has_copied_weights_;
  std::vector<Memory> registers_;
  std::vector<View> views_;  // of the values
  Job job_;
};

}  // namespace reference
