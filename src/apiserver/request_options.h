// The options that travel in the query of a request: reading and checking them.
// Thread safety: values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/selectors.h"
#include "base/status.h"
#include "net/http.h"

namespace allot::apiserver {

enum class FieldValidation : std::uint8_t { kWarn, kStrict, kIgnore };
enum class VersionMatch : std::uint8_t { kUnset, kNotOlderThan, kExact };

/// dryRun, fieldManager, fieldValidation and force of create, update, patch and delete.
struct ChangeOptions {
  bool dry_run = false;
  FieldValidation validation = FieldValidation::kWarn;
  std::string field_manager;
  bool force = false;
};

/// What lists, watches and deletecollection ask for.
struct ReadOptions {
  LabelSelector labels;
  FieldSelector fields;
  std::string label_text;
  std::string field_text;
  std::int64_t limit = 0;
  std::string continue_token;
  std::optional<std::uint64_t> revision;  ///< absent when the client sent none
  VersionMatch match = VersionMatch::kUnset;
  bool watch = false;
  bool bookmarks = false;
  std::optional<bool> send_initial_events;
  std::optional<std::chrono::seconds> timeout;
};

/// Which options kind an error names.
enum class OptionsKind : std::uint8_t { kCreate, kUpdate, kPatch, kApply };

/// Errors: kInvalid as upstream (CreateOptions.meta.k8s.io "" is invalid: ...).
[[nodiscard]] base::Result<ChangeOptions> ReadChangeOptions(const net::QueryParameters& query,
                                                            OptionsKind kind);

/// Reads the query of a list or watch. `watch` is decided by the verb or by watch=true.
/// Errors: kBadRequest for malformed values, kInvalid for forbidden combinations.
[[nodiscard]] base::Result<ReadOptions> ReadListOptions(const net::QueryParameters& query);

/// The revision of a resourceVersion text. Errors: upstream's 500 without reason.
[[nodiscard]] base::Result<std::uint64_t> ParseRevision(std::string_view text);

}  // namespace allot::apiserver
