// Rules about chains and instructions: arguments, operators, jumps.
// Licence: BSD-3-Clause.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_limits.hpp"
#include "operator_schemas.hpp"
#include "semantics.hpp"
#include "text.hpp"

namespace etbk::pte {
namespace {

using Kind = ps::KernelTypes;
using Call = ps::InstructionArguments;

// Sizes of the runtime's buffers for an operator's name and for a kernel key, less the final zero.
constexpr size_t kLongestName = 99;
constexpr size_t kLongestKey = 658;

// Whether a value of this kind can be what the letter of an operator's schema asks for.
bool fits(char letter, Kind kind) {
  const bool number = kind == Kind::Int || kind == Kind::Double || kind == Kind::Bool;
  switch (letter) {
    case 'T':
    case 'W':
      return kind == Kind::Tensor;
    case 't':
      return kind == Kind::Tensor || kind == Kind::Null;
    case 'S':
    case 'Q':
      return number;
    case 's':
      return number || kind == Kind::Null;
    case 'I':
      return kind == Kind::Int;
    case 'i':
      return kind == Kind::Int || kind == Kind::Null;
    case 'D':
      return kind == Kind::Double;
    case 'd':
      return kind == Kind::Double || kind == Kind::Null;
    case 'B':
      return kind == Kind::Bool;
    case 'b':
      return kind == Kind::Bool || kind == Kind::Null;
    case 'G':
      return kind == Kind::String;
    case 'g':
      return kind == Kind::String || kind == Kind::Null;
    case 'L':
      return kind == Kind::IntList;
    case 'l':
      return kind == Kind::IntList || kind == Kind::Null;
    case 'F':
      return kind == Kind::DoubleList;
    case 'f':
      return kind == Kind::DoubleList || kind == Kind::Null;
    case 'A':
      return kind == Kind::BoolList;
    case 'N':
    case 'V':
      return kind == Kind::TensorList;
    case 'n':
      return kind == Kind::OptionalTensorList || kind == Kind::TensorList;
    default:
      return true;
  }
}

class ChainRules {
 public:
  ChainRules(const Scope& scope, const MethodScope& method, const ps::Chain& chain,
             std::string place)
      : scope_(scope), method_(method), chain_(chain), place_(std::move(place)) {
    given_.assign(method.plan->values()->size(), 0);
    written_ = given_;
    mark(method.plan->inputs(), given_);
    mark(method.plan->outputs(), given_);
    mark(method.plan->inputs(), written_);
  }

  void run() {
    const auto& list = *chain_.instructions();
    for (uint32_t i = 0; i < list.size(); ++i) {
      const ps::MoveCall* const move = list.Get(i)->instr_args_as_MoveCall();
      if (move != nullptr && method_.is_value(move->move_to())) {
        given_[static_cast<uint32_t>(move->move_to())] = 1;
        written_[static_cast<uint32_t>(move->move_to())] = 1;
      } else if (const ps::KernelCall* const call = list.Get(i)->instr_args_as_KernelCall()) {
        mark(call->args(), written_);
      } else if (const ps::DelegateCall* const entry = list.Get(i)->instr_args_as_DelegateCall()) {
        mark(entry->args(), written_);
      }
    }
    for (uint32_t i = 0; i < list.size() && scope_.work.spend(1); ++i) {
      at_ = place_ + ".instructions[" + std::to_string(i) + "]";
      check(*list.Get(i), list.size());
    }
    check_end_is_reachable();
  }

 private:
  void mark(const fb::Vector<int32_t>* values, std::vector<uint8_t>& where) {
    for (uint32_t i = 0; values != nullptr && i < values->size() && scope_.work.spend(1); ++i) {
      if (method_.is_value(values->Get(i))) {
        where[static_cast<uint32_t>(values->Get(i))] = 1;
      }
    }
  }

  void check(const ps::Instruction& instruction, uint32_t count) {
    if (instruction.instr_args() == nullptr || instruction.instr_args_type() > Call::MAX ||
        instruction.instr_args_type() == Call::NONE) {
      scope_.findings.add(
          503, at_, "kind " + std::to_string(static_cast<int>(instruction.instr_args_type())));
      return;
    }
    switch (instruction.instr_args_type()) {
      case Call::KernelCall:
        check_kernel(*instruction.instr_args_as_KernelCall());
        break;
      case Call::DelegateCall:
        check_delegate(*instruction.instr_args_as_DelegateCall());
        break;
      case Call::MoveCall:
        check_move(*instruction.instr_args_as_MoveCall());
        break;
      case Call::JumpFalseCall:
        check_jump(*instruction.instr_args_as_JumpFalseCall(), count);
        break;
      default:
        check_free(*instruction.instr_args_as_FreeCall());
        break;
    }
  }

  bool check_arguments(const fb::Vector<int32_t>* arguments) {
    if (arguments == nullptr) {
      scope_.findings.add(504, at_ + ".args", "absent");
      return false;
    }
    bool good = true;
    for (uint32_t i = 0; i < arguments->size() && scope_.work.spend(1); ++i) {
      good = check_index(arguments->Get(i), ".args[" + std::to_string(i) + "]") && good;
    }
    return good && !scope_.work.exhausted();
  }

  bool check_index(int32_t index, const std::string& field) {
    if (!method_.is_value(index)) {
      scope_.findings.add(505, at_ + field,
                          std::to_string(index) + " of " +
                              std::to_string(method_.plan->values()->size()) + " values");
      return false;
    }
    return true;
  }

  // Every tensor among the arguments, also inside lists, has bytes behind it.
  void check_memory(const fb::Vector<int32_t>& arguments) {
    for (uint32_t i = 0; i < arguments.size() && scope_.work.spend(1); ++i) {
      const auto value = static_cast<uint32_t>(arguments.Get(i));
      if (method_.kind(value) == Kind::Tensor) {
        check_memory_of(value, i);
      } else if (method_.kind(value) == Kind::TensorList) {
        check_items(method_.plan->values()->Get(value)->val_as_TensorList()->items(), i);
      } else if (method_.kind(value) == Kind::OptionalTensorList) {
        check_items(method_.plan->values()->Get(value)->val_as_OptionalTensorList()->items(), i);
      }
    }
  }

  void check_items(const fb::Vector<int32_t>* items, uint32_t argument) {
    for (uint32_t i = 0; items != nullptr && i < items->size() && scope_.work.spend(1); ++i) {
      if (method_.is_value(items->Get(i)) &&
          method_.kind(static_cast<uint32_t>(items->Get(i))) == Kind::Tensor) {
        check_memory_of(static_cast<uint32_t>(items->Get(i)), argument);
      }
    }
  }

  void check_memory_of(uint32_t value, uint32_t argument) {
    if (method_.has_memory[value] == 0 && given_[value] == 0) {
      scope_.findings.add(420, at_ + ".args[" + std::to_string(argument) + "]",
                          "value " + std::to_string(value));
    }
  }

  void check_kernel(const ps::KernelCall& call) {
    const auto& operators = *method_.plan->operators();
    const bool known =
        call.op_index() >= 0 && static_cast<uint32_t>(call.op_index()) < operators.size();
    if (!known) {
      scope_.findings.add(506, at_ + ".op_index",
                          std::to_string(call.op_index()) + " of " +
                              std::to_string(operators.size()) + " operators");
    }
    if (!check_arguments(call.args())) {
      return;
    }
    check_memory(*call.args());
    check_key(*call.args());
    if (!known) {
      return;
    }
    const ps::Operator& op = *operators.Get(static_cast<uint32_t>(call.op_index()));
    std::string name(view(op.name()).substr(0, kLongestName + 1));
    if (!view(op.overload()).empty()) {
      name += '.';
      name += view(op.overload()).substr(0, kLongestName + 1);
    }
    const char* const schema = operator_arguments(name);
    if (schema != nullptr) {
      check_schema(name, schema, *call.args());
    }
  }

  void check_schema(const std::string& name, const char* schema,
                    const fb::Vector<int32_t>& arguments) {
    const size_t expected = std::char_traits<char>::length(schema);
    if (arguments.size() != expected) {
      scope_.findings.add(510, at_ + ".args",
                          name + " takes " + std::to_string(expected) + ", here are " +
                              std::to_string(arguments.size()));
      return;
    }
    bool kinds = true;
    for (uint32_t i = 0; i < expected; ++i) {
      const auto value = static_cast<uint32_t>(arguments.Get(i));
      if (!fits(schema[i], method_.kind(value))) {
        scope_.findings.add(511, at_ + ".args[" + std::to_string(i) + "]",
                            name + ": value " + std::to_string(value) + " is " +
                                ps::EnumNameKernelTypes(method_.kind(value)));
        kinds = false;
      } else if (schema[i] == 'W' && method_.is_constant[value] != 0) {
        scope_.findings.add(512, at_ + ".args[" + std::to_string(i) + "]",
                            name + ": value " + std::to_string(value));
      }
    }
    if (kinds) {
      check_result(name, arguments);
      check_kernel_limits(scope_, method_, name, arguments, at_);
    }
  }

  // Arithmetic on numbers stores its result over the last value, kind and all: a double there ends
  // the process when a kernel then asks for the int that the program promised.
  void check_result(const std::string& name, const fb::Vector<int32_t>& arguments) {
    static constexpr std::string_view kArithmetic[] = {
        "executorch_prim::add.Scalar", "executorch_prim::sub.Scalar", "executorch_prim::mul.Scalar",
        "executorch_prim::sym_max.Scalar", "executorch_prim::sym_min.Scalar"};
    if (std::find(std::begin(kArithmetic), std::end(kArithmetic), name) == std::end(kArithmetic)) {
      return;
    }
    const auto kind_at = [&](uint32_t i) {
      return method_.kind(static_cast<uint32_t>(arguments.Get(i)));
    };
    const uint32_t last = arguments.size() - 1;
    for (uint32_t i = 0; i < last; ++i) {
      if (kind_at(i) == Kind::Double && kind_at(last) == Kind::Int) {
        scope_.findings.add(511, at_ + ".args[" + std::to_string(last) + "]",
                            name + ": the result of a Double is kept as an Int");
      }
    }
  }

  // The text by which the runtime looks a kernel up: "v1/dtype;dim order|...".
  void check_key(const fb::Vector<int32_t>& arguments) {
    size_t length = 3;
    for (uint32_t i = 0; i < arguments.size(); ++i) {
      const auto value = static_cast<uint32_t>(arguments.Get(i));
      if (method_.kind(value) != Kind::Tensor) {
        continue;
      }
      const auto* const tensor = method_.plan->values()->Get(value)->val_as_Tensor();
      const auto* const order = tensor->dim_order();
      length += (static_cast<int>(tensor->scalar_type()) > 9 ? 2u : 1u) + 2;
      for (uint32_t d = 0; order != nullptr && d < order->size() && scope_.work.spend(1); ++d) {
        length += order->Get(d) > 9 ? 3 : 2;
      }
    }
    if (length > kLongestKey) {
      scope_.findings.add(509, at_ + ".args", "about " + std::to_string(length) + " bytes");
    }
  }

  void check_delegate(const ps::DelegateCall& call) {
    const auto& delegates = *method_.plan->delegates();
    if (call.delegate_index() < 0 ||
        static_cast<uint32_t>(call.delegate_index()) >= delegates.size()) {
      scope_.findings.add(519, at_ + ".delegate_index",
                          std::to_string(call.delegate_index()) + " of " +
                              std::to_string(delegates.size()) + " delegates");
    }
    if (!check_arguments(call.args())) {
      return;
    }
    check_memory(*call.args());
    if (call.delegate_index() >= 0 &&
        static_cast<uint32_t>(call.delegate_index()) < delegates.size()) {
      check_used(static_cast<uint32_t>(call.delegate_index()), *call.args());
    }
  }

  // XNNPACK's delegate indexes its arguments with numbers from its blob.
  void check_used(uint32_t index, const fb::Vector<int32_t>& arguments) {
    const uint32_t used = method_.xnnpack_arguments[index];
    if (arguments.size() < used) {
      scope_.findings.add(
          612, at_ + ".args",
          std::to_string(arguments.size()) + " arguments, the blob uses " + std::to_string(used));
    }
    for (uint32_t i = 0; i < arguments.size() && i < used; ++i) {
      if (method_.kind(static_cast<uint32_t>(arguments.Get(i))) != Kind::Tensor) {
        scope_.findings.add(613, at_ + ".args[" + std::to_string(i) + "]",
                            "value " + std::to_string(arguments.Get(i)));
      }
    }
  }

  void check_move(const ps::MoveCall& call) {
    if (!check_index(call.move_from(), ".move_from") || !check_index(call.move_to(), ".move_to")) {
      return;
    }
    const Kind from = method_.kind(static_cast<uint32_t>(call.move_from()));
    const Kind to = method_.kind(static_cast<uint32_t>(call.move_to()));
    if (from != to) {
      scope_.findings.add(516, at_,
                          std::string("from ") + ps::EnumNameKernelTypes(from) + " to " +
                              ps::EnumNameKernelTypes(to));
    }
  }

  void check_jump(const ps::JumpFalseCall& call, uint32_t count) {
    if (call.destination_instruction() < 0 ||
        static_cast<uint32_t>(call.destination_instruction()) > count) {
      scope_.findings.add(513, at_ + ".destination_instruction",
                          std::to_string(call.destination_instruction()) + " of " +
                              std::to_string(count) + " instructions");
    }
    if (!check_index(call.cond_value_index(), ".cond_value_index")) {
      return;
    }
    const auto value = static_cast<uint32_t>(call.cond_value_index());
    const Kind kind = method_.kind(value);
    const auto* const tensor = method_.plan->values()->Get(value)->val_as_Tensor();
    if (kind != Kind::Bool &&
        (kind != Kind::Tensor || tensor->scalar_type() != ps::ScalarType::BOOL)) {
      scope_.findings.add(
          515, at_ + ".cond_value_index",
          std::string("value ") + std::to_string(value) + " is " + ps::EnumNameKernelTypes(kind));
    } else if (kind == Kind::Tensor) {
      check_memory_of(value, 0);
    }
  }

  void check_free(const ps::FreeCall& call) {
    if (!check_index(call.value_index(), ".value_index")) {
      return;
    }
    const auto value = static_cast<uint32_t>(call.value_index());
    if (method_.kind(value) != Kind::Tensor || method_.owns_no_block[value] == 0) {
      scope_.findings.add(517, at_ + ".value_index", "value " + std::to_string(value));
    }
  }

  // Backwards from the end: whatever is not met runs for ever.
  void check_end_is_reachable() {
    const auto& list = *chain_.instructions();
    const uint32_t count = list.size();
    std::vector<uint8_t> reaches(count + 1, 0);
    reaches[count] = 1;
    // Every backward jump may need another sweep; real programs have few.
    bool changed = true;
    while (changed && scope_.work.spend(count)) {
      changed = false;
      for (uint32_t i = count; i-- > 0;) {
        const ps::JumpFalseCall* const jump = list.Get(i)->instr_args_as_JumpFalseCall();
        bool now = false;
        if (jump == nullptr || falls_through(*jump)) {
          now = reaches[i + 1] != 0;
        }
        if (jump != nullptr && jump->destination_instruction() >= 0 &&
            static_cast<uint32_t>(jump->destination_instruction()) <= count) {
          now = now || reaches[static_cast<uint32_t>(jump->destination_instruction())] != 0;
        }
        if (now && reaches[i] == 0) {
          reaches[i] = 1;
          changed = true;
        }
      }
    }
    for (uint32_t i = 0; i < count && !scope_.work.exhausted(); ++i) {
      if (reaches[i] == 0) {
        scope_.findings.add(514, place_ + ".instructions[" + std::to_string(i) + "]",
                            "its jumps lead back for ever");
        return;
      }
    }
  }

  // A constant false always jumps.
  bool falls_through(const ps::JumpFalseCall& jump) const {
    if (!method_.is_value(jump.cond_value_index())) {
      return true;
    }
    const auto value = static_cast<uint32_t>(jump.cond_value_index());
    const auto* const constant = method_.plan->values()->Get(value)->val_as_Bool();
    return constant == nullptr || written_[value] != 0 || constant->bool_val();
  }

  const Scope& scope_;
  const MethodScope& method_;
  const ps::Chain& chain_;
  std::string place_;
  std::string at_;
  std::vector<uint8_t> given_;    // tensors whose memory comes from outside or by a move
  std::vector<uint8_t> written_;  // values that may change while the method runs
};

void check_operators(const Scope& scope, const MethodScope& method) {
  const auto& operators = *method.plan->operators();
  for (uint32_t i = 0; i < operators.size() && scope.work.spend(1); ++i) {
    const ps::Operator& op = *operators.Get(i);
    const std::string place = method.place + ".operators[" + std::to_string(i) + "]";
    if (view(op.name()).empty()) {
      scope.findings.add(507, place + ".name", "absent or empty");
    }
    check_text(scope, op.name(), place + ".name");
    check_text(scope, op.overload(), place + ".overload");
    const size_t overload = view(op.overload()).size();
    const size_t length = view(op.name()).size() + (overload > 0 ? overload + 1 : 0);
    if (length > kLongestName) {
      scope.findings.add(508, place,
                         std::to_string(length) + " bytes, the runtime has room for " +
                             std::to_string(kLongestName));
    }
  }
}

}  // namespace

void check_instructions(const Scope& scope, const MethodScope& method) {
  check_operators(scope, method);
  const auto& chains = *method.plan->chains();
  if (chains.size() == 0) {
    scope.findings.add(501, method.place + ".chains", "empty");
  }
  for (uint32_t i = 0; i < chains.size() && scope.work.spend(1); ++i) {
    const std::string place = method.place + ".chains[" + std::to_string(i) + "]";
    if (chains.Get(i)->instructions() == nullptr) {
      scope.findings.add(502, place + ".instructions", "absent");
      continue;
    }
    ChainRules(scope, method, *chains.Get(i), place).run();
  }
}

}  // namespace etbk::pte
