#include "apiserver/authn.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "apiserver/errors.h"
#include "net/certificates.h"

namespace allot::apiserver {
namespace {

using base::Reason;

constexpr std::string_view kExtraPrefix = "impersonate-extra-";

/// Equal digests, compared without telling where they differ.
bool SameDigest(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return difference == 0;
}

std::string_view BearerToken(std::string_view header) {
  constexpr std::string_view kScheme = "bearer ";
  if (header.size() <= kScheme.size()) {
    return {};
  }
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    const char c = header[i];
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (lower != kScheme[i]) {
      return {};
    }
  }
  header.remove_prefix(kScheme.size());
  while (!header.empty() && header.front() == ' ') {
    header.remove_prefix(1);
  }
  while (!header.empty() && header.back() == ' ') {
    header.remove_suffix(1);
  }
  return header;
}

User Anonymous() {
  return {"system:anonymous", "", {"system:unauthenticated"}, {}};
}

bool IsHealthPath(std::string_view path) {
  for (const std::string_view page : {"/healthz", "/livez", "/readyz"}) {
    if (path == page || (path.starts_with(page) && path[page.size()] == '/')) {
      return true;
    }
  }
  return path == "/version" || path == "/version/";
}

/// Whoever is known may ask who he is and what he may do.
bool IsSelfReview(const AccessRequest& request) {
  return request.resource_request && request.verb == "create" &&
         (request.resource == "selfsubjectaccessreviews" ||
          request.resource == "selfsubjectrulesreviews" ||
          request.resource == "selfsubjectreviews");
}

std::string DeniedText(const User& user, const AccessRequest& request) {
  if (!request.resource_request) {
    return fmt::format("User \"{}\" cannot {} path \"{}\"", user.name, request.verb, request.path);
  }
  const std::string resource = request.subresource.empty()
                                   ? std::string(request.resource)
                                   : fmt::format("{}/{}", request.resource, request.subresource);
  const std::string where = request.name_space.empty()
                                ? std::string("at the cluster scope")
                                : fmt::format("in the namespace \"{}\"", request.name_space);
  return fmt::format("User \"{}\" cannot {} resource \"{}\" in API group \"{}\" {}",
                     user.name,
                     request.verb,
                     resource,
                     request.group,
                     where);
}

}  // namespace

bool User::InGroup(std::string_view group) const {
  return std::ranges::find(groups, group) != groups.end();
}

Authenticator::Authenticator(std::vector<StaticToken> tokens, const TokenSource* more)
    : more_(more) {
  for (StaticToken& token : tokens) {
    tokens_.push_back({net::Sha256(token.token), std::move(token.user)});
  }
}

base::Result<User> Authenticator::Authenticate(const net::Request& request) const {
  if (request.connection != nullptr && request.connection->peer) {
    const net::PeerCertificate& peer = *request.connection->peer;
    if (peer.verified && !peer.common_name.empty()) {
      User user{peer.common_name, peer.uid, peer.organizations, {}};
      user.groups.emplace_back(kAuthenticatedGroup);
      return user;
    }
  }
  const std::string_view header = request.headers.Get("authorization");
  const std::string_view token = BearerToken(header);
  if (!token.empty()) {
    if (std::optional<User> found = FindToken(token)) {
      return *std::move(found);
    }
  }
  const bool bad_certificate = request.connection != nullptr && request.connection->peer &&
                               !request.connection->peer->verified;
  if (!header.empty() || bad_certificate) {
    return base::Error(Reason::kUnauthorized, "Unauthorized");
  }
  return Anonymous();
}

std::optional<User> Authenticator::FindToken(std::string_view token) const {
  const std::string digest = net::Sha256(token);
  const User* found = nullptr;
  for (const Hashed& candidate : tokens_) {
    found = SameDigest(candidate.digest, digest) ? &candidate.user : found;
  }
  if (found != nullptr) {
    return *found;
  }
  return more_ != nullptr ? more_->Find(token) : std::nullopt;
}

bool WantsImpersonation(const net::Request& request) {
  for (std::size_t i = 0; i < request.headers.size(); ++i) {
    if (request.headers[i].name.starts_with("impersonate-")) {
      return true;
    }
  }
  return false;
}

base::Result<User> ImpersonatedUser(const net::Request& request) {
  User user;
  for (std::size_t i = 0; i < request.headers.size(); ++i) {
    const net::HeaderList::Field field = request.headers[i];
    if (field.name == "impersonate-user") {
      user.name = field.value;
    } else if (field.name == "impersonate-group") {
      user.groups.emplace_back(field.value);
    } else if (field.name == "impersonate-uid") {
      user.uid = field.value;
    } else if (field.name.starts_with(kExtraPrefix)) {
      const std::string key =
          net::PercentDecode(field.name.substr(kExtraPrefix.size())).value_or(std::string());
      const auto at =
          std::ranges::find(user.extra, key, [](const auto& pair) { return pair.first; });
      if (at == user.extra.end()) {
        user.extra.emplace_back(key, std::vector{std::string(field.value)});
      } else {
        at->second.emplace_back(field.value);
      }
    }
  }
  if (user.name.empty()) {
    return base::Error(Reason::kInternalError,
                       fmt::format("Internal error occurred: requested {} without impersonating a "
                                   "user",
                                   "groups, uid or extra"));
  }
  if (user.name == "system:anonymous") {
    user.groups.emplace_back("system:unauthenticated");
    return user;
  }
  constexpr std::string_view kServiceAccount = "system:serviceaccount:";
  if (user.name.starts_with(kServiceAccount) && user.groups.empty()) {
    const std::string_view rest = std::string_view(user.name).substr(kServiceAccount.size());
    user.groups.emplace_back("system:serviceaccounts");
    user.groups.push_back(fmt::format("system:serviceaccounts:{}", rest.substr(0, rest.find(':'))));
  }
  if (!user.InGroup(kAuthenticatedGroup)) {
    user.groups.emplace_back(kAuthenticatedGroup);
  }
  return user;
}

bool Authorizer::Allowed(const User& user, const AccessRequest& request) const {
  if (!request.resource_request && request.verb == "get" && IsHealthPath(request.path)) {
    return true;
  }
  if (IsSelfReview(request) && user.InGroup(kAuthenticatedGroup)) {
    return true;
  }
  return user.InGroup(kMastersGroup) ||
         std::ranges::find(component_users_, user.name) != component_users_.end();
}

base::Result<void> Authorizer::Check(const User& user, const AccessRequest& request) const {
  if (Allowed(user, request)) {
    return {};
  }
  std::string message;
  if (request.resource_request) {
    message = QualifiedName(request.resource, request.group);
    if (!request.name.empty()) {
      message += fmt::format(" \"{}\"", request.name);
    }
    message += " is ";
  }
  message += "forbidden: " + DeniedText(user, request);
  base::StatusDetails details;
  details.name = request.name;
  details.group = request.group;
  details.kind = request.resource;
  return base::Error(base::Status(Reason::kForbidden, std::move(message), std::move(details)));
}

}  // namespace allot::apiserver
