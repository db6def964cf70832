#include "apiserver/continue_token.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include <fmt/format.h>

#include "apiserver/base64_url.h"
#include "apiserver/errors.h"
#include "text/json.h"

namespace allot::apiserver {
namespace {

constexpr std::string_view kTokenVersion = "meta.k8s.io/v1";
/// Whether the key has neither empty parts nor ones that lead upwards.
bool IsCleanKey(std::string_view key) {
  if (key.starts_with('/')) {
    key.remove_prefix(1);
  }
  std::size_t at = 0;
  while (at <= key.size()) {
    const std::size_t slash = std::min(key.find('/', at), key.size());
    const std::string_view part = key.substr(at, slash - at);
    if (part.empty() || part == "." || part == "..") {
      return false;
    }
    at = slash + 1;
  }
  return true;
}

std::unexpected<base::Status> Bad(std::string_view why) {
  return base::Error(BadRequestError(fmt::format("invalid continue token: {}", why)));
}

}  // namespace

std::string ContinueToken::Encode() const {
  std::string json = fmt::format("{{\"v\":\"{}\",\"rv\":{},\"start\":", kTokenVersion, revision);
  text::AppendJsonString(start, json);
  json += '}';
  return ToBase64Url(json);
}

base::Result<ContinueToken> ContinueToken::Decode(std::string_view text) {
  std::size_t bad = 0;
  const std::optional<std::string> json = FromBase64Url(text, bad);
  if (!json) {
    return Bad(fmt::format("continue key is not valid: illegal base64 data at input byte {}", bad));
  }
  const base::Result<text::Value> value = text::ParseJson(*json);
  if (!value) {
    return Bad(fmt::format("continue key is not valid: {}", value.error().message()));
  }
  const auto field = [&](std::string_view name) {
    const text::Value* const found = value->Find(name);
    return found != nullptr ? *found : text::Value();
  };
  const text::Value version = field("v");
  if (version.AsString() != kTokenVersion) {
    return Bad(
        fmt::format("continue key is not valid: server does not recognize this encoded version {}",
                    version.AsString()));
  }
  ContinueToken out;
  out.revision = field("rv").AsInt();
  const text::Value start = field("start");
  out.start = start.AsString();
  if (out.revision == 0) {
    return Bad(fmt::format(
        "continue key is not valid: incorrect encoded start resourceVersion (version {})",
        kTokenVersion));
  }
  if (out.start.empty()) {
    return Bad(fmt::format("continue key is not valid: encoded start key empty (version {})",
                           kTokenVersion));
  }
  if (!IsCleanKey(out.start)) {
    return Bad(fmt::format("continue key is not valid: {}", out.start));
  }
  return out;
}

}  // namespace allot::apiserver
