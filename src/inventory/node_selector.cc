#include "inventory/node_selector.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "api/names.h"

namespace allot::inventory {
namespace {

using api::core::NodeSelector;
using api::core::NodeSelectorRequirement;
using api::core::NodeSelectorTerm;
using schema::Str;

constexpr std::string_view kNodeFeature = "DRAOptionalNodeOperations";
constexpr std::string_view kLabelOperators =
    R"("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")";
constexpr std::string_view kFieldOperators = R"("In", "NotIn")";

bool Contains(const schema::List<Str>& values, Str wanted) {
  return std::find(values.begin(), values.end(), wanted) != values.end();
}

std::optional<std::int64_t> ParseInt(Str text) {
  const Str digits = text.starts_with('+') ? text.substr(1) : text;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) {
    return std::nullopt;
  }
  return value;
}

std::string QuotedList(const schema::List<Str>& values) {
  if (values.items == nullptr) {
    return "null";
  }
  std::string out = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    out += fmt::format("{}\"{}\"", i == 0 ? "" : ",", values[i]);
  }
  return out + "]";
}

bool IsLabelOperator(Str op) {
  return op == "In" || op == "NotIn" || op == "Exists" || op == "DoesNotExist" || op == "Gt" ||
         op == "Lt";
}

using Errors = std::vector<std::string>;

void CheckLabelRequirement(const NodeSelectorRequirement& r,
                           const std::string& path,
                           Errors& errors) {
  const Str op = r.operator_;
  if (!IsLabelOperator(op)) {
    errors.push_back(fmt::format(
        "{}.operator: Unsupported value: \"{}\": supported values: {}", path, op, kLabelOperators));
    return;
  }
  if (const api::Problems problems = api::QualifiedNameProblems(r.key); !problems.empty()) {
    errors.push_back(
        fmt::format("{}.key: Invalid value: \"{}\": {}", path, r.key, fmt::join(problems, "; ")));
  }
  const auto invalid = [&](std::string_view why) {
    errors.push_back(
        fmt::format("{}.values: Invalid value: {}: {}", path, QuotedList(r.values), why));
  };
  if (op == "In" || op == "NotIn") {
    if (r.values.empty()) {
      invalid("for 'in', 'notin' operators, values set can't be empty");
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!r.values.empty()) {
      invalid("values set must be empty for exists and does not exist");
    }
  } else {
    if (r.values.size() != 1) {
      invalid("for 'Gt', 'Lt' operators, exactly one value is required");
    }
    for (std::size_t i = 0; i < r.values.size(); ++i) {
      if (!ParseInt(r.values[i])) {
        errors.push_back(
            fmt::format("{}.values[{}]: Invalid value: \"{}\": for 'Gt', 'Lt' operators, the value "
                        "must be an integer",
                        path,
                        i,
                        r.values[i]));
      }
    }
  }
  for (std::size_t i = 0; i < r.values.size(); ++i) {
    if (const api::Problems problems = api::LabelValueProblems(r.values[i]); !problems.empty()) {
      errors.push_back(fmt::format("{}.values[{}][{}]: Invalid value: \"{}\": {}",
                                   path,
                                   i,
                                   r.key,
                                   r.values[i],
                                   fmt::join(problems, "; ")));
    }
  }
}

void CheckFieldRequirement(const NodeSelectorRequirement& r,
                           const std::string& path,
                           Errors& errors) {
  if (r.operator_ != "In" && r.operator_ != "NotIn") {
    errors.push_back(fmt::format("{}.operator: Unsupported value: \"{}\": supported values: {}",
                                 path,
                                 r.operator_,
                                 kFieldOperators));
  } else if (r.values.size() != 1) {
    errors.push_back(fmt::format(
        "{}.values: Invalid value: {}: must have one element", path, QuotedList(r.values)));
  }
}

void CheckTerm(const NodeSelectorTerm& term, std::string_view path, Errors& errors) {
  for (std::size_t i = 0; i < term.match_expressions.size(); ++i) {
    CheckLabelRequirement(
        term.match_expressions[i], fmt::format("{}.matchExpressions[{}]", path, i), errors);
  }
  for (std::size_t i = 0; i < term.match_fields.size(); ++i) {
    CheckFieldRequirement(term.match_fields[i], fmt::format("{}.matchFields[{}]", path, i), errors);
  }
}

base::Result<bool> Failure(Errors errors) {
  // As upstream's aggregates: equal texts once, brackets only around several.
  Errors unique;
  for (std::string& error : errors) {
    if (std::find(unique.begin(), unique.end(), error) == unique.end()) {
      unique.push_back(std::move(error));
    }
  }
  std::string text = unique.size() == 1 ? unique.front() : "[";
  if (unique.size() > 1) {
    for (std::size_t i = 0; i < unique.size(); ++i) {
      text += (i == 0 ? "" : ", ") + unique[i];
    }
    text += "]";
  }
  return base::Error(base::Reason::kInvalid, std::move(text));
}

bool LabelMatches(const NodeSelectorRequirement& r, const NodeRef& node) {
  const Str* const value = node.labels.Find(r.key);
  const Str op = r.operator_;
  if (op == "In") {
    return value != nullptr && Contains(r.values, *value);
  }
  if (op == "NotIn") {
    return value == nullptr || !Contains(r.values, *value);
  }
  if (op == "Exists") {
    return value != nullptr;
  }
  if (op == "DoesNotExist") {
    return value == nullptr;
  }
  const auto mine = value != nullptr ? ParseInt(*value) : std::nullopt;
  const auto bound = r.values.size() == 1 ? ParseInt(r.values[0]) : std::nullopt;
  return mine && bound && (op == "Gt" ? *mine > *bound : *mine < *bound);
}

bool FieldMatches(const NodeSelectorRequirement& r, const NodeRef& node) {
  const Str mine = r.key == "metadata.name" ? Str(node.name) : Str();
  return (r.operator_ == "In") == (mine == r.values[0]);
}

bool TermMatches(const NodeSelectorTerm& term, const NodeRef& node) {
  return std::all_of(term.match_expressions.begin(),
                     term.match_expressions.end(),
                     [&](const auto& r) { return LabelMatches(r, node); }) &&
         std::all_of(term.match_fields.begin(), term.match_fields.end(), [&](const auto& r) {
           return FieldMatches(r, node);
         });
}

bool IsEmpty(const NodeSelectorTerm& term) {
  return term.match_expressions.empty() && term.match_fields.empty();
}

void DescribeRequirements(const schema::List<NodeSelectorRequirement>& list, std::string& out) {
  out += "[]NodeSelectorRequirement{";
  for (const NodeSelectorRequirement& r : list) {
    out += fmt::format("NodeSelectorRequirement{{Key:{},Operator:{},Values:[", r.key, r.operator_);
    for (std::size_t i = 0; i < r.values.size(); ++i) {
      out += fmt::format("{}{}", i == 0 ? "" : " ", r.values[i]);
    }
    out += "],},";
  }
  out += "},";
}

}  // namespace

NodeRef MakeNodeRef(const api::core::Node& node) {
  return {node.metadata.name,
          node.metadata.labels,
          Contains(node.status.declared_features, kNodeFeature)};
}

base::Result<bool> MatchNodeSelector(const NodeSelector& selector, const NodeRef& node) {
  Errors errors;
  for (std::size_t i = 0; i < selector.node_selector_terms.size(); ++i) {
    CheckTerm(selector.node_selector_terms[i], fmt::format("nodeSelectorTerms[{}]", i), errors);
  }
  if (!errors.empty()) {
    return Failure(std::move(errors));
  }
  return std::any_of(selector.node_selector_terms.begin(),
                     selector.node_selector_terms.end(),
                     [&](const auto& term) { return !IsEmpty(term) && TermMatches(term, node); });
}

base::Result<bool> MatchNodeSelectorTerm(const NodeSelectorTerm& term,
                                         const NodeRef& node,
                                         std::string_view path) {
  Errors errors;
  CheckTerm(term, path, errors);
  if (!errors.empty()) {
    return Failure(std::move(errors));
  }
  return !IsEmpty(term) && TermMatches(term, node);
}

std::string DescribeNodeSelector(const NodeSelector& selector) {
  std::string out = "&NodeSelector{NodeSelectorTerms:[]NodeSelectorTerm{";
  for (const NodeSelectorTerm& term : selector.node_selector_terms) {
    out += "NodeSelectorTerm{MatchExpressions:";
    DescribeRequirements(term.match_expressions, out);
    out += "MatchFields:";
    DescribeRequirements(term.match_fields, out);
    out += "},";
  }
  return out + "},}";
}

}  // namespace allot::inventory
