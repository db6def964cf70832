#include "cli/targets.h"

#include <algorithm>

#include "client/rest.h"

namespace allot::cli {
namespace {

using base::Error;
using base::Reason;

base::Result<std::vector<const ApiResource*>> ParseTypes(const Discovery& discovery,
                                                         std::string_view text) {
  std::vector<const ApiResource*> types;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    if (word == "all") {
      for (const ApiResource& resource : discovery.all()) {
        const auto& categories = resource.categories;
        if (std::find(categories.begin(), categories.end(), "all") != categories.end()) {
          types.push_back(&resource);
        }
      }
    } else {
      ALLOT_ASSIGN_OR_RETURN(const ApiResource* const resource, discovery.Find(word));
      types.push_back(resource);
    }
    if (comma == std::string_view::npos) {
      return types;
    }
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

base::Result<std::vector<Target>> ParseTargets(const Discovery& discovery,
                                               const Connection& connection,
                                               const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    return Error(Reason::kInvalid,
                 "you must specify the type of resource, as in `pods`, `pods NAME` or `pod/NAME`");
  }
  if (connection.all_namespaces() &&
      (arguments.size() > 1 || arguments[0].find('/') != std::string::npos)) {
    return Error(Reason::kInvalid,
                 "a resource cannot be retrieved by name across all namespaces: use -n NAMESPACE");
  }
  std::vector<Target> targets;
  if (arguments[0].find('/') != std::string::npos) {
    for (const std::string& argument : arguments) {
      const std::size_t slash = argument.find('/');
      if (slash == std::string::npos || slash == 0 || slash + 1 == argument.size()) {
        return Error(
            Reason::kInvalid,
            "there is no need to specify a resource type as a separate argument when passing "
            "arguments in resource/name form (found \"" +
                argument + "\")");
      }
      ALLOT_ASSIGN_OR_RETURN(const ApiResource* const resource,
                             discovery.Find(argument.substr(0, slash)));
      targets.push_back({resource, argument.substr(slash + 1)});
    }
    return targets;
  }
  ALLOT_ASSIGN_OR_RETURN(const std::vector<const ApiResource*> types,
                         ParseTypes(discovery, arguments[0]));
  for (const ApiResource* const type : types) {
    if (arguments.size() == 1) {
      targets.push_back({type, ""});
    }
    for (std::size_t i = 1; i < arguments.size(); ++i) {
      targets.push_back({type, arguments[i]});
    }
  }
  return targets;
}

base::Result<void> CheckSelectors(const std::vector<Target>& targets,
                                  std::string_view selector,
                                  std::string_view field_selector) {
  if (selector.empty() && field_selector.empty()) {
    return {};
  }
  for (const Target& target : targets) {
    if (!target.name.empty()) {
      return Error(
          Reason::kInvalid,
          "name cannot be provided when a selector is specified (found \"" + target.name + "\")");
    }
  }
  return {};
}

std::string Query(const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string query;
  for (const auto& [name, value] : parameters) {
    if (!value.empty()) {
      query += (query.empty() ? "?" : "&") + name + "=" + client::EscapeUrl(value);
    }
  }
  return query;
}

}  // namespace allot::cli
