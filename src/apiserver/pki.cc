#include "apiserver/pki.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/random.h"

namespace allot::apiserver {
namespace {

using base::Reason;
using base::Result;

/// Certificates with less life left than this are made anew at start.
constexpr std::chrono::hours kRenewBefore{24 * 90};

std::unexpected<base::Status> FileError(std::string_view what, const std::string& path) {
  return base::Error(Reason::kInternalError,
                     fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

/// nullopt when there is no such file.
Result<std::optional<std::string>> ReadFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT) {
      return std::nullopt;
    }
    return FileError("read", path);
  }
  std::string text;
  std::array<char, 4096> buffer{};
  ssize_t got = 0;
  while ((got = ::read(fd, buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(fd);
  if (got < 0) {
    return FileError("read", path);
  }
  return text;
}

/// Readable by the owner alone; a new file takes the old one's place.
Result<void> WriteFile(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".new";
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) {
    return FileError("write", temporary);
  }
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                       ::fsync(fd) == 0;
  ::close(fd);
  if (!written) {
    return FileError("write", temporary);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    return FileError("rename", temporary);
  }
  return {};
}

/// A folder of PEM files; without a folder nothing is read or kept.
class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}

  /// The pair if both files are there and `good` accepts it, else what `make` makes, written down.
  Result<net::KeyPair> PairOf(std::string_view name,
                              const std::function<bool(const net::KeyPair&)>& good,
                              const std::function<Result<net::KeyPair>()>& make) const {
    if (!path_.empty()) {
      ALLOT_ASSIGN_OR_RETURN(auto certificate, ReadFile(PathOf(name, ".crt")));
      ALLOT_ASSIGN_OR_RETURN(auto key, ReadFile(PathOf(name, ".key")));
      if (certificate && key) {
        net::KeyPair pair{*std::move(certificate), *std::move(key)};
        if (good(pair)) {
          return pair;
        }
      }
    }
    ALLOT_ASSIGN_OR_RETURN(net::KeyPair pair, make());
    if (!path_.empty()) {
      ALLOT_RETURN_IF_ERROR(WriteFile(PathOf(name, ".key"), pair.key_pem));
      ALLOT_RETURN_IF_ERROR(WriteFile(PathOf(name, ".crt"), pair.certificate_pem));
    }
    return pair;
  }

  Result<std::string> TextOf(std::string_view name, std::string fresh) const {
    if (path_.empty()) {
      return fresh;
    }
    ALLOT_ASSIGN_OR_RETURN(auto text, ReadFile(PathOf(name, "")));
    if (text && !text->empty()) {
      return *std::move(text);
    }
    ALLOT_RETURN_IF_ERROR(WriteFile(PathOf(name, ""), fresh));
    return fresh;
  }

 private:
  [[nodiscard]] std::string PathOf(std::string_view name, std::string_view ending) const {
    return fmt::format("{}/{}{}", path_, name, ending);
  }
  std::string path_;
};

bool IsCurrent(const net::KeyPair& pair,
               const net::KeyPair& ca,
               const std::vector<std::string>& names,
               base::WallTime now) {
  if (!net::CheckKeyPair(pair, ca.certificate_pem, now)) {
    return false;
  }
  const Result<net::CertificateInfo> info = net::ReadCertificate(pair.certificate_pem);
  return info && info->not_after - now > kRenewBefore &&
         std::ranges::all_of(names, [&](const std::string& name) {
           return std::ranges::find(info->names, name) != info->names.end();
         });
}

}  // namespace

Result<Pki> Pki::Load(const std::string& directory,
                      const std::vector<std::string>& names,
                      base::WallTime now) {
  std::string path;
  if (!directory.empty()) {
    path = directory + "/pki";
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) {
      return base::Error(Reason::kInternalError,
                         fmt::format("cannot make {}: {}", path, error.message()));
    }
    std::filesystem::permissions(path, std::filesystem::perms::owner_all, error);
  }
  const Folder folder(path);
  Pki out;
  ALLOT_ASSIGN_OR_RETURN(
      out.ca_,
      folder.PairOf(
          "ca",
          [&](const net::KeyPair& pair) { return net::CheckKeyPair(pair, "", now).has_value(); },
          [&] { return net::CreateCa("allot-ca", now); }));
  ALLOT_ASSIGN_OR_RETURN(
      out.server_,
      folder.PairOf(
          "apiserver",
          [&](const net::KeyPair& pair) { return IsCurrent(pair, out.ca_, names, now); },
          [&] { return net::CreateServerCertificate(out.ca_, names, now); }));
  ALLOT_ASSIGN_OR_RETURN(
      out.admin_,
      folder.PairOf(
          "admin",
          [&](const net::KeyPair& pair) { return IsCurrent(pair, out.ca_, {}, now); },
          [&] {
            return net::CreateClientCertificate(out.ca_, kAdminUser, {"system:masters"}, now);
          }));
  base::Random random(base::Random::OsSeed());
  ALLOT_ASSIGN_OR_RETURN(out.admin_token_,
                         folder.TextOf("admin.token", random.Uuid() + random.Uuid()));
  ALLOT_ASSIGN_OR_RETURN(const net::SigningKey fresh, net::CreateSigningKey());
  ALLOT_ASSIGN_OR_RETURN(
      const net::KeyPair signing,
      folder.PairOf(
          "service-account",
          [](const net::KeyPair&) { return true; },
          [&] { return Result<net::KeyPair>({fresh.public_pem, fresh.private_pem}); }));
  out.token_key_ = {signing.key_pem, signing.certificate_pem};
  return out;
}

}  // namespace allot::apiserver
