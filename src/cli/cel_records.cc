#include "cli/cel_records.h"

#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "cel/value_json.h"
#include "quantity/go_text.h"
#include "text/json.h"

namespace allot::cli {
namespace {

using base::Reason;

constexpr std::size_t kMaxCompiled = 4096;

std::string AttributeJson(const cel::DerivedValue& value) {
  const auto list = [](const auto& items, auto append) {
    std::string out = "[";
    for (const auto& item : items) {
      out += out.size() > 1 ? "," : "";
      append(item, out);
    }
    return out + "]";
  };
  const auto quoted = [](const std::string& text) {
    std::string out;
    cel::AppendJsonString(text, out);
    return out;
  };
  const auto append_text = [](const std::string& text, std::string& out) {
    cel::AppendJsonString(text, out);
  };
  switch (value.kind) {
    case cel::AttributeKind::kInt: return fmt::format(R"({{"int":"{}"}})", value.integer);
    case cel::AttributeKind::kBool: return fmt::format(R"({{"bool":{}}})", value.boolean);
    case cel::AttributeKind::kString: return fmt::format(R"({{"string":{}}})", quoted(value.text));
    case cel::AttributeKind::kVersion:
      return fmt::format(R"({{"version":{}}})", quoted(value.text));
    case cel::AttributeKind::kInts:
      return fmt::format(R"({{"ints":{}}})",
                         list(value.integers, [](std::int64_t n, std::string& out) {
                           out += fmt::format("\"{}\"", n);
                         }));
    case cel::AttributeKind::kBools:
      return fmt::format(R"({{"bools":{}}})", list(value.booleans, [](bool b, std::string& out) {
                           out += b ? "true" : "false";
                         }));
    case cel::AttributeKind::kStrings:
      return fmt::format(R"({{"strings":{}}})", list(value.texts, append_text));
    case cel::AttributeKind::kVersions:
      return fmt::format(R"({{"versions":{}}})", list(value.texts, append_text));
    case cel::AttributeKind::kMissing: break;
  }
  return "{}";
}

// A flag that may be left out. Errors: it is neither true nor false.
base::Result<bool> FlagOf(const text::Value& record,
                          std::string_view name,
                          std::string_view path,
                          bool otherwise) {
  const text::Value* const value = record.Find(name);
  if (value == nullptr || value->is_null()) {
    return otherwise;
  }
  if (!value->is_bool()) {
    return WrongShape(fmt::format("{}{}", path, name), *value, "true or false");
  }
  return value->AsBool();
}

base::Result<std::uint64_t> CostLimitOf(const text::Value& limit) {
  if (limit.is_int() && limit.AsInt() >= 0) {
    return static_cast<std::uint64_t>(limit.AsInt());
  }
  // Above 2^63 the tree has a double.
  constexpr double kTwo63 = 9223372036854775808.0;
  const double value = limit.is_number() ? limit.AsDouble() : 0;
  if (value < kTwo63 || value > 2 * kTwo63) {
    return WrongShape("cost_limit", limit, "an integer from 0 to 2^64 - 1");
  }
  return value < 2 * kTwo63 ? static_cast<std::uint64_t>(value) : ~std::uint64_t{0};
}

}  // namespace

// A record as read.
struct CelRecords::Case {
  cel::CompileOptions options;
  bool derived = false;
  bool cancelled = false;
  std::vector<std::unique_ptr<CelDevice>> own;
  std::vector<const cel::DeviceView*> devices;
};

const cel::Compilation& CelRecords::Compile(std::string_view expression,
                                            const cel::CompileOptions& options) {
  key_.assign(1, static_cast<char>('0' + static_cast<int>(options.environment)));
  key_ += options.gates.consumable_capacity ? '1' : '0';
  key_ += options.gates.list_type_attributes ? '1' : '0';
  key_ += static_cast<char>('0' + static_cast<int>(options.purpose));
  key_ += fmt::format("{}:", options.cost_limit);
  key_ += expression;
  const auto found = compiled_.find(key_);
  if (found != compiled_.end()) {
    return found->second;
  }
  if (compiled_.size() >= kMaxCompiled) {
    compiled_.clear();
  }
  return compiled_.emplace(key_, cel::CompileVerbose(expression, options)).first->second;
}

void CelRecords::Evaluate(const cel::Program& program,
                          const cel::DeviceView& device,
                          const Case& in,
                          std::string& out) {
  static constexpr std::atomic<bool> kStop = true;
  cel::Interrupt interrupt;
  if (in.cancelled) {
    interrupt = {&kStop, "stopped by celgold"};
  }
  std::string error;
  std::optional<std::uint64_t> cost;
  std::string value;
  if (in.derived) {
    cel::DerivedOutcome outcome = evaluator_.Derive(program, device, interrupt);
    value = AttributeJson(outcome.value);
    error = std::move(outcome.error);
    cost = outcome.cost;
  } else if (program.purpose() == cel::Purpose::kAnyValue) {
    cel::Evaluator::ValueOutcome outcome = evaluator_.EvaluateToJson(program, device, interrupt);
    value = std::move(outcome.json);
    error = std::move(outcome.error);
    cost = outcome.cost;
  } else {
    cel::Outcome outcome = evaluator_.Match(program, device, interrupt);
    value = outcome.verdict == cel::Verdict::kTrue ? "true" : "false";
    error = std::move(outcome.error);
    cost = outcome.cost;
  }
  if (!error.empty()) {
    out += R"({"error":)";
    cel::AppendJsonString(error, out);
  } else {
    out += R"({"value":)";
    out += value;
  }
  if (cost) {
    out += R"(,"cost":)";
    out += fmt::format_int(*cost).str();
  }
  out += '}';
}

base::Result<void> CelRecords::ReadOptions(const text::Value& record, Case& out) const {
  if (const text::Value* const environment = record.Find("env");
      environment != nullptr && !environment->is_null()) {
    if (environment->AsString() != "stored" && environment->AsString() != "new") {
      return WrongShape("env", *environment, "\"stored\" or \"new\"");
    }
    out.options.environment =
        environment->AsString() == "new" ? cel::Environment::kNew : cel::Environment::kStored;
  }
  if (const text::Value* const gates = record.Find("gates");
      gates != nullptr && !gates->is_null()) {
    if (!gates->is_object()) {
      return WrongShape("gates", *gates, "an object of true or false by name");
    }
    for (const text::Member& gate : gates->members()) {
      ALLOT_RETURN_IF_ERROR(FlagOf(*gates, gate.key, "gates.", false));
    }
    ALLOT_ASSIGN_OR_RETURN(out.options.gates.consumable_capacity,
                           FlagOf(*gates, "DRAConsumableCapacity", "gates.", true));
    ALLOT_ASSIGN_OR_RETURN(out.options.gates.list_type_attributes,
                           FlagOf(*gates, "DRAListTypeAttributes", "gates.", true));
  }
  ALLOT_ASSIGN_OR_RETURN(const bool raw, FlagOf(record, "raw", "", false));
  ALLOT_ASSIGN_OR_RETURN(out.derived, FlagOf(record, "derived", "", false));
  ALLOT_ASSIGN_OR_RETURN(out.cancelled, FlagOf(record, "cancelled", "", false));
  out.options.purpose = raw           ? cel::Purpose::kAnyValue
                        : out.derived ? cel::Purpose::kDerivedAttribute
                                      : cel::Purpose::kSelector;
  if (const text::Value* const limit = record.Find("cost_limit");
      limit != nullptr && !limit->is_null()) {
    ALLOT_ASSIGN_OR_RETURN(out.options.cost_limit, CostLimitOf(*limit));
  }
  return {};
}

base::Result<void> CelRecords::AddDevice(const text::Value& device,
                                         std::string_view path,
                                         Case& out) const {
  if (device.is_string()) {
    const auto found = devices_.find(device.AsString());
    if (found == devices_.end()) {
      return base::Error(
          Reason::kBadRequest,
          fmt::format("{}: unknown device {}", path, quantity::GoQuote(device.AsString())));
    }
    out.devices.push_back(&found->second->view());
    return {};
  }
  if (!device.is_object()) {
    return WrongShape(path, device, "an object or the name of a device");
  }
  ALLOT_ASSIGN_OR_RETURN(
      auto own, CelDevice::Parse(device, CelDevice::Form::kRecord, fmt::format("{}.", path)));
  out.own.push_back(std::move(own));
  out.devices.push_back(&out.own.back()->view());
  return {};
}

base::Result<void> CelRecords::ReadDevices(const text::Value& record, Case& out) const {
  if (const text::Value* const list = record.Find("devices"); list != nullptr && !list->is_null()) {
    if (!list->is_array()) {
      return WrongShape("devices", *list, "a list");
    }
    for (std::size_t i = 0; i < list->items().size(); ++i) {
      ALLOT_RETURN_IF_ERROR(AddDevice(list->items()[i], fmt::format("devices[{}]", i), out));
    }
  }
  if (const text::Value* const device = record.Find("device")) {
    ALLOT_RETURN_IF_ERROR(AddDevice(*device, "device", out));
  }
  static const cel::DeviceView kEmpty;
  if (out.devices.empty()) {
    out.devices.push_back(&kEmpty);
  }
  return {};
}

base::Result<void> CelRecords::Run(std::string_view line, std::string& out) {
  ALLOT_ASSIGN_OR_RETURN(const text::Value record, text::ParseJson(line));
  if (!record.is_object()) {
    return base::Error(Reason::kBadRequest, "not an object");
  }
  for (const std::string_view name : {"id", "device_name"}) {
    if (const text::Value* const value = record.Find(name);
        value != nullptr && !value->is_null() && !value->is_string()) {
      return WrongShape(name, *value, "a string");
    }
  }
  if (const std::string_view name = record.StringAt({"device_name"}); !name.empty()) {
    ALLOT_ASSIGN_OR_RETURN(auto device, CelDevice::Parse(record));
    devices_[std::string(name)] = std::move(device);
    return {};
  }
  const text::Value* const expression = record.Find("expr");
  if (expression == nullptr || !expression->is_string()) {
    return base::Error(
        Reason::kBadRequest,
        expression == nullptr ? "neither expr nor device_name is set" : "expr is not a string");
  }
  Case in;
  ALLOT_RETURN_IF_ERROR(ReadOptions(record, in));
  ALLOT_RETURN_IF_ERROR(ReadDevices(record, in));
  const cel::Compilation& compiled = Compile(expression->AsString(), in.options);
  out += R"({"id":)";
  cel::AppendJsonString(record.StringAt({"id"}), out);
  if (!compiled.error.empty()) {
    out += R"(,"compile_error":)";
    cel::AppendJsonString(compiled.error, out);
  }
  if (!compiled.type.empty()) {
    out += R"(,"type":)";
    cel::AppendJsonString(compiled.type, out);
  }
  if (compiled.max_cost) {
    out += fmt::format(R"(,"max_cost":{})", *compiled.max_cost);
  }
  if (compiled.program != nullptr) {
    out += R"(,"results":[)";
    for (std::size_t i = 0; i < in.devices.size(); ++i) {
      out += i == 0 ? "" : ",";
      Evaluate(*compiled.program, *in.devices[i], in, out);
    }
    out += ']';
  }
  out += "}\n";
  return {};
}

}  // namespace allot::cli
