// The plugin: the device behind the author API.
#include <executorch_backend_kit/envelope.h>

#include "model.hpp"

namespace {

using reference::Device;
using reference::kNone;

// Process-wide options.
constexpr std::string_view kMemoryLimit = "memory_limit_mib";
constexpr std::string_view kMemoryUsed = "memory_used_kib";  // read only
// Load-time option: true copies the weights to device memory even if it could use them in place.
constexpr std::string_view kCopyWeights = "copy_weights";

// What lies behind the envelope; all of a blob that has none. `size` is the whole blob's.
etbk::Bytes behind_envelope(etbk::Bytes bytes, uint64_t size) {
  EtbkEnvelope envelope{};
  if (etbk_envelope_read(bytes.data(), bytes.size(), size, &envelope) != ETBK_ENVELOPE_OK) {
    return bytes;
  }
  return {bytes.data() + envelope.header_size, bytes.size() - envelope.header_size};
}

etbk::Error unknown_option(std::string_view key) {
  return etbk::Error::format(ETBK_STATUS_NOT_FOUND,
                             "REFERENCE-OPTION: there is no option '%.*s'. Process-wide: "
                             "memory_limit_mib, memory_used_kib (read only). At load time: "
                             "copy_weights.",
                             static_cast<int>(key.size()), key.data());
}

class ReferenceDelegate {
 public:
  static constexpr auto info =
      etbk::Info("ReferenceBackend")
          .blob_formats(reference::kOldestFormat, reference::kNewestFormat)
          .alignment(reference::kDeviceAlignment)
          .capabilities(ETBK_CAPABILITY_DYNAMIC_SHAPES | ETBK_CAPABILITY_NAMED_DATA |
                        ETBK_CAPABILITY_PROFILING);

  static etbk::Error is_available(const etbk::HostContext&) {
    const std::string reason = Device::why_unavailable();
    return reason.empty() ? etbk::Error() : etbk::Error(ETBK_STATUS_UNAVAILABLE, reason);
  }

  static etbk::BlobGrade check_blob(const etbk::HostContext&, etbk::Bytes head, uint64_t size) {
    const etbk::Bytes payload = behind_envelope(head, size);
    return reference::judge_blob(payload, size - (head.size() - payload.size()));
  }

  static etbk::Error set_option(const etbk::HostContext&, const etbk::Option& option) {
    int64_t mebibytes = 0;
    if (option.key() != kMemoryLimit) {
      return unknown_option(option.key());
    }
    ETBK_RETURN_IF_FAILED(option.read(mebibytes));
    if (mebibytes < 0 || mebibytes > INT32_MAX) {
      return etbk::Error(ETBK_STATUS_INVALID_ARGUMENT,
                         "REFERENCE-OPTION: memory_limit_mib must be from 0 to 2147483647");
    }
    Device::memory_limit = static_cast<size_t>(mebibytes) << 20;
    return {};
  }

  static etbk::Result<etbk::OptionValue> get_option(const etbk::HostContext&,
                                                    std::string_view key) {
    if (key != kMemoryLimit && key != kMemoryUsed) {
      return unknown_option(key);
    }
    return etbk::OptionValue(static_cast<int64_t>(key == kMemoryLimit ? Device::memory_limit >> 20
                                                                      : Device::memory_used >> 10));
  }

  explicit ReferenceDelegate(const etbk::InitContext& init) : model_(load(init)) {
    Device::open();
    if (model_.has_copied_weights()) {
      named_weights_.release();
    }
    if (model_.has_copied_weights() || !model_.program().key.empty()) {
      init.release_blob();  // the program was read, and the weights lie elsewhere
    }
  }

  void execute(const etbk::ExecuteContext& run) {
    const std::vector<uint32_t>& inputs = model_.program().inputs;
    const std::vector<uint32_t>& outputs = model_.program().outputs;
    if (run.changed() || read_symbols(run) != symbols_) {  // an int may change unannounced
      accept(run);
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] != kNone) {
        const reference::View& view = model_.view(inputs[i]);
        Device::copy_in(view.data, memory(run, i), view.bytes());
      }
    }
    submit(run);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const reference::View& view = model_.view(outputs[i]);
      Device::copy_out(memory(run, inputs.size() + i), view.data, view.bytes());
    }
  }

 private:
  static void* memory(const etbk::ExecuteContext& run, size_t argument) {
    void* const data = run.data<void>(argument);
    if (data == nullptr) {
      throw etbk::Error::format(ETBK_STATUS_INVALID_ARGUMENT,
                                "REFERENCE-NO-MEMORY: argument %zu has no memory", argument);
    }
    return data;
  }

  reference::Model load(const etbk::InitContext& init) {
    for (const EtbkOption& option : init.options()) {
      if (etbk::from_abi(option.key) != kCopyWeights) {
        unknown_option(etbk::from_abi(option.key)).raise();
      }
    }
    bool copy_weights = false;
    init.read_option(kCopyWeights, copy_weights).raise();
    const etbk::Bytes payload = behind_envelope(init.blob(), init.blob().size());
    reference::Program program = reference::parse_blob(payload);
    if (program.key.empty()) {
      const etbk::Bytes weights(payload.data() + program.header.weights_offset,
                                program.header.weights_size);
      return reference::Model(std::move(program), weights, copy_weights);
    }
    etbk::Result<etbk::NamedData> named = init.named_data(program.key);
    if (!named.ok()) {
      throw etbk::Error::format(named.error().status(),
                                "REFERENCE-WEIGHTS: the weights '%s' cannot be read. Load the .pte "
                                "with the .ptd that was written with it.",
                                program.key.c_str());
    }
    named_weights_ = *std::move(named);
    return reference::Model(std::move(program), named_weights_.bytes(), copy_weights);
  }

  static int64_t size_at(const etbk::ExecuteContext& run, const reference::Symbol& symbol) {
    return symbol.axis == kNone ? run.integer(symbol.input).value()
                                : run.sizes(symbol.input)[symbol.axis];
  }

  // The symbols as the arguments have them; 0 for a size that the divisor does not divide.
  std::vector<int64_t> read_symbols(const etbk::ExecuteContext& run) const {
    std::vector<int64_t> symbols;
    for (const reference::Symbol& symbol : model_.program().symbols) {
      const int64_t size = size_at(run, symbol);
      symbols.push_back(size % symbol.divisor == 0 ? size / symbol.divisor : 0);
    }
    return symbols;
  }

  // Looks at new arguments: nobody has compared their sizes with what the model was exported for.
  void accept(const etbk::ExecuteContext& run) {
    const reference::Program& program = model_.program();
    const size_t input_count = program.inputs.size();
    symbols_.clear();
    run.check_count(input_count + program.outputs.size()).raise();
    for (size_t i = 0; i < input_count; ++i) {
      if (program.inputs[i] != kNone) {
        const uint32_t rank = program.values[program.inputs[i]].rank;
        run.check(i, etbk::Expectation(ETBK_DTYPE_FLOAT32, rank)).raise();
      }
    }
    const std::vector<int64_t> symbols = read_symbols(run);
    for (size_t i = 0; i < symbols.size(); ++i) {
      const reference::Symbol& symbol = program.symbols[i];
      if (symbols[i] < symbol.minimum || symbols[i] > symbol.maximum) {
        const auto times = static_cast<long long>(symbol.divisor);
        throw etbk::Error::format(
            ETBK_STATUS_INVALID_ARGUMENT,
            "REFERENCE-SIZE: dimension %d of input %u is %lld, the model was exported for %lld to "
            "%lld in steps of %lld (dimension -1: the input is a number)",
            static_cast<int>(symbol.axis), symbol.input,
            static_cast<long long>(size_at(run, symbol)), times * symbol.minimum,
            times * symbol.maximum, times);
      }
    }
    model_.set_symbols(symbols);
    for (size_t i = 0; i < run.count(); ++i) {
      const bool is_input = i < input_count;
      const uint32_t value = is_input ? program.inputs[i] : program.outputs[i - input_count];
      if (value == kNone) {
        continue;
      }
      const reference::View& view = model_.view(value);
      int32_t sizes[reference::kMaxRank];
      for (uint32_t axis = 0; axis < view.rank; ++axis) {
        sizes[axis] = static_cast<int32_t>(view.sizes[axis]);
      }
      if (!is_input) {
        run.resize(i, etbk::Span<const int32_t>(sizes, view.rank)).raise();
      }
      run.check(i, etbk::Expectation(ETBK_DTYPE_FLOAT32, view.rank).exactly(sizes)).raise();
    }
    symbols_ = symbols;
  }

  // Runs the commands, and tells the profiler what the device's clock saw.
  void submit(const etbk::ExecuteContext& run) {
    reference::Job& job = model_.job();
    const etbk::Profiler profiler = run.profiler();
    job.clock = profiler.listens() ? run.api() : nullptr;
    Device::open().run(job);
    for (size_t i = 0; profiler.listens() && i < job.commands.size(); ++i) {
      profiler.span(job.commands[i].operation.name, job.times[i].begin, job.times[i].end);
    }
  }

  etbk::NamedData named_weights_;  // before the model, which may use it in place
  reference::Model model_;
  std::vector<int64_t> symbols_;  // for which the model is set
};

}  // namespace

ETBK_PLUGIN(ETBK_PLUGIN_NAME, ETBK_PLUGIN_VENDOR, ETBK_PLUGIN_VERSION, ReferenceDelegate);
