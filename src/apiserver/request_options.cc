#include "apiserver/request_options.h"

#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/validate.h"
#include "apiserver/request_path.h"

namespace allot::apiserver {
namespace {

using base::Reason;
using base::Result;
using base::StatusCause;

std::string_view KindText(OptionsKind kind) {
  switch (kind) {
    case OptionsKind::kCreate: return "CreateOptions";
    case OptionsKind::kUpdate: return "UpdateOptions";
    case OptionsKind::kPatch:
    case OptionsKind::kApply: return "PatchOptions";
  }
  return "CreateOptions";
}

/// `<kind>.meta.k8s.io "" is invalid: <field>: <message>` with one cause each.
std::unexpected<base::Status> InvalidOptions(std::string_view kind,
                                             std::vector<StatusCause> causes) {
  std::string text = fmt::format("{}.meta.k8s.io \"\" is invalid: ", kind);
  text += causes.size() > 1 ? "[" : "";
  for (std::size_t i = 0; i < causes.size(); ++i) {
    text += fmt::format("{}{}: {}", i > 0 ? ", " : "", causes[i].field, causes[i].message);
  }
  text += causes.size() > 1 ? "]" : "";
  base::StatusDetails details;
  details.group = "meta.k8s.io";
  details.kind = kind;
  details.causes = std::move(causes);
  return base::Error(base::Status(Reason::kInvalid, std::move(text), std::move(details)));
}

std::string QuotedList(const std::vector<std::string_view>& values) {
  std::string out = "[";
  for (const std::string_view value : values) {
    out += fmt::format("{}\"{}\"", out.size() > 1 ? "," : "", value);
  }
  return out + "]";
}

std::vector<std::string_view> AllValues(const net::QueryParameters& query, std::string_view name) {
  std::vector<std::string_view> out;
  for (const auto& [key, value] : query.all()) {
    if (key == name) {
      out.emplace_back(value);
    }
  }
  return out;
}

struct Unprintable {
  std::uint32_t code = 0;
  std::size_t at = 0;
};

/// The first character that is not printable. Bytes of longer characters count as printable.
std::optional<Unprintable> FindUnprintable(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == 0x7f) {
      return Unprintable{c, i};
    }
  }
  return std::nullopt;
}

void CheckManager(const ChangeOptions& options, std::vector<StatusCause>& causes) {
  if (options.field_manager.size() > 128) {
    causes.push_back(
        {"FieldValueTooLong", "Too long: may not be more than 128 bytes", "fieldManager"});
  }
  if (const auto bad = FindUnprintable(options.field_manager)) {
    causes.push_back({"FieldValueInvalid",
                      fmt::format("Invalid value: {}: invalid character U+{:04X} (at position {})",
                                  api::Quote(options.field_manager),
                                  bad->code,
                                  bad->at),
                      "fieldManager"});
  }
}

Result<std::int64_t> ParseInt(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) {
    return base::Error(Reason::kBadRequest,
                       fmt::format("strconv.ParseInt: parsing \"{}\": value out of range", text));
  }
  if (error != std::errc() || at != end) {
    return base::Error(Reason::kBadRequest,
                       fmt::format("strconv.ParseInt: parsing \"{}\": invalid syntax", text));
  }
  return value;
}

/// The combinations upstream forbids. Errors: kInvalid.
Result<void> CheckReadOptions(const ReadOptions& options,
                              std::string_view revision_text,
                              std::string_view match_text) {
  std::vector<StatusCause> causes;
  const auto forbid = [&](std::string_view field, std::string_view why) {
    causes.push_back(
        {"FieldValueForbidden", fmt::format("Forbidden: {}", why), std::string(field)});
  };
  if (options.watch && options.send_initial_events) {
    if (options.match != VersionMatch::kNotOlderThan) {
      forbid("resourceVersionMatch",
             "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }
  } else if (options.send_initial_events) {
    forbid("sendInitialEvents", "sendInitialEvents is forbidden for list");
  } else if (options.watch && !match_text.empty()) {
    forbid("resourceVersionMatch",
           "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  } else if (!match_text.empty()) {
    if (!options.continue_token.empty()) {
      forbid("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
    }
    if (revision_text.empty()) {
      forbid("resourceVersionMatch",
             "resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (options.match == VersionMatch::kUnset) {
      causes.push_back({"FieldValueNotSupported",
                        fmt::format("Unsupported value: \"{}\": supported values: \"Exact\", "
                                    "\"NotOlderThan\", \"\"",
                                    match_text),
                        "resourceVersionMatch"});
    }
    if (options.match == VersionMatch::kExact && revision_text == "0") {
      forbid("resourceVersionMatch",
             "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    }
  }
  if (!causes.empty()) {
    return InvalidOptions("ListOptions", std::move(causes));
  }
  return {};
}

}  // namespace

Result<ChangeOptions> ReadChangeOptions(const net::QueryParameters& query, OptionsKind kind) {
  ChangeOptions out;
  std::vector<StatusCause> causes;
  const std::vector<std::string_view> dry = AllValues(query, "dryRun");
  for (const std::string_view value : dry) {
    if (value != "All") {
      causes.push_back(
          {"FieldValueNotSupported",
           fmt::format("Unsupported value: {}: supported values: \"All\"", QuotedList(dry)),
           "dryRun"});
      break;
    }
    out.dry_run = true;
  }
  out.field_manager = query.Get("fieldManager");
  const std::string_view validation = query.Get("fieldValidation");
  if (kind == OptionsKind::kApply && out.field_manager.empty()) {
    causes.push_back(
        {"FieldValueRequired", "Required value: is required for apply patch", "fieldManager"});
  }
  CheckManager(out, causes);
  if (query.Find("force") && kind == OptionsKind::kPatch) {
    causes.push_back(
        {"FieldValueForbidden", "Forbidden: may not be specified for non-apply patch", "force"});
  }
  out.force = QueryBool(query, "force");
  if (validation == "Strict") {
    out.validation = FieldValidation::kStrict;
  } else if (validation == "Ignore") {
    out.validation = FieldValidation::kIgnore;
  } else if (!validation.empty() && validation != "Warn") {
    causes.push_back(
        {"FieldValueNotSupported",
         fmt::format("Unsupported value: \"{}\": supported values: \"\", \"Ignore\", \"Strict\", "
                     "\"Warn\"",
                     validation),
         "fieldValidation"});
  }
  if (!causes.empty()) {
    return InvalidOptions(KindText(kind), std::move(causes));
  }
  return out;
}

Result<std::uint64_t> ParseRevision(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end) {
    return base::Error(
        Reason::kUnknown,
        fmt::format(
            "resourceVersion: Invalid value: \"{0}\": strconv.ParseUint: parsing \"{0}\": {1}",
            text,
            error == std::errc::result_out_of_range ? "value out of range" : "invalid syntax"));
  }
  return value;
}

Result<ReadOptions> ReadListOptions(const net::QueryParameters& query) {
  ReadOptions out;
  out.label_text = query.Get("labelSelector");
  out.field_text = query.Get("fieldSelector");
  ALLOT_ASSIGN_OR_RETURN(out.labels, LabelSelector::Parse(out.label_text));
  ALLOT_ASSIGN_OR_RETURN(out.fields, FieldSelector::Parse(out.field_text));
  if (const std::string_view limit = query.Get("limit"); !limit.empty()) {
    ALLOT_ASSIGN_OR_RETURN(out.limit, ParseInt(limit));
  }
  if (const std::string_view timeout = query.Get("timeoutSeconds"); !timeout.empty()) {
    ALLOT_ASSIGN_OR_RETURN(const std::int64_t seconds, ParseInt(timeout));
    out.timeout = std::chrono::seconds(seconds);
  }
  out.continue_token = query.Get("continue");
  out.watch = QueryBool(query, "watch");
  out.bookmarks = QueryBool(query, "allowWatchBookmarks");
  if (query.Find("sendInitialEvents")) {
    out.send_initial_events = QueryBool(query, "sendInitialEvents");
  }
  const std::string_view revision = query.Get("resourceVersion");
  const std::string_view match = query.Get("resourceVersionMatch");
  if (match == "NotOlderThan") {
    out.match = VersionMatch::kNotOlderThan;
  } else if (match == "Exact") {
    out.match = VersionMatch::kExact;
  }
  ALLOT_RETURN_IF_ERROR(CheckReadOptions(out, revision, match));
  if (!out.continue_token.empty() && !revision.empty() && revision != "0") {
    return base::Error(Reason::kBadRequest,
                       "specifying resource version is not allowed when using continue");
  }
  if (!revision.empty()) {
    const Result<std::uint64_t> parsed = ParseRevision(revision);
    if (!parsed && !out.watch) {
      return base::Error(Reason::kBadRequest,
                         fmt::format("invalid resource version: {}", parsed.error().message()));
    }
    ALLOT_ASSIGN_OR_RETURN(out.revision, parsed);
  }
  return out;
}

}  // namespace allot::apiserver
