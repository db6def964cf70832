#include "net/h1_parser.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace allot::net {
namespace {

/// What a parser made of a text: "GET / [a=b] body|..." or "error 400".
std::string Parse(std::string_view text,
                  std::size_t step,
                  H1Parser::Kind kind,
                  bool at_end = false,
                  std::size_t limit = 4096) {
  H1Parser parser(kind, limit);
  std::string out;
  std::string buffer;
  std::size_t fed = 0;
  while (true) {
    std::string_view input = buffer;
    std::string_view piece;
    H1Parser::Event event = parser.Next(input, piece);
    if (event == H1Parser::Event::kNeedMore && fed == text.size()) {
      if (!at_end) {
        return out + (parser.in_message() ? "more" : "");
      }
      event = parser.AtEof();
      if (event == H1Parser::Event::kNeedMore) {
        return out;
      }
      at_end = false;
    }
    if (event == H1Parser::Event::kHead) {
      out += kind == H1Parser::Kind::kRequest ? parser.method() + " " + parser.target()
                                              : std::to_string(parser.status());
      out += parser.keep_alive() ? " " : " close ";
      for (std::size_t i = 0; i < parser.headers().size(); ++i) {
        const auto field = parser.headers()[i];
        out += std::string(field.name) + "=" + std::string(field.value) + ";";
      }
    } else if (event == H1Parser::Event::kBody) {
      out += piece;
    } else if (event == H1Parser::Event::kEnd) {
      out += "|";
    } else if (event == H1Parser::Event::kError) {
      return out + "error " + std::to_string(parser.error_status());
    }
    const std::string rest(input);
    buffer = rest;
    if (event == H1Parser::Event::kNeedMore && fed < text.size()) {
      const std::size_t take = std::min(step, text.size() - fed);
      buffer.append(text.substr(fed, take));
      fed += take;
    }
  }
}

struct Case {
  const char* name;
  std::string text;
  const char* expected;
};

void Check(const std::vector<Case>& cases, H1Parser::Kind kind, bool at_end = false) {
  for (const Case& c : cases) {
    for (const std::size_t step : {1UL, 2UL, 7UL, 100'000UL}) {
      SCOPED_TRACE(std::string(c.name) + " in steps of " + std::to_string(step));
      EXPECT_EQ(Parse(c.text, step, kind, at_end), c.expected);
    }
  }
}

TEST(H1ParserTest, Requests) {
  Check(
      {
          {"plain", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / host=a;|"},
          {"bare line feeds", "GET / HTTP/1.1\nHost: a\n\n", "GET / host=a;|"},
          {"empty lines before", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / host=a;|"},
          {"white space around values",
           "GET / HTTP/1.1\r\nHost:  a \t\r\nX:\r\n\r\n",
           "GET / host=a;x=;|"},
          {"body",
           "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
           "POST /x host=a;content-length=3;abc|"},
          {"pipelined",
           "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\naGET /y HTTP/1.1\r\nHost: "
           "b\r\n\r\n",
           "POST /x host=a;content-length=1;a|GET /y host=b;|"},
          {"chunked",
           "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1;x=y\r\nd"
           "\r\n0\r\nTrailer: t\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
           "POST /x host=a;transfer-encoding=chunked;abcd|GET / host=a;|"},
          {"close",
           "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
           "GET / close host=a;connection=close;|"},
          {"1.0", "GET / HTTP/1.0\r\n\r\n", "GET / close |"},
          {"1.0 keep-alive",
           "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
           "GET / connection=keep-alive;|"},
          {"half a head", "GET / HTTP/1.1\r\nHost", "more"},
          {"equal lengths twice",
           "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
           "POST / host=a;content-length=0;content-length=0;|"},
      },
      H1Parser::Kind::kRequest);
}

TEST(H1ParserTest, BadRequests) {
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\n";
  const std::string chunked = head + "Transfer-Encoding: chunked\r\n\r\n";
  const std::string begun = "POST / host=a;transfer-encoding=chunked;";
  for (const Case& c : std::vector<Case>{
           {"no version", "GET /\r\n\r\n", "error 400"},
           {"garbage", "\x16\x03\x01\x02\r\n\r\n", "error 400"},
           {"future version", "GET / HTTP/3.0\r\nHost: a\r\n\r\n", "error 505"},
           {"space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", "error 400"},
           {"no host", "GET / HTTP/1.1\r\n\r\n", "error 400"},
           {"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "error 400"},
           {"folded line", "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", "error 400"},
           {"space before colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "error 400"},
           {"control in value", "GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n", "error 400"},
           {"carriage return in value", "GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", "error 400"},
           {"negative length", head + "Content-Length: -1\r\n\r\n", "error 400"},
           {"hex length", head + "Content-Length: 0x1\r\n\r\n", "error 400"},
           {"endless length", head + "Content-Length: 99999999999999999999\r\n\r\n", "error 400"},
           {"two lengths", head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "error 400"},
           {"length and chunked",
            head + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "error 400"},
           {"other encoding", head + "Transfer-Encoding: gzip, chunked\r\n\r\n", "error 501"},
           {"bad chunk size", chunked + "x\r\n", "error 400"},
           {"chunk size without CR", chunked + "1\na\r\n", "error 400"},
           {"endless chunk size", chunked + "1111111111111111\r\n", "error 400"},
           {"chunk without end", chunked + "1\r\nab\r\n", "aerror 400"},
           {"large headers", "GET / HTTP/1.1\r\nA: " + std::string(5000, 'x'), "error 431"},
       }) {
    for (const std::size_t step : {1UL, 100'000UL}) {
      SCOPED_TRACE(std::string(c.name) + " in steps of " + std::to_string(step));
      const std::string expected = c.text.substr(0, chunked.size()) == chunked
                                       ? begun + c.expected
                                       : std::string(c.expected);
      EXPECT_EQ(Parse(c.text, step, H1Parser::Kind::kRequest), expected);
    }
  }
}

TEST(H1ParserTest, Responses) {
  Check(
      {
          {"length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", "200 content-length=2;ab|"},
          {"no reason", "HTTP/1.1 204\r\n\r\n", "204 |"},
          {"interim",
           "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
           "100 |201 content-length=0;|"},
          {"until the end", "HTTP/1.1 200 OK\r\n\r\nabc", "200 close abc|"},
          {"cut off",
           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
           "200 content-length=5;abcerror 400"},
          {"cut off in a chunk",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
           "200 transfer-encoding=chunked;abcerror 400"},
          {"not HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n", "error 400"},
      },
      H1Parser::Kind::kResponse,
      /*at_end=*/true);
}

}  // namespace
}  // namespace allot::net
