// The inspect report.
// Licence: BSD-3-Clause.
#include "report.hpp"

#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "dtype.hpp"
#include "text.hpp"

namespace etbk::pte {
namespace {

// A list in a report has no more entries; "..._left_out" says how many are missing.
constexpr uint32_t kListLimit = 10000;
constexpr size_t kTextLimit = 1024;

template <typename T>
uint32_t count_of(const T* vector) {
  return vector == nullptr ? 0 : vector->size();
}

template <typename List, typename Row>
void put_list(Json& into, const char* name, const List* list, Row row) {
  Json rows = Json::array();
  const uint32_t count = count_of(list);
  for (uint32_t i = 0; i < count && i < kListLimit; ++i) {
    rows.push_back(row(i, *list->Get(i)));
  }
  into[name] = std::move(rows);
  if (count > kListLimit) {
    into[std::string(name) + "_left_out"] = count - kListLimit;
  }
}

template <typename Vector>
Json numbers(const Vector* vector) {
  Json list = Json::array();
  for (uint32_t i = 0; i < count_of(vector) && i < 64; ++i) {
    list.push_back(static_cast<int64_t>(vector->Get(i)));
  }
  return list;
}

const char* dynamism_name(ps::TensorShapeDynamism dynamism) {
  switch (dynamism) {
    case ps::TensorShapeDynamism::STATIC:
      return "static";
    case ps::TensorShapeDynamism::DYNAMIC_BOUND:
      return "bounded";
    case ps::TensorShapeDynamism::DYNAMIC_UNBOUND:
      return "unbounded";
  }
  return "unknown";
}

const ps::EValue* value_at(const ps::ExecutionPlan& plan, int64_t index) {
  return index >= 0 && index < count_of(plan.values())
             ? plan.values()->Get(static_cast<uint32_t>(index))
             : nullptr;
}

Json end_json(const ps::ExecutionPlan& plan, int32_t index) {
  const ps::EValue* const value = value_at(plan, index);
  if (value == nullptr) {
    return {{"value", index}, {"kind", "missing"}};
  }
  Json end = {{"value", index}, {"kind", ps::EnumNameKernelTypes(value->val_type())}};
  const ps::Tensor* const tensor = value->val_as_Tensor();
  if (tensor != nullptr) {
    end["dtype"] = dtype_name(static_cast<int>(tensor->scalar_type()));
    end["shape"] = numbers(tensor->sizes());
    end["dim_order"] = numbers(tensor->dim_order());
    end["dynamism"] = dynamism_name(tensor->shape_dynamism());
    end["memory_planned"] = tensor->allocation_info() != nullptr;
  }
  return end;
}

Json ends_json(const ps::ExecutionPlan& plan, const fb::Vector<int32_t>* ends) {
  Json list = Json::array();
  for (uint32_t i = 0; i < count_of(ends) && i < kListLimit; ++i) {
    list.push_back(end_json(plan, ends->Get(i)));
  }
  return list;
}

// How often each operator and each delegate is called, and how many instructions of each kind.
struct Calls {
  std::unordered_map<int32_t, uint64_t> operators;
  std::unordered_map<int32_t, uint64_t> delegates;
  std::map<std::string, uint64_t> kinds;
};

Calls count_calls(const ps::ExecutionPlan& plan) {
  Calls calls;
  for (uint32_t c = 0; c < count_of(plan.chains()); ++c) {
    const auto* const list = plan.chains()->Get(c)->instructions();
    for (uint32_t i = 0; i < count_of(list); ++i) {
      const ps::Instruction& instruction = *list->Get(i);
      ++calls.kinds[ps::EnumNameInstructionArguments(instruction.instr_args_type())];
      if (const auto* const call = instruction.instr_args_as_KernelCall()) {
        ++calls.operators[call->op_index()];
      } else if (const auto* const delegate = instruction.instr_args_as_DelegateCall()) {
        ++calls.delegates[delegate->delegate_index()];
      }
    }
  }
  return calls;
}

uint64_t calls_of(const std::unordered_map<int32_t, uint64_t>& calls, uint32_t index) {
  const auto found = calls.find(static_cast<int32_t>(index));
  return found == calls.end() ? 0 : found->second;
}

Json hash_of(const Container& file, const Range& range, const InspectOptions& options) {
  if (!options.hash) {
    return nullptr;
  }
  const std::string hash = xxh3_of(file, range);
  return hash.empty() ? Json(nullptr) : Json("xxh3:" + hash);
}

Json spec_json(const ps::CompileSpec& spec) {
  Json row = {{"key", json_text(view(spec.key()))}, {"bytes", count_of(spec.value())}};
  if (spec.value() != nullptr && spec.value()->size() <= kTextLimit) {
    const std::string_view text(reinterpret_cast<const char*>(spec.value()->data()),
                                spec.value()->size());
    row["text"] = is_text(text) ? Json(std::string(text)) : Json(nullptr);
  }
  return row;
}

Json delegate_json(const Container& file, const ps::BackendDelegate& delegate, uint64_t calls,
                   const InspectOptions& options) {
  const Range blob = blob_range(file, delegate);
  const bool segment = delegate.processed() != nullptr &&
                       delegate.processed()->location() == ps::DataLocation::SEGMENT;
  Json row = {{"id", json_text(view(delegate.id()))},        {"bytes", blob.size},
              {"hash", hash_of(file, blob, options)},        {"calls", calls},
              {"location", segment ? "segment" : "inline"},  {"offset", blob.offset},
              {"envelope", BlobEnvelope(file, blob).json()}, {"header", stock_header(file, blob)}};
  if (segment) {
    row["segment"] = delegate.processed()->index();
  }
  put_list(row, "compile_specs", delegate.compile_specs(),
           [](uint32_t, const ps::CompileSpec& spec) { return spec_json(spec); });
  return row;
}

struct ValueSums {
  std::map<std::string, uint64_t> kinds;
  std::set<std::string> external;
  uint64_t constants = 0;
  uint64_t constant_bytes = 0;
  uint64_t mutable_tensors = 0;
};

void add_tensor(ValueSums& sums, const ps::Tensor& tensor) {
  const auto* const extra = tensor.extra_tensor_info();
  const bool external = extra != nullptr && extra->location() == ps::TensorDataLocation::EXTERNAL;
  if (external && sums.external.size() < kListLimit) {
    sums.external.insert(std::string(view(extra->fully_qualified_name()).substr(0, kTextLimit)));
  }
  if (tensor.allocation_info() != nullptr) {
    sums.mutable_tensors += tensor.data_buffer_idx() > 0 || external ? 1 : 0;
  } else if (tensor.data_buffer_idx() > 0 && !external && tensor.sizes() != nullptr) {
    ++sums.constants;
    uint64_t bytes = element_size(static_cast<int>(tensor.scalar_type()));
    for (uint32_t i = 0; i < tensor.sizes()->size() && i < 16; ++i) {
      bytes *= static_cast<uint64_t>(tensor.sizes()->Get(i));
    }
    sums.constant_bytes += bytes;
  }
}

ValueSums sum_values(const ps::ExecutionPlan& plan) {
  ValueSums sums;
  uint64_t kinds[256] = {};
  for (uint32_t i = 0; i < count_of(plan.values()); ++i) {
    const ps::EValue& value = *plan.values()->Get(i);
    ++kinds[static_cast<uint8_t>(value.val_type())];
    if (const ps::Tensor* const tensor = value.val_as_Tensor()) {
      add_tensor(sums, *tensor);
    }
  }
  for (unsigned i = 0; i < 256; ++i) {
    if (kinds[i] != 0) {
      sums.kinds[ps::EnumNameKernelTypes(static_cast<ps::KernelTypes>(i))] += kinds[i];
    }
  }
  return sums;
}

Json memory_plan_json(const ps::ExecutionPlan& plan) {
  Json buffers = Json::array();
  const auto* const sizes = plan.non_const_buffer_sizes();
  for (uint32_t i = 1; i < count_of(sizes) && i < kListLimit; ++i) {
    Json row = {{"memory_id", i}, {"bytes", sizes->Get(i)}, {"device", "CPU"}};
    for (uint32_t d = 0; d < count_of(plan.non_const_buffer_device()) && d < 64; ++d) {
      const auto& device = *plan.non_const_buffer_device()->Get(d);
      if (device.buffer_idx() == static_cast<int64_t>(i)) {
        row["device"] = ps::EnumNameDeviceType(device.device_type());
      }
    }
    buffers.push_back(std::move(row));
  }
  return buffers;
}

Json method_json(const Container& file, const ps::ExecutionPlan& plan,
                 const InspectOptions& options) {
  const Calls calls = count_calls(plan);
  const ValueSums sums = sum_values(plan);
  Json method = {{"name", json_text(view(plan.name()))},
                 {"inputs", ends_json(plan, plan.inputs())},
                 {"outputs", ends_json(plan, plan.outputs())}};
  put_list(method, "delegates", plan.delegates(),
           [&](uint32_t i, const ps::BackendDelegate& delegate) {
             return delegate_json(file, delegate, calls_of(calls.delegates, i), options);
           });
  put_list(method, "operators", plan.operators(), [&](uint32_t i, const ps::Operator& op) {
    return Json{{"name", json_text(view(op.name()))},
                {"overload", json_text(view(op.overload()))},
                {"calls", calls_of(calls.operators, i)}};
  });
  method["values"] = {{"count", count_of(plan.values())}, {"kinds", sums.kinds}};
  method["chains"] = count_of(plan.chains());
  method["instructions"] = calls.kinds;
  method["memory_plan"] = memory_plan_json(plan);
  method["constants"] = {{"tensors", sums.constants},
                         {"bytes", sums.constant_bytes},
                         {"mutable_with_initial_data", sums.mutable_tensors}};
  Json external = Json::array();
  for (const std::string& name : sums.external) {
    external.push_back(json_text(name));
  }
  method["external_data"] = std::move(external);
  return method;
}

// What each segment is for.
std::vector<std::string> segment_uses(const ps::Program& program) {
  std::vector<std::string> uses(count_of(program.segments()), "unused");
  const auto use = [&](uint64_t index, const char* name) {
    if (index < uses.size()) {
      uses[static_cast<size_t>(index)] = name;
    }
  };
  for (uint32_t i = 0; i < count_of(program.named_data()); ++i) {
    use(program.named_data()->Get(i)->segment_index(), "named data");
  }
  for (uint32_t i = 0; i < count_of(program.mutable_data_segments()); ++i) {
    use(program.mutable_data_segments()->Get(i)->segment_index(), "initial data");
  }
  if (program.constant_segment() != nullptr &&
      count_of(program.constant_segment()->offsets()) > 1) {
    use(program.constant_segment()->segment_index(), "constants");
  }
  for (uint32_t p = 0; p < count_of(program.execution_plan()); ++p) {
    const auto* const delegates = program.execution_plan()->Get(p)->delegates();
    for (uint32_t i = 0; i < count_of(delegates); ++i) {
      const auto* const where = delegates->Get(i)->processed();
      if (where != nullptr && where->location() == ps::DataLocation::SEGMENT) {
        use(where->index(), "delegate");
      }
    }
  }
  return uses;
}

template <typename Segments>
void put_segments(Json& report, const Container& file, const Segments* segments,
                  const std::vector<std::string>& uses, const InspectOptions& options) {
  std::map<std::string, uint64_t> sums;
  for (uint32_t i = 0; i < count_of(segments); ++i) {
    sums[uses[i]] += segments->Get(i)->size();
  }
  put_list(report, "segments", segments, [&](uint32_t i, const auto& segment) {
    const Range range = file.segment(segment.offset(), segment.size());
    return Json{{"index", i},
                {"offset", range.offset},
                {"bytes", range.size},
                {"use", uses[i]},
                {"hash", hash_of(file, range, options)}};
  });
  report["sizes"] = {{"program", file.header().program_size}, {"segments", sums}};
}

template <typename Entries, typename Segments>
void put_named_data(Json& report, const Entries* entries, const Segments* segments) {
  put_list(report, "named_data", entries, [&](uint32_t, const auto& entry) {
    Json row = {{"key", json_text(view(entry.key()))}, {"segment", entry.segment_index()}};
    if (entry.segment_index() < count_of(segments)) {
      row["bytes"] = segments->Get(entry.segment_index())->size();
    }
    if constexpr (std::is_same_v<std::decay_t<decltype(entry)>, ds::NamedData>) {
      if (entry.tensor_layout() != nullptr) {
        row["dtype"] = dtype_name(static_cast<int>(entry.tensor_layout()->scalar_type()));
        row["shape"] = numbers(entry.tensor_layout()->sizes());
      }
    }
    return row;
  });
}

const char* fix_for(const Finding& finding) {
  switch (finding.rule) {
    case 1:
    case 2:
      return "Give the path of a readable .pte or .ptd file.";
    case 14:
    case 15:
      return "If the file is trusted, raise the limit.";
    case 20:
      return "Use a kit that knows the newer schema.";
    case 431:
      return "If the device has the memory, raise the limit; else export for smaller inputs.";
    case 610:
      return "Copy the file again; if that does not help, export the model again.";
    case 611:
    case 805:
      return "Give the .ptd file that was written with this program.";
    case 806:
    case 807:
      return "Use program and data file of one export.";
    default:
      return "Get an undamaged copy of the file, or export the model again.";
  }
}

}  // namespace

Json json_text(std::string_view bytes) {
  std::string text(bytes.substr(0, kTextLimit));
  if (bytes.size() > kTextLimit) {
    text += "...";
  }
  return text;
}

Json inspect(const Container& file, const InspectOptions& options) {
  const bool is_program = file.kind() == Container::Kind::kProgram;
  const Header& header = file.header();
  Json report = {
      {"schema", "etbk.inspect/1"},
      {"file",
       {{"bytes", file.file().size()},
        {"kind", is_program ? "program" : "data"},
        {"schema_version", is_program ? file.program()->version() : file.data()->version()},
        {"header",
         {{"present", header.present},
          {"program_bytes", header.program_size},
          {"segment_base", header.segment_base},
          {"segment_bytes", header.segment_bytes}}}}}};
  if (is_program) {
    const ps::Program& program = *file.program();
    put_list(
        report, "methods", program.execution_plan(),
        [&](uint32_t, const ps::ExecutionPlan& plan) { return method_json(file, plan, options); });
    put_segments(report, file, program.segments(), segment_uses(program), options);
    put_named_data(report, program.named_data(), program.segments());
  } else {
    report["methods"] = Json::array();
    const ds::FlatTensor& data = *file.data();
    put_segments(report, file, data.segments(),
                 std::vector<std::string>(count_of(data.segments()), "data"), options);
    put_named_data(report, data.named_data(), data.segments());
  }
  return report;
}

Json findings_json(const Findings& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings.list()) {
    const char* meaning = "";
    for (const Rule& rule : rules()) {
      meaning = rule.number == finding.rule ? rule.meaning : meaning;
    }
    list.push_back({{"code", rule_name(finding.rule)},
                    {"severity", finding.severity == Severity::kWarning ? "warning" : "error"},
                    {"message", finding.place + ": " + meaning},
                    {"evidence", finding.evidence},
                    {"fix", fix_for(finding)}});
  }
  if (findings.left_out() > 0) {
    list.push_back(
        {{"code", "PTE-000"},
         {"severity", "info"},
         {"message", std::to_string(findings.left_out()) + " more findings are left out"},
         {"evidence", ""},
         {"fix", ""}});
  }
  return list;
}

}  // namespace etbk::pte
