// Name formats of the API: each check answers the problems of a text in upstream's words, none when
// it is good. Thread safety: stateless.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace allot::api {

/// What is wrong with a text; empty = nothing.
using Problems = std::vector<std::string>;

/// How a length problem names its unit: hand-written rules say characters, declared ones bytes.
enum class LengthUnit : unsigned char { kCharacters, kBytes };

/// `[a-z0-9]([-a-z0-9]*[a-z0-9])?`, at most 63 characters.
[[nodiscard]] Problems DnsLabelProblems(std::string_view text,
                                        LengthUnit unit = LengthUnit::kCharacters);
/// Labels joined by dots, at most 253 characters.
[[nodiscard]] Problems DnsSubdomainProblems(std::string_view text,
                                            LengthUnit unit = LengthUnit::kCharacters);
/// The same in any case (a declared format).
[[nodiscard]] Problems DnsSubdomainCaselessProblems(std::string_view text);
/// The same with underscores, as search domains may have them.
[[nodiscard]] Problems DnsSubdomainWithUnderscoreProblems(std::string_view text);
/// A label key: an optional DNS subdomain and `/`, then a name of at most 63 characters.
[[nodiscard]] Problems QualifiedNameProblems(std::string_view text);
[[nodiscard]] Problems LabelValueProblems(std::string_view text);
[[nodiscard]] Problems CIdentifierProblems(std::string_view text);
/// Names of environment variables, as relaxed since 1.30: printable ASCII without '='.
[[nodiscard]] Problems EnvVarNameProblems(std::string_view text);
/// Keys of ConfigMaps and Secrets.
[[nodiscard]] Problems ConfigMapKeyProblems(std::string_view text);
/// Port names: letters, digits and dashes, at most 15 characters with one letter.
[[nodiscard]] Problems PortNameProblems(std::string_view text);
[[nodiscard]] Problems PortNumberProblems(std::int64_t port);
/// `low <= value <= high`.
[[nodiscard]] Problems RangeProblems(std::int64_t value, std::int64_t low, std::int64_t high);
[[nodiscard]] Problems HttpHeaderNameProblems(std::string_view text);
/// What may stand in a path of a URL: no "/", "%", "." or "..".
[[nodiscard]] Problems PathSegmentProblems(std::string_view text);

/// How an object name is checked.
enum class NameRule : unsigned char { kDnsSubdomain, kDnsLabel, kPathSegment };
/// `prefix`: the text is a generateName, so a trailing dash is allowed.
[[nodiscard]] Problems ObjectNameProblems(NameRule rule, std::string_view text, bool prefix);

/// Strict semver 2.0.0.
[[nodiscard]] bool IsSemver(std::string_view text);
/// 8-4-4-4-12 lower-case hex.
[[nodiscard]] bool IsLowercaseUuid(std::string_view text);

}  // namespace allot::api
