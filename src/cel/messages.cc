#include "cel/messages.h"

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "cel/operations.h"
#include "quantity/go_text.h"

namespace allot::cel {
namespace {

constexpr std::int64_t kSafeInteger = std::int64_t{1} << 53;

constexpr MessageField kBoolFields[] = {{"value", FieldKind::kBool, &types::kBool}};
constexpr MessageField kBytesFields[] = {{"value", FieldKind::kBytes, &types::kBytes}};
constexpr MessageField kDoubleFields[] = {{"value", FieldKind::kDouble, &types::kDouble}};
constexpr MessageField kFloatFields[] = {{"value", FieldKind::kFloat, &types::kDouble}};
constexpr MessageField kInt32Fields[] = {{"value", FieldKind::kInt32, &types::kInt}};
constexpr MessageField kInt64Fields[] = {{"value", FieldKind::kInt64, &types::kInt}};
constexpr MessageField kStringFields[] = {{"value", FieldKind::kString, &types::kString}};
constexpr MessageField kUint32Fields[] = {{"value", FieldKind::kUint32, &types::kUint}};
constexpr MessageField kUint64Fields[] = {{"value", FieldKind::kUint64, &types::kUint}};
constexpr MessageField kTimeFields[] = {{"seconds", FieldKind::kInt64, &types::kInt},
                                        {"nanos", FieldKind::kInt32, &types::kInt}};
constexpr MessageField kAnyFields[] = {{"type_url", FieldKind::kString, &types::kString},
                                       {"value", FieldKind::kBytes, &types::kBytes}};
constexpr MessageField kStructFields[] = {{"fields", FieldKind::kFields, &types::kMapStringDyn}};
constexpr MessageField kListFields[] = {{"values", FieldKind::kValues, &types::kListDyn}};
constexpr MessageField kValueFields[] = {
    {"null_value", FieldKind::kNullValue, &types::kInt},
    {"number_value", FieldKind::kDouble, &types::kDouble},
    {"string_value", FieldKind::kString, &types::kString},
    {"bool_value", FieldKind::kBool, &types::kBool},
    {"struct_value", FieldKind::kStruct, &types::kMapStringDyn},
    {"list_value", FieldKind::kListValue, &types::kListDyn},
};

constexpr std::array kMessages = {
    MessageType{"google.protobuf.Any", &types::kAny, kAnyFields},
    MessageType{"google.protobuf.BoolValue", &types::kBoolWrapper, kBoolFields},
    MessageType{"google.protobuf.BytesValue", &types::kBytesWrapper, kBytesFields},
    MessageType{"google.protobuf.DoubleValue", &types::kDoubleWrapper, kDoubleFields},
    MessageType{"google.protobuf.Duration", &types::kDuration, kTimeFields},
    MessageType{"google.protobuf.Empty", &types::kEmptyMessage, {}},
    MessageType{"google.protobuf.FloatValue", &types::kDoubleWrapper, kFloatFields},
    MessageType{"google.protobuf.Int32Value", &types::kIntWrapper, kInt32Fields},
    MessageType{"google.protobuf.Int64Value", &types::kIntWrapper, kInt64Fields},
    MessageType{"google.protobuf.ListValue", &types::kListDyn, kListFields},
    MessageType{"google.protobuf.StringValue", &types::kStringWrapper, kStringFields},
    MessageType{"google.protobuf.Struct", &types::kMapStringDyn, kStructFields},
    MessageType{"google.protobuf.Timestamp", &types::kTimestamp, kTimeFields},
    MessageType{"google.protobuf.UInt32Value", &types::kUintWrapper, kUint32Fields},
    MessageType{"google.protobuf.UInt64Value", &types::kUintWrapper, kUint64Fields},
    MessageType{"google.protobuf.Value", &types::kDyn, kValueFields},
};

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k > bytes.size() ? '=' : kDigits[group >> (18 - 6 * k) & 63U];
    }
  }
  return out;
}

double RoundToFloat(double value) {
  constexpr double kOverflow = 0x1.ffffffp127;  // from here on floats round to infinity
  if (std::fabs(value) >= kOverflow) {
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  }
  return static_cast<double>(static_cast<float>(value));
}

// Go's name of the type a field's value is converted to.
std::string_view TargetName(FieldKind kind) {
  switch (kind) {
    case FieldKind::kBool: return "bool";
    case FieldKind::kBytes: return "[]uint8";
    case FieldKind::kDouble: return "float64";
    case FieldKind::kFloat: return "float32";
    case FieldKind::kInt32: return "int32";
    case FieldKind::kInt64: return "int64";
    case FieldKind::kString: return "string";
    case FieldKind::kUint32: return "uint32";
    case FieldKind::kUint64: return "uint64";
    case FieldKind::kNullValue: return "protoreflect.EnumNumber";
    case FieldKind::kStruct: return "*structpb.Struct";
    case FieldKind::kListValue: return "*structpb.ListValue";
    default: return "*structpb.Value";
  }
}

// Why a value cannot become what a field holds.
std::string ConversionError(const Value& value, std::string_view target) {
  switch (value.kind) {
    case ValueKind::kString:
      return fmt::format("unsupported native conversion from string to '{}'", target);
    case ValueKind::kInt:
    case ValueKind::kUint:
      return fmt::format("unsupported type conversion from '{}' to {}", TypeName(value), target);
    case ValueKind::kDouble:
      return fmt::format("type conversion error from Double to '{}'", target);
    case ValueKind::kBytes: return fmt::format("type conversion error from Bytes to '{}'", target);
    case ValueKind::kBool: return fmt::format("type conversion error from bool to '{}'", target);
    case ValueKind::kNull:
      return fmt::format("type conversion error from 'null_type' to '{}'", target);
    case ValueKind::kList: return fmt::format("type conversion error from list to '{}'", target);
    case ValueKind::kMap: return fmt::format("type conversion error from map to '{}'", target);
    case ValueKind::kDuration:
      return fmt::format("type conversion error from 'Duration' to '{}'", target);
    case ValueKind::kTimestamp:
      return fmt::format("type conversion error from 'Timestamp' to '{}'", target);
    case ValueKind::kType: return "type conversion not supported for 'type'";
    case ValueKind::kQuantity:
      return fmt::format("type conversion error from 'Quantity' to '{}'", target);
    case ValueKind::kSemver:
      return fmt::format("type conversion error from 'Semver' to '{}'", target);
    case ValueKind::kUrl: return fmt::format("type conversion error from 'URL' to '{}'", target);
    case ValueKind::kIp: return fmt::format("type conversion error from 'IP' to '{}'", target);
    case ValueKind::kCidr: return fmt::format("type conversion error from 'CIDR' to '{}'", target);
    case ValueKind::kFormat:
      return fmt::format("type conversion error from 'Format' to '{}'", target);
    default: return "optional.none() dereference";
  }
}

// Converts values to what fields hold. `error` is set where one does not fit.
class Converter {
 public:
  explicit Converter(Context& context) : context_(context) {}

  [[nodiscard]] const std::string& error() const { return error_; }

  Value Convert(FieldKind kind, Value value) {
    if (value.Is(ValueKind::kOptional) && value.optional != nullptr) {
      value = *value.optional;
    }
    switch (kind) {
      case FieldKind::kStruct:
      case FieldKind::kFields:
        return value.Is(ValueKind::kMap) || value.Is(ValueKind::kMessage) ? JsonMap(value)
                                                                          : Fail(value, kind);
      case FieldKind::kListValue:
      case FieldKind::kValues:
        return value.Is(ValueKind::kList) ? JsonList(value) : Fail(value, kind);
      default: return Scalar(kind, value);
    }
  }

 private:
  Value Fail(const Value& value, FieldKind kind) {
    error_ = ConversionError(value, TargetName(kind));
    return Value::Null();
  }
  Value FailWith(std::string_view text) {
    error_ = text;
    return Value::Null();
  }

  Value Scalar(FieldKind kind, const Value& value) {
    switch (kind) {
      case FieldKind::kBool: return value.Is(ValueKind::kBool) ? value : Fail(value, kind);
      case FieldKind::kBytes:
        return value.Is(ValueKind::kBytes)  ? value
               : value.Is(ValueKind::kList) ? BytesOf(*value.list)
                                            : Fail(value, kind);
      case FieldKind::kString: return value.Is(ValueKind::kString) ? value : Fail(value, kind);
      case FieldKind::kDouble: return value.Is(ValueKind::kDouble) ? value : Fail(value, kind);
      case FieldKind::kFloat:
        return value.Is(ValueKind::kDouble) ? Value::Double(RoundToFloat(value.number))
                                            : Fail(value, kind);
      case FieldKind::kInt64: return value.Is(ValueKind::kInt) ? value : Fail(value, kind);
      case FieldKind::kUint64: return value.Is(ValueKind::kUint) ? value : Fail(value, kind);
      case FieldKind::kUint32:
        if (!value.Is(ValueKind::kUint)) {
          return Fail(value, kind);
        }
        return value.uinteger > std::numeric_limits<std::uint32_t>::max()
                   ? FailWith("unsigned integer overflow")
                   : value;
      default:  // int32, enums
        if (!value.Is(ValueKind::kInt)) {
          return Fail(value, kind);
        }
        return value.integer > std::numeric_limits<std::int32_t>::max() ||
                       value.integer < std::numeric_limits<std::int32_t>::min()
                   ? FailWith("integer overflow")
                   : value;
    }
  }

  // A list of small numbers is bytes, too.
  Value BytesOf(const ListRep& list) {
    std::string out;
    for (const Value& item : list.values()) {
      if (!item.Is(ValueKind::kUint)) {
        error_ = ConversionError(item, "uint8");
        return Value::Null();
      }
      if (item.uinteger > std::numeric_limits<std::uint8_t>::max()) {
        return FailWith("unsigned integer overflow");
      }
      out += static_cast<char>(item.uinteger);
    }
    return context_.Text(ValueKind::kBytes, out);
  }

  Value JsonMap(const Value& value) {
    if (value.Is(ValueKind::kMessage)) {  // without fields
      return context_.Map(context_.NewMap(0));
    }
    MapRep* const map = context_.NewMap(value.map->size);
    for (const MapEntry& entry : value.map->values()) {
      if (!entry.key.Is(ValueKind::kString)) {
        error_ = ConversionError(entry.key, "string");
        return Value::Null();
      }
      const Value item = Json(entry.value);
      if (!error_.empty()) {
        return item;
      }
      context_.Put(*map, entry.key, item);
    }
    map->go_type = "*structpb.Struct";
    map->native = true;
    return context_.Map(map);
  }

  Value JsonList(const Value& value) {
    ListRep* const list = context_.NewList(value.list->size);
    for (const Value& item : value.list->values()) {
      context_.Append(*list, Json(item));
      if (!error_.empty()) {
        break;
      }
    }
    list->go_type = "*structpb.ListValue";
    return context_.ListValue(list);
  }

  // A value as google.protobuf.Value, read back.
  Value Json(const Value& value) {
    if (!context_.Work(1) || context_.exhausted()) {
      return Value::Null();
    }
    switch (value.kind) {
      case ValueKind::kNull:
      case ValueKind::kBool:
      case ValueKind::kString:
      case ValueKind::kDouble: return value;
      case ValueKind::kInt:
        return value.integer > kSafeInteger - 1 || value.integer < -kSafeInteger + 1
                   ? context_.String(fmt::format("{}", value.integer))
                   : Value::Double(static_cast<double>(value.integer));
      case ValueKind::kUint:
        return value.uinteger > static_cast<std::uint64_t>(kSafeInteger - 1)
                   ? context_.String(fmt::format("{}", value.uinteger))
                   : Value::Double(static_cast<double>(value.uinteger));
      case ValueKind::kBytes: return context_.String(Base64(value.text()));
      case ValueKind::kDuration: return context_.String(DurationText(value.integer));
      case ValueKind::kTimestamp: return context_.String(quantity::FormatNanoTime(*value.time));
      case ValueKind::kList: return JsonList(value);
      case ValueKind::kMap:
      case ValueKind::kMessage: return JsonMap(value);
      case ValueKind::kOptional:
        if (value.optional != nullptr) {
          return Json(*value.optional);
        }
        [[fallthrough]];
      default: error_ = ConversionError(value, "*structpb.Value"); return Value::Null();
    }
  }

  Context& context_;
  std::string error_;
};

Value FieldOr(std::span<const FieldValue> fields, std::string_view name, Value otherwise) {
  for (const FieldValue& field : fields) {
    if (field.name == name) {
      otherwise = field.value;
    }
  }
  return otherwise;
}

// Seconds and nanoseconds as one number, saturated as Go's AsDuration is.
std::int64_t SaturatedNanos(std::int64_t seconds, std::int64_t nanos) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(seconds, std::int64_t{1'000'000'000}, &out) ||
      __builtin_add_overflow(out, nanos, &out)) {
    return seconds < 0 ? std::numeric_limits<std::int64_t>::min()
                       : std::numeric_limits<std::int64_t>::max();
  }
  return out;
}

Value TimestampOf(Context& context, std::int64_t seconds, std::int64_t nanos) {
  constexpr std::int64_t kNanos = 1'000'000'000;
  std::int64_t carry = nanos / kNanos;
  std::int64_t rest = nanos % kNanos;
  if (rest < 0) {
    rest += kNanos;
    --carry;
  }
  quantity::OffsetTime time;
  time.seconds = static_cast<std::int64_t>(static_cast<std::uint64_t>(seconds) +
                                           static_cast<std::uint64_t>(carry));
  time.nanos = static_cast<std::int32_t>(rest);
  return context.Timestamp(time);
}

// What a message is once it is unwrapped.
Value Unwrap(Context& context, const MessageType& message, std::span<const FieldValue> fields) {
  if (message.type == &types::kEmptyMessage) {
    return Value::Text(ValueKind::kMessage, message.name);
  }
  switch (message.type->kind) {
    case TypeKind::kDuration:
      return Value::Duration(SaturatedNanos(FieldOr(fields, "seconds", Value::Int(0)).integer,
                                            FieldOr(fields, "nanos", Value::Int(0)).integer));
    case TypeKind::kTimestamp:
      return TimestampOf(context,
                         FieldOr(fields, "seconds", Value::Int(0)).integer,
                         FieldOr(fields, "nanos", Value::Int(0)).integer);
    case TypeKind::kMap: {
      MapRep* const empty = context.NewMap(0);
      empty->go_type = "*structpb.Struct";
      empty->native = true;
      return FieldOr(fields, "fields", context.Map(empty));
    }
    case TypeKind::kList: {
      ListRep* const empty = context.NewList(0);
      empty->go_type = "*structpb.ListValue";
      return FieldOr(fields, "values", context.ListValue(empty));
    }
    case TypeKind::kDyn:
      // One of its fields; the last one set.
      return fields.empty() || fields.back().name == "null_value" ? Value::Null()
                                                                  : fields.back().value;
    case TypeKind::kBool: return FieldOr(fields, "value", Value::Bool(false));
    case TypeKind::kInt: return FieldOr(fields, "value", Value::Int(0));
    case TypeKind::kUint: return FieldOr(fields, "value", Value::Uint(0));
    case TypeKind::kDouble: return FieldOr(fields, "value", Value::Double(0));
    case TypeKind::kString: return FieldOr(fields, "value", Value::String(""));
    default: return FieldOr(fields, "value", Value::Text(ValueKind::kBytes, ""));
  }
}

// Repeated fields and maps take only lists and maps.
std::string WrongShape(const MessageType& message, const MessageField& field, const Value& value) {
  const bool fits = field.kind == FieldKind::kValues   ? value.Is(ValueKind::kList)
                    : field.kind == FieldKind::kFields ? value.Is(ValueKind::kMap)
                                                       : true;
  return fits ? std::string()
              : fmt::format("unsupported field type for {}.{}: {}",
                            message.name,
                            field.name,
                            RuntimeTypeText(value));
}

// What an Any holds is not unpacked; upstream says this of what it cannot unpack.
Value UnpackAny(Context& context, std::span<const FieldValue> fields) {
  std::string text;
  for (const FieldValue& field : fields) {
    if (field.value.size > 0) {
      text += text.empty() ? "" : "  ";
      text += fmt::format("{}:{}", field.name, quantity::GoQuote(field.value.text()));
    }
  }
  return context.Error("unsupported conversion to ref.Val: (*dynamicpb.Message)" + text);
}

}  // namespace

const MessageField* MessageType::Find(std::string_view field) const {
  for (const MessageField& known : fields) {
    if (known.name == field) {
      return &known;
    }
  }
  return nullptr;
}

const MessageType* FindMessage(std::string_view name) {
  for (const MessageType& message : kMessages) {
    if (message.name == name) {
      return &message;
    }
  }
  return nullptr;
}

const MessageType* WellKnownMessage(const Type* type) {
  switch (type->kind) {
    case TypeKind::kAny: return FindMessage("google.protobuf.Any");
    case TypeKind::kTimestamp: return FindMessage("google.protobuf.Timestamp");
    case TypeKind::kDuration: return FindMessage("google.protobuf.Duration");
    case TypeKind::kDyn: return FindMessage("google.protobuf.Value");
    case TypeKind::kList:
      return type->params[0] == &types::kDyn ? FindMessage("google.protobuf.ListValue") : nullptr;
    case TypeKind::kMap:
      return type->params[0] == &types::kString && type->params[1] == &types::kDyn
                 ? FindMessage("google.protobuf.Struct")
                 : nullptr;
    case TypeKind::kStruct: return FindMessage(type->name);
    default: break;
  }
  if (!type->nullable) {
    return nullptr;
  }
  switch (type->kind) {
    case TypeKind::kBool: return FindMessage("google.protobuf.BoolValue");
    case TypeKind::kBytes: return FindMessage("google.protobuf.BytesValue");
    case TypeKind::kDouble: return FindMessage("google.protobuf.DoubleValue");
    case TypeKind::kInt: return FindMessage("google.protobuf.Int64Value");
    case TypeKind::kUint: return FindMessage("google.protobuf.UInt64Value");
    default: return FindMessage("google.protobuf.StringValue");
  }
}

Value NewMessage(Context& context, std::string_view name, std::span<const FieldValue> fields) {
  const MessageType* const message = FindMessage(name);
  if (message == nullptr) {
    return context.Error(fmt::format("unknown type '{}'", name));
  }
  std::vector<FieldValue> converted;
  for (const FieldValue& field : fields) {
    const MessageField* const known = message->Find(field.name);
    if (known == nullptr) {
      return context.Error(fmt::format("no such field: {}", field.name));
    }
    if (std::string error = WrongShape(*message, *known, field.value); !error.empty()) {
      return context.Error(error);
    }
    Converter converter(context);
    const Value value = converter.Convert(known->kind, field.value);
    if (!converter.error().empty()) {
      return context.Error(fmt::format("field type conversion error for {}.{} value type: {}",
                                       name,
                                       field.name,
                                       converter.error()));
    }
    converted.push_back({field.name, value});
  }
  if (message->type == &types::kAny) {
    return UnpackAny(context, converted);
  }
  return Unwrap(context, *message, converted);
}

}  // namespace allot::cel
