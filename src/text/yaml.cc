// Reading: libyaml's events become nodes, nodes become a Value by the rules of yaml_resolve.h.
#include "text/yaml.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <yaml.h>

#include "text/json.h"
#include "text/json_scanner.h"
#include "text/yaml_resolve.h"

namespace allot::text {
namespace {

using base::Reason;
using base::Result;
using yaml::Scalar;
using yaml::ScalarKind;

enum class NodeKind : std::uint8_t { kScalar, kSequence, kMapping, kAlias };

struct Node {
  NodeKind kind = NodeKind::kScalar;
  bool plain = false;            // a scalar without quotes (or with a tag that says nothing)
  std::string tag;               // "" when none; long form
  std::string text;              // scalar's text; alias's name
  const Node* target = nullptr;  // of an alias
  bool open = false;             // its end has not been read yet
  YamlPosition position;
  std::vector<const Node*> children;  // of a mapping: key, value, key, value, ...
};

std::string Where(const YamlPosition& position) {
  return "line " + std::to_string(position.line) + ", column " + std::to_string(position.column);
}

std::unexpected<base::Status> Fail(const YamlPosition& position, const std::string& message) {
  return base::Error(Reason::kBadRequest, "yaml: " + Where(position) + ": " + message);
}

YamlPosition PositionOf(const yaml_mark_t& mark) {
  return {mark.line + 1, mark.column + 1};
}

std::string TextOf(const yaml_char_t* text, std::size_t length) {
  return {reinterpret_cast<const char*>(text), length};
}

std::string TextOf(const yaml_char_t* text) {
  return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text));
}

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

std::string ShortTag(std::string_view tag) {
  return tag.starts_with(kTagPrefix) ? "!!" + std::string(tag.substr(kTagPrefix.size()))
                                     : std::string(tag);
}

/// Reads events into the nodes of one document at a time.
class Composer {
 public:
  Composer(std::string_view text, int max_depth) : max_depth_(max_depth) {
    ready_ = yaml_parser_initialize(&parser_) != 0;
    if (ready_) {
      yaml_parser_set_input_string(
          &parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    }
  }
  Composer(const Composer&) = delete;
  Composer& operator=(const Composer&) = delete;
  ~Composer() {
    if (ready_) {
      yaml_parser_delete(&parser_);
    }
  }

  /// The root of the next document; null at the end of the stream.
  Result<const Node*> Next() {
    nodes_.clear();
    anchors_.clear();
    open_.clear();
    root_ = nullptr;
    if (!ready_) {
      return base::Error(Reason::kInternalError, "yaml: out of memory");
    }
    while (true) {
      yaml_event_t event;
      if (yaml_parser_parse(&parser_, &event) == 0) {
        return Problem();
      }
      const auto type = event.type;
      auto taken = Take(event);
      yaml_event_delete(&event);
      if (!taken) {
        return std::unexpected(std::move(taken).error());
      }
      if (type == YAML_DOCUMENT_END_EVENT) {
        return root_;
      }
      if (type == YAML_STREAM_END_EVENT) {
        return nullptr;
      }
    }
  }

 private:
  std::unexpected<base::Status> Problem() const {
    YamlPosition position = PositionOf(parser_.problem_mark);
    if (parser_.error == YAML_READER_ERROR) {
      position = PositionOf(parser_.mark);
    }
    return Fail(
        position,
        parser_.problem != nullptr ? parser_.problem : "unknown problem parsing YAML content");
  }

  Result<void> Take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_SCALAR_EVENT: {
        Node& node = Add(NodeKind::kScalar, event.start_mark);
        node.text = TextOf(event.data.scalar.value, event.data.scalar.length);
        node.tag = TextOf(event.data.scalar.tag);
        node.plain = event.data.scalar.plain_implicit != 0;
        Anchor(event.data.scalar.anchor, node);
        return {};
      }
      case YAML_SEQUENCE_START_EVENT:
        return Open(Add(NodeKind::kSequence, event.start_mark), event.data.sequence_start.anchor);
      case YAML_MAPPING_START_EVENT:
        return Open(Add(NodeKind::kMapping, event.start_mark), event.data.mapping_start.anchor);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        open_.back()->open = false;
        open_.pop_back();
        return {};
      case YAML_ALIAS_EVENT: {
        const std::string name = TextOf(event.data.alias.anchor);
        const auto found = anchors_.find(name);
        if (found == anchors_.end()) {
          return Fail(PositionOf(event.start_mark), "unknown anchor '" + name + "' referenced");
        }
        if (found->second->open) {
          return Fail(PositionOf(event.start_mark), "anchor '" + name + "' value contains itself");
        }
        Node& node = Add(NodeKind::kAlias, event.start_mark);
        node.text = name;
        node.target = found->second;
        return {};
      }
      default: return {};
    }
  }

  Node& Add(NodeKind kind, const yaml_mark_t& mark) {
    nodes_.push_back(std::make_unique<Node>());
    Node& node = *nodes_.back();
    node.kind = kind;
    node.position = PositionOf(mark);
    if (open_.empty()) {
      root_ = &node;
    } else {
      open_.back()->children.push_back(&node);
    }
    return node;
  }

  void Anchor(const yaml_char_t* name, const Node& node) {
    if (name != nullptr) {
      anchors_[TextOf(name)] = &node;
    }
  }

  Result<void> Open(Node& node, const yaml_char_t* anchor) {
    Anchor(anchor, node);
    node.open = true;
    open_.push_back(&node);
    if (static_cast<int>(open_.size()) > max_depth_) {
      return Fail(node.position, "exceeded max depth of " + std::to_string(max_depth_));
    }
    return {};
  }

  yaml_parser_t parser_{};
  bool ready_ = false;
  int max_depth_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::map<std::string, const Node*> anchors_;
  std::vector<Node*> open_;
  const Node* root_ = nullptr;
};

/// A double as the JSON text in between would carry it: whole numbers become integers.
Value NumberValue(double real) {
  if (std::floor(real) == real && std::abs(real) < 9.2e18) {
    return Value(static_cast<std::int64_t>(real));
  }
  return Value(real);
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  std::size_t count = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      continue;
    }
    ++count;
    if (c == '=') {
      ++padding;
      continue;
    }
    const std::size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos || padding != 0) {
      return std::nullopt;
    }
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if (count % 4 != 1) {
      out += static_cast<char>(bits >> (2 * (3 - (count - 1) % 4)) & 0xFF);
    }
  }
  if (count % 4 != 0 || padding > 2) {
    return std::nullopt;
  }
  return out;
}

/// Turns the nodes of one document into a Value.
class Converter {
 public:
  Converter(const YamlOptions& options, std::vector<std::string>& duplicates)
      : options_(options), duplicates_(duplicates) {}

  Result<Value> Convert(const Node& node) {
    ALLOT_RETURN_IF_ERROR(Count(node));
    if (++depth_ > options_.max_depth) {
      return Fail(node.position, "exceeded max depth of " + std::to_string(options_.max_depth));
    }
    auto value = ConvertInside(node);
    --depth_;
    return value;
  }

 private:
  /// Upstream's limit on how much of a document may come from aliases.
  Result<void> Count(const Node& node) {
    ++steps_;
    alias_steps_ += in_alias_ > 0 ? 1 : 0;
    constexpr double kLow = 400000;
    constexpr double kHigh = 4000000;
    const auto steps = static_cast<double>(steps_);
    const double allowed = steps <= kLow    ? 0.99
                           : steps >= kHigh ? 0.10
                                            : 0.99 - 0.89 * (steps - kLow) / (kHigh - kLow);
    if (alias_steps_ > 100 && steps_ > 1000 &&
        static_cast<double>(alias_steps_) / steps > allowed) {
      return Fail(node.position, "document contains excessive aliasing");
    }
    return {};
  }

  Result<Value> ConvertInside(const Node& node) {
    switch (node.kind) {
      case NodeKind::kScalar: return ConvertScalar(node);
      case NodeKind::kAlias: {
        ++in_alias_;
        auto value = Convert(*node.target);
        --in_alias_;
        return value;
      }
      case NodeKind::kSequence: {
        Value list = Value::Array();
        for (const Node* const child : node.children) {
          ALLOT_ASSIGN_OR_RETURN(auto item, Convert(*child));
          list.Append(std::move(item));
        }
        return list;
      }
      case NodeKind::kMapping: {
        Mapping mapping;
        ALLOT_RETURN_IF_ERROR(ConvertMapping(node, mapping));
        return std::move(mapping.value);
      }
    }
    return Value();
  }

  struct Mapping {
    Value value = Value::Object();
    struct Place {
      std::size_t index = 0;
      bool merged = false;  // came from `<<`; standing beside its own key is no mistake
    };
    std::map<std::string, Place, std::less<>> places;
    int merging = 0;
  };

  Result<void> ConvertMapping(const Node& node, Mapping& out) {
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const Node& key = *node.children[i];
      const Node& child = *node.children[i + 1];
      const bool merge = key.kind == NodeKind::kScalar && key.text == "<<" &&
                         (key.plain || key.tag == "tag:yaml.org,2002:merge");
      if (merge) {
        ALLOT_RETURN_IF_ERROR(Merge(child, out));
        continue;
      }
      std::string shown;
      ALLOT_ASSIGN_OR_RETURN(auto name, KeyText(key, shown));
      ALLOT_ASSIGN_OR_RETURN(auto value, Convert(child));
      const bool merged = out.merging > 0;
      const auto [place, fresh] =
          out.places.emplace(name, Mapping::Place{out.value.members().size(), merged});
      if (fresh) {
        out.value.MutableMembers().push_back({std::move(name), std::move(value)});
        continue;
      }
      if (!merged && !place->second.merged) {
        duplicates_.push_back("line " + std::to_string(child.position.line) + ": key " + shown +
                              " already set in map");
      }
      place->second.merged = merged;
      out.value.MutableMembers()[place->second.index].value = std::move(value);
    }
    return {};
  }

  /// `<<: *base` or `<<: [*a, *b]`: the earlier of a list wins.
  Result<void> Merge(const Node& node, Mapping& out) {
    const Node& target = node.kind == NodeKind::kAlias ? *node.target : node;
    if (target.kind == NodeKind::kMapping) {
      return MergeOne(node, target, out);
    }
    if (node.kind != NodeKind::kSequence) {
      return Fail(node.position, "map merge requires map or sequence of maps as the value");
    }
    for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
      const Node& one = (*child)->kind == NodeKind::kAlias ? *(*child)->target : **child;
      if (one.kind != NodeKind::kMapping) {
        return Fail((*child)->position, "map merge requires map or sequence of maps as the value");
      }
      ALLOT_RETURN_IF_ERROR(MergeOne(**child, one, out));
    }
    return {};
  }

  Result<void> MergeOne(const Node& node, const Node& target, Mapping& out) {
    ALLOT_RETURN_IF_ERROR(Count(node));
    if (++depth_ > options_.max_depth) {
      return Fail(node.position, "exceeded max depth of " + std::to_string(options_.max_depth));
    }
    const int alias = node.kind == NodeKind::kAlias ? 1 : 0;
    in_alias_ += alias;
    ++out.merging;
    auto merged = ConvertMapping(target, out);
    --out.merging;
    in_alias_ -= alias;
    --depth_;
    return merged;
  }

  /// The JSON text of a key; `shown` is how an error names it.
  Result<std::string> KeyText(const Node& key, std::string& shown) {
    const Node& node = key.kind == NodeKind::kAlias ? *key.target : key;
    if (node.kind != NodeKind::kScalar) {
      return Fail(key.position, "invalid map key: a map or a sequence");
    }
    ALLOT_ASSIGN_OR_RETURN(const Scalar scalar, ResolveNode(node));
    std::string name;
    switch (scalar.kind) {
      case ScalarKind::kNull: return Fail(key.position, "unsupported map key of type: null");
      case ScalarKind::kBool: name = scalar.boolean ? "true" : "false"; break;
      case ScalarKind::kInt: name = std::to_string(scalar.integer); break;
      case ScalarKind::kFloat: name = yaml::FormatGeneral(scalar.real, 32); break;
      default: {
        ALLOT_ASSIGN_OR_RETURN(name, TextValue(node));
        AppendJsonString(name, shown);
        return name;
      }
    }
    shown = name;
    return name;
  }

  /// What the scalar means; kString when its text is the value.
  Result<Scalar> ResolveNode(const Node& node) {
    constexpr std::array<std::string_view, 6> kKnown = {
        "bool", "int", "float", "null", "timestamp", "str"};
    if (node.tag.empty()) {
      return node.plain ? yaml::Resolve(node.text) : Scalar();
    }
    std::string_view tag = node.tag;
    if (!tag.starts_with(kTagPrefix)) {
      return Scalar();
    }
    tag.remove_prefix(kTagPrefix.size());
    const bool known = std::find(kKnown.begin(), kKnown.end(), tag) != kKnown.end();
    if (!known || tag == "str") {
      return Scalar();
    }
    Scalar scalar = yaml::Resolve(node.text, tag == "timestamp");
    constexpr std::array<std::string_view, 6> kNames = {
        "str", "null", "bool", "int", "float", "timestamp"};
    const std::string_view got = kNames[static_cast<std::size_t>(scalar.kind)];
    if (tag == "float" && scalar.kind == ScalarKind::kInt) {
      scalar.kind = ScalarKind::kFloat;
      scalar.real = static_cast<double>(scalar.integer);
    } else if (tag != got) {
      return Fail(node.position,
                  "cannot decode !!" + std::string(got) + " `" + node.text + "` as a " +
                      ShortTag(node.tag));
    }
    return scalar;
  }

  Result<std::string> TextValue(const Node& node) {
    if (node.tag == "tag:yaml.org,2002:binary") {
      auto bytes = DecodeBase64(node.text);
      if (!bytes) {
        return Fail(node.position, "!!binary value contains invalid base64 data");
      }
      return Clean(*std::move(bytes));
    }
    return node.text;
  }

  /// JSON cannot hold other bytes than UTF-8.
  static std::string Clean(std::string bytes) {
    if (IsValidUtf8(bytes)) {
      return bytes;
    }
    std::string out;
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const std::size_t length = Utf8Length(rest);
      out += length != 0 ? rest.substr(0, length) : std::string_view("\xEF\xBF\xBD");
      rest.remove_prefix(length != 0 ? length : 1);
    }
    return out;
  }

  Result<Value> ConvertScalar(const Node& node) {
    ALLOT_ASSIGN_OR_RETURN(const Scalar scalar, ResolveNode(node));
    switch (scalar.kind) {
      case ScalarKind::kNull: return Value();
      case ScalarKind::kBool: return Value(scalar.boolean);
      case ScalarKind::kInt: return Value(scalar.integer);
      case ScalarKind::kFloat:
        if (!std::isfinite(scalar.real)) {
          return Fail(node.position,
                      "json: unsupported value: " + std::string(std::isnan(scalar.real) ? "NaN"
                                                                : scalar.real < 0       ? "-Inf"
                                                                                        : "+Inf"));
        }
        return NumberValue(scalar.real);
      default: {
        ALLOT_ASSIGN_OR_RETURN(auto text, TextValue(node));
        return Value(std::move(text));
      }
    }
  }

  const YamlOptions& options_;
  std::vector<std::string>& duplicates_;
  int depth_ = 0;
  int in_alias_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t alias_steps_ = 0;
};

/// A document made of comments only, or of nothing between two separators.
bool IsBlank(const Node& node) {
  return node.kind == NodeKind::kScalar && node.plain && node.tag.empty() && node.text.empty();
}

}  // namespace

namespace {

/// Turns one document into a value and deals with its duplicate keys.
Result<Value> ConvertDocument(const Node& root, const YamlOptions& options) {
  std::vector<std::string> duplicates;
  ALLOT_ASSIGN_OR_RETURN(auto value, Converter(options, duplicates).Convert(root));
  if (options.duplicates != nullptr) {
    options.duplicates->insert(options.duplicates->end(), duplicates.begin(), duplicates.end());
  } else if (options.duplicate_keys == DuplicateKeys::kError && !duplicates.empty()) {
    std::string message = "yaml: unmarshal errors:";
    for (const std::string& duplicate : duplicates) {
      message += "\n  " + duplicate;
    }
    return base::Error(Reason::kBadRequest, std::move(message));
  }
  return value;
}

}  // namespace

Result<std::vector<YamlDocument>> ParseYamlStream(std::string_view text,
                                                  const YamlOptions& options) {
  std::vector<YamlDocument> documents;
  Composer composer(text, options.max_depth);
  while (true) {
    ALLOT_ASSIGN_OR_RETURN(const Node* const root, composer.Next());
    if (root == nullptr) {
      return documents;
    }
    if (IsBlank(*root)) {
      continue;
    }
    ALLOT_ASSIGN_OR_RETURN(auto value, ConvertDocument(*root, options));
    documents.push_back({std::move(value), root->position});
  }
}

Result<Value> ParseYaml(std::string_view text, const YamlOptions& options) {
  Composer composer(text, options.max_depth);
  ALLOT_ASSIGN_OR_RETURN(const Node* const root, composer.Next());
  return root == nullptr ? Value() : ConvertDocument(*root, options);
}

}  // namespace allot::text
