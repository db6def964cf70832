// The formatter of string.format(), the unescaper of literals and the quoting of JSON.
#include <cstdint>
#include <string>
#include <string_view>

#include "cel/builder.h"
#include "cel/context.h"
#include "cel/format_string.h"
#include "cel/value_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace allot::cel;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Context context;
  ListRep* const list = context.NewList(4);
  for (const Value value :
       {Value::Int(-12), Value::Double(1234.5678), Value::String(text), Value::Bool(true)}) {
    context.Append(*list, value);
  }
  std::string out;
  std::string error;
  // A wide number alone can fill the memory of the fuzzer.
  if (!text.contains("00")) {
    static_cast<void>(FormatString(text, *list, out, error));
  }
  out.clear();
  AppendJsonString(text, out);
  for (const bool bytes : {false, true}) {
    if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
        text.back() == text.front()) {
      out.clear();
      static_cast<void>(Unescape(text, bytes, out, error));
    }
  }
  return 0;
}
