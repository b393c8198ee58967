// Backends, blobs, kernels and data that a file needs, against a runtime's profile.
// Licence: BSD-3-Clause.
#include "check.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "envelope_rules.hpp"
#include "grade.hpp"
#include "report.hpp"
#include "semantics.hpp"
#include "text.hpp"

namespace etbk::pte {
namespace {

// Where ExecuTorch itself has a backend or an operator; the components of its CMake package.
struct Component {
  std::string_view what;  // a backend's id, or the namespace of an operator
  const char* name;
};
constexpr Component kBackends[] = {
    {"XnnpackBackend", "backend_xnnpack"}, {"OpenvinoBackend", "backend_openvino"},
    {"QnnBackend", "backend_qnn"},         {"CoreMLBackend", "backend_coreml"},
    {"VulkanBackend", "backend_vulkan"},   {"CudaBackend", "backend_cuda"},
    {"MLXBackend", "backend_mlx"}};
constexpr Component kKernels[] = {{"aten", "kernels_optimized"},
                                  {"dim_order_ops", "kernels_optimized"},
                                  {"quantized_decomposed", "kernels_quantized"},
                                  {"executorch_prim", "runtime"},
                                  {"torchao", "kernels_torchao"}};

template <size_t N>
const char* component_of(const Component (&list)[N], std::string_view what) {
  for (const Component& component : list) {
    if (component.what == what) {
      return component.name;
    }
  }
  return nullptr;
}

std::string string_in(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() && found->is_string()
             ? found->get<std::string>()
             : std::string();
}

const Json* list_in(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() && found->is_array() ? &*found : nullptr;
}

class Check {
 public:
  Check(const Json& profile, const CheckOptions& options) : profile_(profile), options_(options) {
    if (const Json* const backends = list_in(profile, "backends")) {
      for (const Json& backend : *backends) {
        backends_.emplace(string_in(backend, "id"), &backend);
      }
    }
    if (const Json* const kernels = list_in(profile, "kernels")) {
      for (const Json& kernel : *kernels) {
        kernels_.emplace(string_in(kernel, "name"), &kernel);
      }
    }
  }

  void run(const Container* file, const Container* external, const Findings& opening) {
    Findings rules = opening;
    if (file != nullptr) {
      check_semantics(*file, external, rules);
      if (options_.hash) {
        check_hashes(*file, external, rules);
      }
    }
    for (Json& finding : findings_json(rules)) {
      findings_.push_back(std::move(finding));
    }
    blocked_ = rules.any(Severity::kError);
    unknown_ = rules.any(Severity::kUnknown);
    if (file == nullptr || file->kind() != Container::Kind::kProgram ||
        file->program()->execution_plan() == nullptr) {
      return;
    }
    for (const ps::ExecutionPlan* plan : *file->program()->execution_plan()) {
      check_method(*file, *plan, external != nullptr);
    }
    for (const auto& [id, methods] : missing_backends_) {
      missing_backend(id, methods);
    }
    for (const auto& [name, detail] : missing_kernels_) {
      missing_kernel(name, detail);
    }
    check_copies();
  }

  Json result() {
    const Json* const versions =
        profile_.is_object() && profile_.contains("versions") ? &profile_["versions"] : nullptr;
    Json runtime = {{"kind", string_in(profile_, "kind")},
                    {"path", string_in(profile_, "path")},
                    {"arch", string_in(profile_, "arch")},
                    {"versions", versions == nullptr ? Json::object() : *versions}};
    for (const char* const key : {"registry_in", "plugins_in", "not_found"}) {
      if (const Json* const list = list_in(profile_, key)) {
        runtime[key] = *list;
      }
    }
    return {{"schema", "etbk.check/1"},
            {"runtime", std::move(runtime)},
            {"verdict", blocked_   ? "blocked"
                        : unknown_ ? "unknown"
                                   : "compatible"},
            {"basis", "static: nothing was run"},
            {"findings", findings_},
            {"needs",
             {{"backends", needed_backends_},
              {"kernels", needed_kernels_},
              {"components", components()},
              {"packages", packages()}}}};
  }

 private:
  // Something is absent from the profile: that blocks, unless the profile is known to have gaps.
  void missing(const char* code, const std::string& message, const std::string& evidence,
               const std::string& fix) {
    const bool gaps =
        profile_.is_object() && profile_.contains("incomplete") && profile_["incomplete"] == true;
    if (gaps) {
      not_known("incomplete", "what libraries that were not found bring");
    }
    add(code, !gaps, message, evidence, fix);
  }

  void add(const char* code, bool blocks, const std::string& message, const std::string& evidence,
           const std::string& fix) {
    say(code, blocks ? "error" : "warning", message, evidence, fix);
    blocked_ = blocked_ || blocks;
  }

  void say(const char* code, const char* severity, const std::string& message,
           const std::string& evidence, const std::string& fix) {
    findings_.push_back({{"code", code},
                         {"severity", severity},
                         {"message", message},
                         {"evidence", evidence},
                         {"fix", fix}});
  }

  // The components of ExecuTorch's CMake package that bring what the file needs.
  std::set<std::string> components() const {
    std::set<std::string> names = {"runtime"};
    for (const std::string& id : needed_backends_) {
      if (const char* const name = component_of(kBackends, id)) {
        names.insert(name);
      }
    }
    for (const std::string& kernel : needed_kernels_) {
      const std::string_view space = std::string_view(kernel).substr(0, kernel.find(':'));
      if (const char* const name = component_of(kKernels, space)) {
        names.insert(name);
      }
    }
    return names;
  }

  // Backends that come with none of them.
  std::set<std::string> packages() const {
    std::set<std::string> names;
    for (const std::string& id : needed_backends_) {
      if (component_of(kBackends, id) == nullptr) {
        names.insert(id);
      }
    }
    return names;
  }

  // Each copy of the registry has a list of its own, and a program reads one of them.
  void check_copies() {
    const Json* const holders = list_in(profile_, "registry_in");
    if (holders == nullptr || holders->size() < 2) {
      return;
    }
    std::string names;
    for (const Json& holder : *holders) {
      names += (names.empty() ? "" : ", ") + (holder.is_string() ? holder.get<std::string>() : "?");
    }
    add("CHECK-REGISTRY-COPIES", false,
        "The application has " + std::to_string(holders->size()) +
            " copies of the list of backends: what is registered in one is not seen in another.",
        names, "Link ExecuTorch's runtime once, as a shared library.");
    unknown_ = true;
  }

  void check_method(const Container& file, const ps::ExecutionPlan& plan, bool has_data) {
    const std::string method(view(plan.name()));
    for (uint32_t i = 0; plan.delegates() != nullptr && i < plan.delegates()->size(); ++i) {
      const ps::BackendDelegate& delegate = *plan.delegates()->Get(i);
      check_backend(file, delegate, method + ", delegate " + std::to_string(i));
    }
    check_kernels(plan);
    if (!has_data) {
      check_external(plan);
    }
  }

  void check_backend(const Container& file, const ps::BackendDelegate& delegate,
                     const std::string& where) {
    const std::string id(view(delegate.id()));
    needed_backends_.insert(id);
    const auto found = backends_.find(id);
    if (found == backends_.end()) {
      if (list_in(profile_, "backends") == nullptr) {
        not_known("backends", "which backends it has");
      } else {
        missing_backends_[id].insert(where);
      }
      return;
    }
    const Json& backend = *found->second;
    const auto available = backend.find("available");
    if (available != backend.end() && available->is_boolean()) {
      if (!available->get<bool>() && told_.insert("available " + id).second) {
        add("CHECK-BACKEND-UNAVAILABLE", true, id + " is registered but says it is not available.",
            string_in(backend, "reason"), "etbk doctor " + id);
      }
    } else if (told_.insert("available " + id).second) {
      add("CHECK-AVAILABILITY-UNKNOWN", false,
          "Whether " + id + " finds its device is not known from this profile.", "",
          "Record a profile on the device with etbk_write_profile().");
      unknown_ = true;
    }
    check_blob(file, delegate, backend, where);
  }

  void check_blob(const Container& file, const ps::BackendDelegate& delegate, const Json& backend,
                  const std::string& where) {
    const Range range = blob_range(file, delegate);
    const BlobEnvelope envelope(file, range);
    if (envelope.result() != ETBK_ENVELOPE_OK) {  // absent, or told by a rule
      if (envelope.result() == ETBK_ENVELOPE_ABSENT) {
        not_graded(delegate, "its blob has no envelope: nothing says for which version it is",
                   "etbk inspect FILE shows what the blob says of itself.");
      }
      return;
    }
    BlobReader reader;
    reader.id = std::string(view(delegate.id()));
    reader.arch = string_in(profile_, "arch");
    if (reader.arch.empty()) {
      reader.arch = text_of(envelope.get().arch);
    }
    const auto number = [&](const char* key, uint32_t otherwise) {
      const auto found = backend.find(key);
      return found != backend.end() && found->is_number_unsigned() ? found->get<uint32_t>()
                                                                   : otherwise;
    };
    reader.format_oldest = number("format_oldest", 0);
    reader.format_newest = number("format_newest", UINT32_MAX);
    if (!backend.contains("format_oldest") && !backend.contains("format_newest")) {
      not_graded(delegate, "the profile does not say which blob formats it reads",
                 "Check on the machine that has the plugin: etbk check FILE");
    } else if (backend.value("judges", false)) {
      not_graded(delegate,
                 "format and processor fit or not; the backend's own judgement of device "
                 "and features is heard only when the file is loaded",
                 "");
    }
    const Json grade = grade_json(envelope.bytes(), envelope.size(), range.size, reader);
    if (grade["grade"] == "needs rebuild" || grade["grade"] == "unusable") {
      add("CHECK-BLOB-INCOMPATIBLE", true,
          where + ": " + grade["sentence"].get<std::string>() + ".",
          grade["verdict"].get<std::string>(), grade["cure"].get<std::string>());
    }
  }

  void not_graded(const ps::BackendDelegate& delegate, const char* why, const char* fix) {
    const std::string id(view(delegate.id()));
    if (told_.insert("graded " + id + why).second) {
      say("CHECK-BLOB-NOT-GRADED", "info",
          "Whether " + id + " takes its blob is not wholly known: " + why + ".", "", fix);
    }
  }

  void check_kernels(const ps::ExecutionPlan& plan) {
    for (uint32_t c = 0; plan.chains() != nullptr && c < plan.chains()->size(); ++c) {
      const auto* const list = plan.chains()->Get(c)->instructions();
      for (uint32_t i = 0; list != nullptr && i < list->size(); ++i) {
        const ps::KernelCall* const call = list->Get(i)->instr_args_as_KernelCall();
        if (call != nullptr && plan.operators() != nullptr && call->op_index() >= 0 &&
            static_cast<uint32_t>(call->op_index()) < plan.operators()->size()) {
          check_kernel(plan, *call);
        }
      }
    }
  }

  void check_kernel(const ps::ExecutionPlan& plan, const ps::KernelCall& call) {
    const ps::Operator& op = *plan.operators()->Get(static_cast<uint32_t>(call.op_index()));
    std::string name(view(op.name()));
    if (!view(op.overload()).empty()) {
      name += "." + std::string(view(op.overload()));
    }
    needed_kernels_.insert(name);
    if (list_in(profile_, "kernels") == nullptr) {
      not_known("kernels", "which kernels it has");
      return;
    }
    const auto found = kernels_.find(name);
    if (found == kernels_.end()) {
      missing_kernels_.emplace(name, "");
      return;
    }
    const Json* const keys = list_in(*found->second, "keys");
    if (keys == nullptr || keys->empty()) {
      return;  // takes every type, as far as is known
    }
    const std::string key = key_of(plan, call);
    for (const Json& one : *keys) {
      const std::string known = one.is_string() ? one.get<std::string>() : "?";
      if (known.empty() || known == key) {
        return;
      }
    }
    missing_kernels_.emplace(name, "it is there, but not for " + key);
  }

  // As the runtime looks kernels up.
  static std::string key_of(const ps::ExecutionPlan& plan, const ps::KernelCall& call) {
    std::string key = "v1/";
    for (uint32_t i = 0; call.args() != nullptr && i < call.args()->size() && i < 64; ++i) {
      const int32_t index = call.args()->Get(i);
      if (plan.values() == nullptr || index < 0 ||
          static_cast<uint32_t>(index) >= plan.values()->size()) {
        continue;
      }
      const ps::Tensor* const tensor =
          plan.values()->Get(static_cast<uint32_t>(index))->val_as_Tensor();
      if (tensor == nullptr) {
        continue;
      }
      key += key.size() > 3 ? "|" : "";
      key += std::to_string(static_cast<int>(tensor->scalar_type())) + ";";
      for (uint32_t d = 0;
           tensor->dim_order() != nullptr && d < tensor->dim_order()->size() && d < 16; ++d) {
        key += (d > 0 ? "," : "") + std::to_string(tensor->dim_order()->Get(d));
      }
    }
    return key;
  }

  void check_external(const ps::ExecutionPlan& plan) {
    for (uint32_t i = 0; plan.values() != nullptr && i < plan.values()->size(); ++i) {
      const ps::Tensor* const tensor = plan.values()->Get(i)->val_as_Tensor();
      if (tensor != nullptr && tensor->extra_tensor_info() != nullptr &&
          tensor->extra_tensor_info()->location() == ps::TensorDataLocation::EXTERNAL) {
        if (told_.insert("data").second) {
          add("CHECK-DATA-MISSING", true,
              "The program keeps weights in a .ptd file, and none was given.",
              in_quotes(view(tensor->extra_tensor_info()->fully_qualified_name())),
              "Give the data file: --ptd FILE");
        }
        return;
      }
    }
  }

  void missing_backend(const std::string& id, const std::set<std::string>& where) {
    std::string places;
    for (const std::string& place : where) {
      places += (places.empty() ? "" : "; ") + place;
      if (places.size() > 200) {
        places += "; ...";
        break;
      }
    }
    const char* const component = component_of(kBackends, id);
    missing(
        "CHECK-BACKEND-MISSING", "The runtime has no backend " + id + ".", places,
        component != nullptr
            ? std::string("Link executorch::") + component + ", or use a wheel that has it."
            : "Install the package that brings " + id + ", and load its plugin (etbk plugins).");
  }

  void missing_kernel(const std::string& name, const std::string& detail) {
    const char* const component =
        component_of(kKernels, std::string_view(name).substr(0, name.find(':')));
    missing("CHECK-KERNEL-MISSING", "The runtime has no kernel for " + name + ".", detail,
            component != nullptr ? std::string("Link executorch::") + component +
                                       ", and keep the operator in a selective build."
                                 : "Link the library that registers " + name + ".");
  }

  void not_known(const char* what, const char* sentence) {
    if (told_.insert(what).second) {
      add("CHECK-PROFILE-INCOMPLETE", false,
          std::string("The profile does not say ") + sentence + ".", "",
          "Record it again with etbk_write_profile().");
      unknown_ = true;
    }
  }

  const Json& profile_;
  const CheckOptions& options_;
  std::map<std::string, const Json*> backends_;
  std::map<std::string, const Json*> kernels_;
  std::set<std::string> needed_backends_;
  std::set<std::string> needed_kernels_;
  std::map<std::string, std::set<std::string>> missing_backends_;
  std::map<std::string, std::string> missing_kernels_;
  std::set<std::string> told_;
  Json findings_ = Json::array();
  bool blocked_ = false;
  bool unknown_ = false;
};

}  // namespace

Json check(const Container* file, const Container* external, const Findings& opening,
           const Json& profile, const CheckOptions& options) {
  Check one(profile, options);
  one.run(file, external, opening);
  return one.result();
}

}  // namespace etbk::pte
