// ServiceTokens: bearer tokens of service accounts, as signed JSON web tokens. They are not kept:
// a token is good while its signature, its time, its account and the object it is bound to are.
// Thread safety: immutable after construction; Check asks the lookup it was given.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/authn.h"
#include "base/clock.h"
#include "base/status.h"
#include "net/certificates.h"

namespace allot::apiserver {

inline constexpr std::string_view kTokenAudience = "https://kubernetes.default.svc";

/// What a token says.
struct TokenClaims {
  struct Object {
    std::string name;
    std::string uid;
  };
  std::vector<std::string> audiences;
  std::string ns;
  Object account;
  std::string bound_kind;  ///< "", "Pod", "Secret" or "Node"
  Object bound;
  std::string id;
  std::int64_t issued_at = 0;  ///< Unit: seconds since 1970.
  std::int64_t expires_at = 0;
};

class ServiceTokens final : public TokenSource {
 public:
  /// The uid of the object that has this name now; empty when there is none. `kind` is
  /// ServiceAccount or a bound kind.
  using UidOf =
      std::function<std::string(std::string_view kind, std::string_view ns, std::string_view name)>;

  /// REQUIRES: clock outlives the tokens.
  ServiceTokens(net::SigningKey key, const base::Clock& clock, UidOf uid_of)
      : key_(std::move(key)), clock_(clock), uid_of_(std::move(uid_of)) {}

  [[nodiscard]] base::Result<std::string> Issue(const TokenClaims& claims) const;
  /// Whom the token stands for; nothing when it is none of ours or not good any more.
  [[nodiscard]] std::optional<User> Find(std::string_view token) const override;

 private:
  net::SigningKey key_;
  const base::Clock& clock_;
  UidOf uid_of_;
};

}  // namespace allot::apiserver
