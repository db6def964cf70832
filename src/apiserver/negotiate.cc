#include "apiserver/negotiate.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace allot::apiserver {
namespace {

using Params = std::vector<std::pair<std::string_view, std::string_view>>;

struct Clause {
  std::string_view type;
  Params params;
  double weight = 1.0;
  std::size_t order = 0;

  [[nodiscard]] std::string_view Get(std::string_view name) const {
    for (const auto& [key, value] : params) {
      if (key == name) {
        return value;
      }
    }
    return {};
  }
};

std::string_view Trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Calls `take` with each trimmed piece of `text` between separators.
template <typename F>
void ForEachPiece(std::string_view text, char separator, F take) {
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    take(Trim(text.substr(at, end - at)));
    at = end + 1;
  }
}

std::vector<Clause> ParseAccept(std::string_view accept) {
  std::vector<Clause> clauses;
  ForEachPiece(accept, ',', [&](std::string_view piece) {
    Clause clause;
    bool first = true;
    ForEachPiece(piece, ';', [&](std::string_view part) {
      if (std::exchange(first, false)) {
        clause.type = part;
        return;
      }
      const std::size_t equals = part.find('=');
      if (equals == std::string_view::npos) {
        return;
      }
      const std::string_view key = Trim(part.substr(0, equals));
      std::string_view value = Trim(part.substr(equals + 1));
      if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
        value = value.substr(1, value.size() - 2);
      }
      if (key == "q") {
        (void)std::from_chars(value.data(), value.data() + value.size(), clause.weight);
      } else {
        clause.params.emplace_back(key, value);
      }
    });
    if (!clause.type.empty()) {
      clause.order = clauses.size();
      clauses.push_back(std::move(clause));
    }
  });
  std::ranges::sort(clauses, [](const Clause& a, const Clause& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.order < b.order;
  });
  return clauses;
}

std::optional<Format> FormatOf(std::string_view type, Offer offer) {
  if (type == "application/json" || type == "*/*") {
    return Format::kJson;
  }
  if (type == "application/yaml" && offer.yaml) {
    return Format::kYaml;
  }
  if (type == "application/vnd.kubernetes.protobuf") {
    return Format::kProtobuf;
  }
  return std::nullopt;
}

std::optional<Shape> ShapeOf(const Clause& clause, Offer offer) {
  const std::string_view as = clause.Get("as");
  if (as.empty()) {
    return Shape::kObject;
  }
  const std::string_view version = clause.Get("v");
  if (!offer.shapes || clause.Get("g") != "meta.k8s.io" ||
      (version != "v1" && version != "v1beta1")) {
    return std::nullopt;
  }
  if (as == "Table") {
    return Shape::kTable;
  }
  if (as == "PartialObjectMetadata") {
    return Shape::kPartial;
  }
  if (as == "PartialObjectMetadataList") {
    return Shape::kPartialList;
  }
  return std::nullopt;
}

constexpr std::string_view kJsonProtobuf = "application/json, application/vnd.kubernetes.protobuf";
constexpr std::string_view kStreamTypes =
    "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
constexpr std::string_view kAllTypes =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";

}  // namespace

base::Result<MediaChoice> NegotiateAnswer(std::string_view accept, Offer offer) {
  if (Trim(accept).empty()) {
    return MediaChoice{};
  }
  bool known = false;  // some clause names a type of the endpoint, whatever its parameters ask for
  for (const Clause& clause : ParseAccept(accept)) {
    const std::optional<Format> format = FormatOf(clause.type, offer);
    known = known || clause.type == "*/*" || FormatOf(clause.type, Offer{}).has_value();
    if (!format) {
      continue;
    }
    const std::optional<Shape> shape = ShapeOf(clause, offer);
    if (!shape || (*shape == Shape::kTable && *format == Format::kProtobuf)) {
      continue;  // a Table has no protobuf form
    }
    const std::string_view pretty = clause.Get("pretty");
    return MediaChoice{*format, *shape, pretty == "1" || pretty == "true"};
  }
  std::string text;
  if (!known) {
    text = fmt::format("406: Not Acceptable\n\nAvailable representations: {}",
                       offer.yaml ? kAllTypes : kJsonProtobuf);
  } else {
    text = fmt::format("only the following media types are accepted: {}",
                       offer.yaml ? kAllTypes : kStreamTypes);
  }
  return base::Error(base::Reason::kNotAcceptable, std::move(text));
}

base::Result<Format> NegotiateBody(std::string_view content_type) {
  const std::string_view type = BareType(content_type);
  if (type.empty() || type == "application/json") {
    return Format::kJson;
  }
  if (type == "application/yaml") {
    return Format::kYaml;
  }
  if (type == "application/vnd.kubernetes.protobuf") {
    return Format::kProtobuf;
  }
  return base::Error(
      base::Reason::kUnsupportedMediaType,
      "the body of the request was in an unknown format - accepted media types include: " +
          std::string(kAllTypes));
}

bool NamesOldOpenApi(std::string_view accept) {
  return std::ranges::any_of(ParseAccept(accept), [](const Clause& clause) {
    return clause.type == "application/com.github.proto-openapi.spec.v2@v1.0+protobuf" ||
           clause.type == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
  });
}

bool WantsAggregatedDiscovery(std::string_view accept) {
  for (const Clause& clause : ParseAccept(accept)) {
    if (clause.type != "application/json" && clause.type != "*/*") {
      continue;
    }
    if (clause.Get("g") == "apidiscovery.k8s.io" && clause.Get("v") == "v2" &&
        clause.Get("as") == "APIGroupDiscoveryList") {
      return true;
    }
    if (clause.Get("as").empty()) {
      return false;  // plain JSON is preferred
    }
  }
  return false;
}

std::string_view MimeType(Format format) {
  switch (format) {
    case Format::kJson: return "application/json";
    case Format::kYaml: return "application/yaml";
    case Format::kProtobuf: return "application/vnd.kubernetes.protobuf";
  }
  return "application/json";
}

std::string_view BareType(std::string_view content_type) {
  return Trim(content_type.substr(0, content_type.find(';')));
}

}  // namespace allot::apiserver
