#include "cli/cel_records.h"

#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "cel/value_json.h"
#include "quantity/go_text.h"
#include "quantity/quantity.h"
#include "text/json.h"

namespace allot::cli {
namespace {

using base::Reason;

constexpr std::size_t kMaxCompiled = 4096;

// A number, or a decimal string.
base::Result<std::int64_t> IntOf(const text::Value& value) {
  if (value.is_int()) {
    return value.AsInt();
  }
  if (value.is_string()) {
    return quantity::GoParseInt(value.AsString(), "ParseInt");
  }
  // The tree keeps what does not fit as a double; printed as one, it does not look like what it
  // was.
  const std::string found =
      value.is_number() ? fmt::format("{:e}", value.AsDouble()) : text::ToJson(value);
  return base::Error(Reason::kBadRequest,
                     fmt::format("found {}, expected a 64-bit integer", found));
}

// Which kind counts when several are set.
int Precedence(cel::AttributeKind kind) {
  switch (kind) {
    case cel::AttributeKind::kInts: return 8;
    case cel::AttributeKind::kBools: return 7;
    case cel::AttributeKind::kStrings: return 6;
    case cel::AttributeKind::kVersions: return 5;
    case cel::AttributeKind::kInt: return 4;
    case cel::AttributeKind::kBool: return 3;
    case cel::AttributeKind::kString: return 2;
    case cel::AttributeKind::kVersion: return 1;
    case cel::AttributeKind::kMissing: break;
  }
  return 0;
}

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

bool Flag(const text::Value& record, std::string_view name) {
  const text::Value* const value = record.Find(name);
  return value != nullptr && value->AsBool();
}

base::Result<cel::CompileOptions> OptionsOf(const text::Value& record) {
  const std::string_view environment = record.StringAt({"env"});
  if (record.Find("env") != nullptr && environment != "stored" && environment != "new") {
    return base::Error(Reason::kBadRequest,
                       fmt::format("env: found {}, expected \"stored\" or \"new\"",
                                   text::ToJson(*record.Find("env"))));
  }
  cel::CompileOptions options;
  options.environment = environment == "new" ? cel::Environment::kNew : cel::Environment::kStored;
  if (const text::Value* const gates = record.Find("gates")) {
    const auto gate = [&](std::string_view name) {
      const text::Value* const value = gates->Find(name);
      return value == nullptr || value->AsBool();
    };
    options.gates = {gate("DRAConsumableCapacity"), gate("DRAListTypeAttributes")};
  }
  options.purpose = Flag(record, "raw")       ? cel::Purpose::kAnyValue
                    : Flag(record, "derived") ? cel::Purpose::kDerivedAttribute
                                              : cel::Purpose::kSelector;
  if (const text::Value* const limit = record.Find("cost_limit"); limit && limit->is_number()) {
    options.cost_limit =
        limit->is_int() ? static_cast<std::uint64_t>(limit->AsInt()) : ~std::uint64_t{0};
  }
  return options;
}

}  // namespace

base::Result<std::unique_ptr<CelDevice>> CelDevice::Parse(const text::Value& json) {
  if (!json.is_object()) {
    return base::Error(Reason::kBadRequest, "a device must be a JSON object");
  }
  std::unique_ptr<CelDevice> device(new CelDevice);
  device->json_ = json;
  const text::Value& root = device->json_;
  device->view_.driver = root.StringAt({"driver"});
  device->view_.allow_multiple_allocations = Flag(root, "allowMultipleAllocations");
  if (const text::Value* const attributes = root.Find("attributes")) {
    for (const text::Member& attribute : attributes->members()) {
      if (auto added = device->AddAttribute(attribute); !added) {
        return base::Error(std::move(added.error()));
      }
    }
  }
  if (const text::Value* const capacity = root.Find("capacity")) {
    for (const text::Member& member : capacity->members()) {
      // The API's form is {"value": QUANTITY}.
      const std::string_view text =
          member.value.is_object() ? member.value.StringAt({"value"}) : member.value.AsString();
      auto parsed = quantity::ParseQuantity(text);
      if (!parsed) {
        return base::Error(
            std::move(parsed.error()).Prepend(fmt::format("capacity {}: ", member.key)));
      }
      device->capacities_.push_back({member.key, *parsed, text});
    }
  }
  device->view_.attributes = device->attributes_;
  device->view_.capacities = device->capacities_;
  return device;
}

base::Result<void> CelDevice::AddAttribute(const text::Member& attribute) {
  cel::Attribute out{attribute.key, {}};
  for (const text::Member& kind : attribute.value.members()) {
    cel::AttributeValue value;
    if (auto set = SetKind(kind.key, kind.value, value); !set) {
      return base::Error(
          std::move(set.error()).Prepend(fmt::format("attribute {}: ", attribute.key)));
    }
    if (Precedence(value.kind) > Precedence(out.value.kind)) {
      out.value = value;
    }
  }
  attributes_.push_back(out);
  return {};
}

base::Result<void> CelDevice::SetKind(std::string_view kind,
                                      const text::Value& value,
                                      cel::AttributeValue& out) {
  if (value.is_null()) {
    return {};
  }
  const auto texts = [&](cel::AttributeKind list_kind) {
    out.kind = list_kind;
    const std::size_t count = value.items().size();
    texts_.push_back(std::make_unique<std::string_view[]>(count));
    for (std::size_t i = 0; i < count; ++i) {
      texts_.back()[i] = value.items()[i].AsString();
    }
    out.texts = {texts_.back().get(), count};
  };
  if (kind == "int") {
    auto parsed = IntOf(value);
    if (!parsed) {
      return base::Error(std::move(parsed.error()));
    }
    out.kind = cel::AttributeKind::kInt;
    out.integer = *parsed;
  } else if (kind == "bool") {
    out.kind = cel::AttributeKind::kBool;
    out.boolean = value.AsBool();
  } else if (kind == "string" || kind == "version") {
    out.kind = kind == "string" ? cel::AttributeKind::kString : cel::AttributeKind::kVersion;
    out.text = value.AsString();
  } else if (kind == "ints") {
    const std::size_t count = value.items().size();
    integers_.push_back(std::make_unique<std::int64_t[]>(count));
    for (std::size_t i = 0; i < count; ++i) {
      auto parsed = IntOf(value.items()[i]);
      if (!parsed) {
        return base::Error(std::move(parsed.error()));
      }
      integers_.back()[i] = *parsed;
    }
    out.kind = cel::AttributeKind::kInts;
    out.integers = {integers_.back().get(), count};
  } else if (kind == "bools") {
    const std::size_t count = value.items().size();
    booleans_.push_back(std::make_unique<bool[]>(count));
    for (std::size_t i = 0; i < count; ++i) {
      booleans_.back()[i] = value.items()[i].AsBool();
    }
    out.kind = cel::AttributeKind::kBools;
    out.booleans = {booleans_.back().get(), count};
  } else if (kind == "strings") {
    texts(cel::AttributeKind::kStrings);
  } else if (kind == "versions") {
    texts(cel::AttributeKind::kVersions);
  } else {
    return base::Error(Reason::kBadRequest,
                       fmt::format("unknown attribute kind {}", quantity::GoQuote(kind)));
  }
  return {};
}

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
                          bool cancelled,
                          std::string& out) {
  static constexpr std::atomic<bool> kStop = true;
  cel::Interrupt interrupt;
  if (cancelled) {
    interrupt = {&kStop, "stopped by celgold"};
  }
  std::string error;
  std::optional<std::uint64_t> cost;
  std::string value;
  switch (program.purpose()) {
    case cel::Purpose::kSelector: {
      cel::Outcome outcome = evaluator_.Match(program, device, interrupt);
      value = outcome.verdict == cel::Verdict::kTrue ? "true" : "false";
      error = std::move(outcome.error);
      cost = outcome.cost;
      break;
    }
    case cel::Purpose::kDerivedAttribute: {
      cel::DerivedOutcome outcome = evaluator_.Derive(program, device, interrupt);
      value = AttributeJson(outcome.value);
      error = std::move(outcome.error);
      cost = outcome.cost;
      break;
    }
    case cel::Purpose::kAnyValue: {
      cel::Evaluator::ValueOutcome outcome = evaluator_.EvaluateToJson(program, device, interrupt);
      value = std::move(outcome.json);
      error = std::move(outcome.error);
      cost = outcome.cost;
      break;
    }
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

base::Result<const cel::DeviceView*> CelRecords::Device(
    const text::Value& value, std::vector<std::unique_ptr<CelDevice>>& own) const {
  if (value.is_string()) {
    const auto found = devices_.find(value.AsString());
    if (found == devices_.end()) {
      return base::Error(Reason::kBadRequest,
                         fmt::format("unknown device {}", quantity::GoQuote(value.AsString())));
    }
    return &found->second->view();
  }
  ALLOT_ASSIGN_OR_RETURN(auto device, CelDevice::Parse(value));
  own.push_back(std::move(device));
  return &own.back()->view();
}

base::Result<void> CelRecords::Run(std::string_view line, std::string& out) {
  ALLOT_ASSIGN_OR_RETURN(const text::Value record, text::ParseJson(line));
  if (!record.is_object()) {
    return base::Error(Reason::kBadRequest, "not an object");
  }
  if (const std::string_view name = record.StringAt({"device_name"}); !name.empty()) {
    ALLOT_ASSIGN_OR_RETURN(devices_[std::string(name)], CelDevice::Parse(record));
    return {};
  }
  const text::Value* const expression = record.Find("expr");
  if (expression == nullptr || !expression->is_string()) {
    return base::Error(
        Reason::kBadRequest,
        expression == nullptr ? "neither expr nor device_name is set" : "expr is not a string");
  }
  ALLOT_ASSIGN_OR_RETURN(const cel::CompileOptions options, OptionsOf(record));
  std::vector<std::unique_ptr<CelDevice>> own;
  std::vector<const cel::DeviceView*> devices;
  if (const text::Value* const list = record.Find("devices")) {
    for (const text::Value& one : list->items()) {
      ALLOT_ASSIGN_OR_RETURN(const auto* device, Device(one, own));
      devices.push_back(device);
    }
  }
  if (const text::Value* const one = record.Find("device"); one && !one->is_null()) {
    ALLOT_ASSIGN_OR_RETURN(const auto* device, Device(*one, own));
    devices.push_back(device);
  }
  static const cel::DeviceView kEmpty;
  if (devices.empty()) {
    devices.push_back(&kEmpty);
  }
  Answer(record, Compile(expression->AsString(), options), devices, out);
  return {};
}

void CelRecords::Answer(const text::Value& record,
                        const cel::Compilation& compiled,
                        std::span<const cel::DeviceView* const> devices,
                        std::string& out) {
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
    for (std::size_t i = 0; i < devices.size(); ++i) {
      out += i == 0 ? "" : ",";
      Evaluate(*compiled.program, *devices[i], Flag(record, "cancelled"), out);
    }
    out += ']';
  }
  out += "}\n";
}

}  // namespace allot::cli
