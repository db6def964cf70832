#include "apiserver/service_tokens.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apiserver/base64_url.h"
#include "text/json.h"
#include "text/value.h"

namespace allot::apiserver {
namespace {

using text::Value;

constexpr std::string_view kIssuer = "https://kubernetes.default.svc.cluster.local";
constexpr std::string_view kHeader = R"({"alg":"ES256","typ":"JWT"})";

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

Value ObjectValue(const TokenClaims::Object& object) {
  Value out = Value::Object();
  out.Set("name", Value(object.name));
  out.Set("uid", Value(object.uid));
  return out;
}

std::string ClaimsJson(const TokenClaims& claims) {
  Value audiences = Value::Array();
  for (const std::string& audience : claims.audiences) {
    audiences.Append(Value(audience));
  }
  Value about = Value::Object();
  about.Set("namespace", Value(claims.ns));
  if (!claims.bound_kind.empty()) {
    about.Set(Lower(claims.bound_kind), ObjectValue(claims.bound));
  }
  about.Set("serviceaccount", ObjectValue(claims.account));
  Value out = Value::Object();
  out.Set("aud", std::move(audiences));
  out.Set("exp", Value(claims.expires_at));
  out.Set("iat", Value(claims.issued_at));
  out.Set("iss", Value(kIssuer));
  out.Set("jti", Value(claims.id));
  out.Set("kubernetes.io", std::move(about));
  out.Set("nbf", Value(claims.issued_at));
  out.Set("sub", Value(fmt::format("system:serviceaccount:{}:{}", claims.ns, claims.account.name)));
  return text::ToJson(out);
}

std::optional<std::string> Decoded(std::string_view part) {
  std::size_t bad = 0;
  return FromBase64Url(part, bad);
}

std::optional<TokenClaims> ReadClaims(std::string_view json) {
  const base::Result<Value> value = text::ParseJson(json);
  if (!value || !value->is_object()) {
    return std::nullopt;
  }
  TokenClaims out;
  const auto number = [&](std::string_view name) {
    const Value* const found = value->Find(name);
    return found != nullptr ? found->AsInt() : 0;
  };
  out.expires_at = number("exp");
  out.issued_at = number("iat");
  out.id = value->StringAt({"jti"});
  out.ns = value->StringAt({"kubernetes.io", "namespace"});
  out.account.name = value->StringAt({"kubernetes.io", "serviceaccount", "name"});
  out.account.uid = value->StringAt({"kubernetes.io", "serviceaccount", "uid"});
  for (const std::string_view kind : {"Pod", "Secret", "Node"}) {
    const std::string key = Lower(kind);
    if (const auto uid = value->StringAt({"kubernetes.io", key, "uid"}); !uid.empty()) {
      out.bound_kind = kind;
      out.bound = {std::string(value->StringAt({"kubernetes.io", key, "name"})), std::string(uid)};
    }
  }
  if (const Value* const audiences = value->Find("aud")) {
    for (const Value& audience : audiences->items()) {
      out.audiences.emplace_back(audience.AsString());
    }
  }
  return out;
}

User UserOf(const TokenClaims& claims) {
  User user;
  user.name = fmt::format("system:serviceaccount:{}:{}", claims.ns, claims.account.name);
  user.uid = claims.account.uid;
  user.groups = {"system:serviceaccounts",
                 fmt::format("system:serviceaccounts:{}", claims.ns),
                 std::string(kAuthenticatedGroup)};
  user.extra.emplace_back("authentication.kubernetes.io/credential-id",
                          std::vector{fmt::format("JTI={}", claims.id)});
  if (claims.bound_kind == "Pod" || claims.bound_kind == "Node") {
    const std::string kind = Lower(claims.bound_kind);
    user.extra.emplace_back(fmt::format("authentication.kubernetes.io/{}-name", kind),
                            std::vector{claims.bound.name});
    user.extra.emplace_back(fmt::format("authentication.kubernetes.io/{}-uid", kind),
                            std::vector{claims.bound.uid});
  }
  return user;
}

}  // namespace

base::Result<std::string> ServiceTokens::Issue(const TokenClaims& claims) const {
  std::string token = ToBase64Url(kHeader) + "." + ToBase64Url(ClaimsJson(claims));
  ALLOT_ASSIGN_OR_RETURN(const std::string signature, net::SignEs256(key_.private_pem, token));
  return token + "." + ToBase64Url(signature);
}

std::optional<User> ServiceTokens::Find(std::string_view token) const {
  const std::size_t first = token.find('.');
  const std::size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos) {
    return std::nullopt;
  }
  const auto signature = Decoded(token.substr(second + 1));
  const auto payload = Decoded(token.substr(first + 1, second - first - 1));
  if (!signature || !payload ||
      !net::VerifyEs256(key_.public_pem, token.substr(0, second), *signature)) {
    return std::nullopt;
  }
  const std::optional<TokenClaims> claims = ReadClaims(*payload);
  const auto now = std::chrono::floor<std::chrono::seconds>(clock_.Now().time_since_epoch());
  if (!claims || claims->expires_at <= now.count() ||
      std::ranges::find(claims->audiences, kTokenAudience) == claims->audiences.end() ||
      uid_of_("ServiceAccount", claims->ns, claims->account.name) != claims->account.uid) {
    return std::nullopt;
  }
  if (!claims->bound_kind.empty() &&
      uid_of_(claims->bound_kind, claims->ns, claims->bound.name) != claims->bound.uid) {
    return std::nullopt;
  }
  return UserOf(*claims);
}

}  // namespace allot::apiserver
