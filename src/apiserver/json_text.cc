#include "apiserver/json_text.h"

#include <cstddef>

#include "net/certificates.h"

namespace allot::apiserver {
void AppendJsonComma(std::string& out) {
  if (!out.empty() && out.back() != '{' && out.back() != '[') {
    out += ',';
  }
}

void AppendJsonKey(std::string& out, std::string_view key) {
  AppendJsonComma(out);
  AppendJsonString(out, key);
  out += ':';
}

std::string UpperSha512(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : net::Sha512(text)) {
    out += kHex[static_cast<unsigned char>(c) >> 4U];
    out += kHex[static_cast<unsigned char>(c) & 15U];
  }
  return out;
}

std::string PrettyJson(std::string_view compact) {
  std::string out;
  out.reserve(compact.size() * 2);
  std::size_t depth = 0;
  const auto line = [&] {
    out += '\n';
    out.append(depth * 2, ' ');
  };
  for (std::size_t i = 0; i < compact.size(); ++i) {
    const char c = compact[i];
    if (c == '"') {
      const std::size_t start = i++;
      while (i < compact.size() && compact[i] != '"') {
        i += compact[i] == '\\' ? 2 : 1;
      }
      out += compact.substr(start, i - start + 1);
    } else if (c == '{' || c == '[') {
      out += c;
      if (i + 1 < compact.size() && compact[i + 1] == (c == '{' ? '}' : ']')) {
        out += compact[++i];
        continue;
      }
      ++depth;
      line();
    } else if (c == '}' || c == ']') {
      depth -= depth > 0 ? 1 : 0;
      line();
      out += c;
    } else if (c == ',') {
      out += c;
      line();
    } else if (c == ':') {
      out += ": ";
    } else if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
      out += c;
    }
  }
  out += '\n';
  return out;
}

}  // namespace allot::apiserver
