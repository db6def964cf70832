// Pieces of JSON text, for the generators of problems.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace allot::testing {

using Texts = std::vector<std::string>;

inline std::string Joined(const Texts& parts) {
  std::string out;
  for (const std::string& part : parts) {
    out += (out.empty() ? "" : ",") + part;
  }
  return out;
}

inline std::string ListOf(const Texts& parts) {
  return "[" + Joined(parts) + "]";
}

inline std::string ObjectOf(const Texts& parts) {
  return "{" + Joined(parts) + "}";
}

inline std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    out += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return out + "\"";
}

inline std::string Member(std::string_view key, const std::string& value) {
  return Quoted(key) + ":" + value;
}

}  // namespace allot::testing
