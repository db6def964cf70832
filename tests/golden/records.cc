#include "golden/records.h"

#include <charconv>
#include <cstdlib>
#include <fstream>

#include "cel/types.h"

namespace allot::golden {
namespace {

using text::Value;

template <typename T>
T NumberOf(std::string_view text, int base = 10) {
  T out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out, base);
  return out;
}

double DoubleOf(const Value& tagged) {
  const auto bits = NumberOf<std::uint64_t>(tagged.StringAt({"bits"}), 16);
  double out = 0;
  static_assert(sizeof out == sizeof bits);
  __builtin_memcpy(&out, &bits, sizeof out);
  return out;
}

std::string FromHex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(NumberOf<unsigned>(hex.substr(i, 2), 16));
  }
  return out;
}

std::int64_t IntegerAt(const Value& tagged, std::string_view key) {
  const Value* const found = tagged.FindPath({"v", key});
  return found == nullptr ? 0 : found->AsInt();
}

}  // namespace

std::optional<std::vector<std::string>> SharedLines(std::string_view name) {
  const char* const named = std::getenv("ALLOT_SHARED");
  const std::string shared = named != nullptr ? named : ALLOT_GOLDEN_DATA "/../../../../shared";
  std::ifstream file(shared + "/" + std::string(name));
  if (!file.is_open()) {
    return std::nullopt;
  }
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
  }
  return lines;
}

const cel::Type* Declarations::Parse(std::string_view text) {
  struct Name {
    std::string_view text;
    const cel::Type* type;
  };
  const Name names[] = {{"dyn", &cel::types::kDyn},
                        {"any", &cel::types::kAny},
                        {"bool", &cel::types::kBool},
                        {"int", &cel::types::kInt},
                        {"uint", &cel::types::kUint},
                        {"double", &cel::types::kDouble},
                        {"string", &cel::types::kString},
                        {"bytes", &cel::types::kBytes},
                        {"null", &cel::types::kNull},
                        {"null_type", &cel::types::kNull},
                        {"type", &cel::types::kType},
                        {"duration", &cel::types::kDuration},
                        {"timestamp", &cel::types::kTimestamp},
                        {"google.protobuf.Duration", &cel::types::kDuration},
                        {"google.protobuf.Timestamp", &cel::types::kTimestamp}};
  for (const Name& name : names) {
    if (name.text == text) {
      return name.type;
    }
  }
  if (text.starts_with('$')) {
    return types_.Param(arena_.Copy(text.substr(1)), 0);
  }
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')')) {
    return nullptr;
  }
  const auto params = ParseList(text.substr(open + 1, text.size() - open - 2));
  const std::string_view outer = text.substr(0, open);
  if (!params) {
    return nullptr;
  }
  if (outer == "list") {
    return types_.List((*params)[0]);
  }
  if (outer == "map" && params->size() == 2) {
    return types_.Map((*params)[0], (*params)[1]);
  }
  if (outer == "wrapper") {
    return types_.Nullable((*params)[0]);
  }
  if (outer == "type") {
    return types_.TypeOf((*params)[0]);
  }
  return types_.Opaque(outer, *params);
}

std::optional<std::vector<const cel::Type*>> Declarations::ParseList(std::string_view text) {
  std::vector<const cel::Type*> out;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') {
      ++depth;
    } else if (i < text.size() && text[i] == ')') {
      --depth;
    } else if (i == text.size() || (text[i] == ',' && depth == 0)) {
      out.push_back(Parse(text.substr(start, i - start)));
      if (out.back() == nullptr) {
        return std::nullopt;
      }
      start = i + 2;
    }
  }
  return out;
}

bool Declarations::Apply(const Value& record, cel::Env& env) {
  env.container = arena_.Copy(record.StringAt({"container"}));
  const Value* const declared = record.Find("type_env");
  if (declared == nullptr) {
    return true;
  }
  for (const Value& item : declared->items()) {
    const cel::Type* const type = Parse(item.StringAt({"type"}));
    if (item.StringAt({"var"}).empty() || type == nullptr) {
      return false;
    }
    env.variables.push_back({arena_.Copy(item.StringAt({"var"})), type});
  }
  return true;
}

std::optional<cel::Value> Untag(cel::Context& context, const Value& tagged) {
  const std::string_view kind = tagged.StringAt({"t"});
  const std::string_view text = tagged.StringAt({"v"});
  const Value* const value = tagged.Find("v");
  if (kind == "null") {
    return cel::Value::Null();
  }
  if (kind == "bool") {
    return cel::Value::Bool(value->AsBool());
  }
  if (kind == "int") {
    return cel::Value::Int(NumberOf<std::int64_t>(text));
  }
  if (kind == "uint") {
    return cel::Value::Uint(NumberOf<std::uint64_t>(text));
  }
  if (kind == "double") {
    return cel::Value::Double(DoubleOf(tagged));
  }
  if (kind == "string") {
    return context.String(text);
  }
  if (kind == "bytes") {
    return context.Text(cel::ValueKind::kBytes, FromHex(text));
  }
  if (kind == "type") {
    return context.Text(cel::ValueKind::kType, text);
  }
  if (kind == "duration") {
    return cel::Value::Duration(IntegerAt(tagged, "s") * 1'000'000'000 + IntegerAt(tagged, "n"));
  }
  if (kind == "timestamp") {
    quantity::OffsetTime time;
    time.seconds = IntegerAt(tagged, "s");
    time.nanos = static_cast<std::int32_t>(IntegerAt(tagged, "n"));
    return context.Timestamp(time);
  }
  if (kind == "list") {
    std::vector<cel::Value> items;
    for (const Value& item : value->items()) {
      const auto untagged = Untag(context, item);
      if (!untagged) {
        return std::nullopt;
      }
      items.push_back(*untagged);
    }
    return context.List(items);
  }
  if (kind == "map") {
    cel::MapRep* const map = context.NewMap(value->items().size());
    for (const Value& entry : value->items()) {
      const auto key = Untag(context, entry.items()[0]);
      const auto item = Untag(context, entry.items()[1]);
      if (!key || !item) {
        return std::nullopt;
      }
      context.Put(*map, *key, *item);
    }
    return context.Map(map);
  }
  return std::nullopt;
}

std::optional<std::vector<cel::Binding>> Bindings(cel::Context& context, const Value& record) {
  std::vector<cel::Binding> out;
  const Value* const bindings = record.Find("bindings");
  if (bindings == nullptr) {
    return out;
  }
  for (const text::Member& member : bindings->members()) {
    const auto value = Untag(context, member.value);
    if (!value) {
      return std::nullopt;
    }
    out.push_back({context.String(member.key).text(), *value});
  }
  return out;
}

}  // namespace allot::golden
