// The HTTP/1 parser: no crash, and the same events in whatever pieces the bytes come.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/h1_parser.h"

namespace {

using allot::net::H1Parser;

/// A transcript of all events; body pieces are joined.
std::string Transcript(std::string_view text, std::size_t step, H1Parser::Kind kind) {
  H1Parser parser(kind, 2048);
  std::string out;
  std::string buffer;
  std::size_t fed = 0;
  while (true) {
    std::string_view input = buffer;
    std::string_view piece;
    const H1Parser::Event event = parser.Next(input, piece);
    switch (event) {
      case H1Parser::Event::kHead:
        out += "\nhead " + parser.method() + " " + parser.target() + " " +
               std::to_string(parser.status()) + (parser.keep_alive() ? " keep " : " close ");
        for (std::size_t i = 0; i < parser.headers().size(); ++i) {
          out += std::string(parser.headers()[i].name) + ":" +
                 std::string(parser.headers()[i].value) + ";";
        }
        break;
      case H1Parser::Event::kBody: out += piece; break;
      case H1Parser::Event::kEnd: out += "\nend"; break;
      case H1Parser::Event::kError: return out + "\nerror";
      case H1Parser::Event::kNeedMore: break;
    }
    buffer = std::string(input);
    if (event == H1Parser::Event::kNeedMore) {
      if (fed == text.size()) {
        return out + (parser.AtEof() == H1Parser::Event::kError ? "\ncut" : "\ndone");
      }
      const std::size_t take = step < text.size() - fed ? step : text.size() - fed;
      buffer.append(text.substr(fed, take));
      fed += take;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size < 4096 ? size : 4096);
  for (const auto kind : {H1Parser::Kind::kRequest, H1Parser::Kind::kResponse}) {
    const std::string whole = Transcript(text, text.size() + 1, kind);
    // A limit is noticed earlier or later by how the bytes come; everything else must not differ.
    if (text.size() < 2048 && Transcript(text, 1, kind) != whole) {
      std::abort();
    }
    if (text.size() < 2048 && Transcript(text, 7, kind) != whole) {
      std::abort();
    }
  }
  return 0;
}
