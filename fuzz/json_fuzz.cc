// ParseJson against simdjson: the same texts are JSON, and they mean the same.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <simdjson.h>

#include "base/check.h"
#include "text/json.h"
#include "text/json_scanner.h"

namespace {

using allot::text::Value;

bool Same(const Value& ours, simdjson::dom::element theirs) {
  using Type = simdjson::dom::element_type;
  switch (theirs.type()) {
    case Type::NULL_VALUE: return ours.is_null();
    case Type::BOOL: return ours.is_bool() && ours.AsBool() == bool(theirs);
    case Type::STRING: return ours.AsString() == std::string_view(theirs);
    case Type::INT64: return ours.AsInt() == std::int64_t(theirs);
    case Type::UINT64: return ours.AsDouble() == static_cast<double>(std::uint64_t(theirs));
    case Type::DOUBLE: return ours.AsDouble() == double(theirs);
    case Type::ARRAY: {
      std::size_t i = 0;
      for (const auto element : simdjson::dom::array(theirs)) {
        if (i >= ours.items().size() || !Same(ours.items()[i++], element)) {
          return false;
        }
      }
      return i == ours.items().size();
    }
    case Type::OBJECT: {
      // Of repeated members ours keeps the last.
      const simdjson::dom::object object(theirs);
      for (const auto member : object) {
        bool last = true;
        bool passed = false;
        for (const auto other : object) {
          passed = passed || other.key.data() == member.key.data();
          last =
              last && !(passed && other.key.data() != member.key.data() && other.key == member.key);
        }
        const Value* const found = ours.Find(member.key);
        if (found == nullptr || (last && !Same(*found, member.value))) {
          return false;
        }
      }
      return true;
    }
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto ours = allot::text::ParseJson(text);
  const auto error = allot::text::FindJsonError(text);
  ALLOT_CHECK(ours.has_value() ? !error.has_value() : true);
  if (ours) {
    const std::string written = allot::text::ToJson(*ours);
    const auto again = allot::text::ParseJson(written);
    ALLOT_CHECK(again.has_value() && *again == *ours);
    const char* const end = text.data() + size;
    const char* const next = allot::text::SkipValue(text.data(), end, 10000);
    ALLOT_CHECK(next != nullptr && allot::text::SkipBlanks(next, end) == end);
  }
  simdjson::dom::parser parser;
  simdjson::dom::element theirs;
  const auto code = parser.parse(simdjson::padded_string(text)).get(theirs);
  if (code == simdjson::SUCCESS) {
    ALLOT_CHECK(ours.has_value() && Same(*ours, theirs));
  } else if (ours.has_value()) {
    // Where Go is wider: stray bytes in strings, integers beyond 64 bits, depth, lone surrogates.
    ALLOT_CHECK(!allot::text::IsValidUtf8(text) || code == simdjson::NUMBER_ERROR ||
                code == simdjson::DEPTH_ERROR || code == simdjson::STRING_ERROR);
  }
  return 0;
}
