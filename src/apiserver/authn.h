// Who makes a request, and whether he may: authentication by client certificate and bearer token,
// impersonation, and the authorization door.
//
// Until role bindings exist the door knows two sorts of people: members of system:masters and the
// component identities made at start may do anything, all others may read the health pages only.
// Thread safety: immutable after construction.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "net/http.h"

namespace allot::apiserver {

struct User {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::vector<std::pair<std::string, std::vector<std::string>>> extra;

  [[nodiscard]] bool InGroup(std::string_view group) const;
};

inline constexpr std::string_view kMastersGroup = "system:masters";
inline constexpr std::string_view kAuthenticatedGroup = "system:authenticated";

/// A bearer token made at start and whom it stands for.
struct StaticToken {
  std::string token;
  User user;
};

/// Knows the bearers of tokens that are not made at start.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  /// Nothing for tokens it does not know.
  [[nodiscard]] virtual std::optional<User> Find(std::string_view token) const = 0;
};

class Authenticator {
 public:
  /// REQUIRES: more, where not null, outlives the authenticator.
  explicit Authenticator(std::vector<StaticToken> tokens, const TokenSource* more = nullptr);

  /// The user of a request before impersonation; system:anonymous when it brings no credentials.
  /// Errors: kUnauthorized for credentials that are wrong.
  [[nodiscard]] base::Result<User> Authenticate(const net::Request& request) const;
  /// Whom a bearer token stands for; nothing when nobody made it. Cost: the same for all tokens
  /// made at start.
  [[nodiscard]] std::optional<User> FindToken(std::string_view token) const;

 private:
  struct Hashed {
    std::string digest;
    User user;
  };
  std::vector<Hashed> tokens_;
  const TokenSource* more_;
};

/// Whether the request asks to act as somebody else.
[[nodiscard]] bool WantsImpersonation(const net::Request& request);
/// The user the Impersonate-* headers name. REQUIRES: WantsImpersonation.
/// Errors: kBadRequest when groups, uid or extras come without a user.
[[nodiscard]] base::Result<User> ImpersonatedUser(const net::Request& request);

/// What the door is asked.
struct AccessRequest {
  std::string_view verb;
  std::string_view path;  ///< for what is no resource
  std::string_view group;
  std::string_view resource;
  std::string_view subresource;
  std::string_view name_space;
  std::string_view name;
  bool resource_request = false;
};

class Authorizer {
 public:
  /// `component_users` are the identities made at start besides system:masters.
  explicit Authorizer(std::vector<std::string> component_users)
      : component_users_(std::move(component_users)) {}

  [[nodiscard]] bool Allowed(const User& user, const AccessRequest& request) const;
  /// Errors: kForbidden with upstream's text.
  [[nodiscard]] base::Result<void> Check(const User& user, const AccessRequest& request) const;

 private:
  std::vector<std::string> component_users_;
};

}  // namespace allot::apiserver
