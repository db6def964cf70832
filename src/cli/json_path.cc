#include "cli/json_path.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "text/json.h"

namespace allot::cli {
namespace {

using text::Value;
using Selection = std::vector<const Value*>;

struct Step {
  enum class Kind : std::uint8_t { kChild, kWildcard, kRecurse, kSlice, kNames, kIndexes, kFilter };
  Kind kind = Kind::kChild;
  std::vector<std::string> names;
  std::vector<std::int64_t> indexes;
  std::optional<std::int64_t> from;
  std::optional<std::int64_t> to;
  std::int64_t stride = 1;
  // kFilter: @<path> <op> <literal or @path>
  std::vector<Step> left;
  std::string op;
  std::vector<Step> right;
  std::optional<Value> literal;
};

}  // namespace

struct JsonPath::Node {
  enum class Kind : std::uint8_t { kText, kPath, kRange };
  Kind kind = Kind::kText;
  std::string text;
  std::vector<Step> steps;
  std::vector<std::shared_ptr<const Node>> body;  // of a range
};

namespace {

using Node = JsonPath::Node;
using Nodes = std::vector<std::shared_ptr<const Node>>;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  base::Result<Nodes> Template(bool inside_range) {
    Nodes nodes;
    while (at_ < text_.size()) {
      if (text_[at_] != '{') {
        const std::size_t open = std::min(text_.find('{', at_), text_.size());
        AddText(nodes, std::string(text_.substr(at_, open - at_)));
        at_ = open;
        continue;
      }
      ++at_;
      SkipBlanks();
      if (Word("end")) {
        ALLOT_RETURN_IF_ERROR(Expect('}'));
        if (!inside_range) {
          return Fail("{end} without {range}");
        }
        return nodes;
      }
      ALLOT_RETURN_IF_ERROR(Braces(nodes));
    }
    if (inside_range) {
      return Fail("{range} without {end}");
    }
    return nodes;
  }

 private:
  std::unexpected<base::Status> Fail(const std::string& what) const {
    return base::Error(base::Reason::kInvalid,
                       "error parsing jsonpath " + std::string(text_) + ", at position " +
                           std::to_string(at_) + ": " + what);
  }

  static void AddText(Nodes& nodes, std::string text) {
    auto node = std::make_shared<Node>();
    node->text = std::move(text);
    nodes.push_back(std::move(node));
  }

  /// What stands between braces: a quoted text, a range, or a path (several may follow each other).
  base::Result<void> Braces(Nodes& nodes) {
    if (Word("range")) {
      auto node = std::make_shared<Node>();
      node->kind = Node::Kind::kRange;
      ALLOT_ASSIGN_OR_RETURN(node->steps, Path());
      ALLOT_RETURN_IF_ERROR(Expect('}'));
      ALLOT_ASSIGN_OR_RETURN(node->body, Template(/*inside_range=*/true));
      nodes.push_back(std::move(node));
      return {};
    }
    while (at_ < text_.size() && text_[at_] != '}') {
      if (text_[at_] == '"' || text_[at_] == '\'') {
        ALLOT_ASSIGN_OR_RETURN(std::string quoted, Quoted());
        AddText(nodes, std::move(quoted));
      } else {
        auto node = std::make_shared<Node>();
        node->kind = Node::Kind::kPath;
        ALLOT_ASSIGN_OR_RETURN(node->steps, Path());
        nodes.push_back(std::move(node));
      }
      SkipBlanks();
    }
    return Expect('}');
  }

  base::Result<std::vector<Step>> Path() {
    std::vector<Step> steps;
    SkipBlanks();
    if (Peek() == '$' || Peek() == '@') {
      ++at_;
    } else if (Peek() != '.' && Peek() != '[') {
      return Fail("expected a path such as .metadata.name");
    }
    while (true) {
      if (Peek() == '.') {
        ++at_;
        if (Peek() == '.') {
          ++at_;
          steps.push_back({.kind = Step::Kind::kRecurse});
        }
        if (Peek() == '[' || AtPathEnd()) {
          continue;
        }
        if (Peek() == '*') {
          ++at_;
          steps.push_back({.kind = Step::Kind::kWildcard});
          continue;
        }
        steps.push_back({.kind = Step::Kind::kChild, .names = {Name()}});
      } else if (Peek() == '[') {
        ++at_;
        ALLOT_ASSIGN_OR_RETURN(Step step, Bracket());
        steps.push_back(std::move(step));
      } else {
        return steps;
      }
    }
  }

  base::Result<Step> Bracket() {
    SkipBlanks();
    Step step;
    if (Peek() == '*') {
      ++at_;
      step.kind = Step::Kind::kWildcard;
    } else if (Peek() == '?') {
      ++at_;
      ALLOT_RETURN_IF_ERROR(Expect('('));
      ALLOT_ASSIGN_OR_RETURN(step, Filter());
      ALLOT_RETURN_IF_ERROR(Expect(')'));
    } else if (Peek() == '\'' || Peek() == '"') {
      step.kind = Step::Kind::kNames;
      do {
        SkipBlanks();
        ALLOT_ASSIGN_OR_RETURN(std::string name, Quoted());
        step.names.push_back(std::move(name));
      } while (Take(','));
    } else {
      ALLOT_RETURN_IF_ERROR(Indexes(step));
    }
    ALLOT_RETURN_IF_ERROR(Expect(']'));
    return step;
  }

  base::Result<void> Indexes(Step& step) {
    step.kind = Step::Kind::kIndexes;
    std::optional<std::int64_t> number = Number();
    if (Take(':')) {
      step.kind = Step::Kind::kSlice;
      step.from = number;
      step.to = Number();
      if (Take(':')) {
        step.stride = Number().value_or(1);
        if (step.stride <= 0) {
          return Fail("step must be > 0");
        }
      }
      return {};
    }
    while (number) {
      step.indexes.push_back(*number);
      if (!Take(',')) {
        return {};
      }
      number = Number();
    }
    return Fail("expected an index, a slice, a quoted name, * or ?(...)");
  }

  base::Result<Step> Filter() {
    Step step{.kind = Step::Kind::kFilter};
    SkipBlanks();
    ALLOT_ASSIGN_OR_RETURN(step.left, Path());
    SkipBlanks();
    for (const std::string_view op : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (text_.substr(at_).starts_with(op)) {
        step.op = op;
        at_ += op.size();
        break;
      }
    }
    SkipBlanks();
    if (step.op.empty()) {
      return step;  // exists
    }
    if (Peek() == '@' || Peek() == '.') {
      ALLOT_ASSIGN_OR_RETURN(step.right, Path());
    } else if (Peek() == '"' || Peek() == '\'') {
      ALLOT_ASSIGN_OR_RETURN(std::string quoted, Quoted());
      step.literal = Value(std::move(quoted));
    } else {
      const std::size_t end = std::min(text_.find_first_of(") ", at_), text_.size());
      auto literal = text::ParseJson(text_.substr(at_, end - at_));
      if (!literal) {
        return Fail("expected a number, true, false or a quoted text");
      }
      step.literal = *std::move(literal);
      at_ = end;
    }
    return step;
  }

  std::string Name() {
    std::string name;
    while (at_ < text_.size() &&
           std::string_view(".[]{}()=!<>,\"' \t").find(text_[at_]) == std::string_view::npos) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;  // \. is a dot inside a name
      }
      name += text_[at_++];
    }
    return name;
  }

  base::Result<std::string> Quoted() {
    const char quote = text_[at_++];
    std::string out;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        const char escaped = text_[++at_];
        out += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
        ++at_;
      } else {
        out += text_[at_++];
      }
    }
    if (at_ >= text_.size()) {
      return Fail("unterminated quoted string");
    }
    ++at_;
    return out;
  }

  std::optional<std::int64_t> Number() {
    SkipBlanks();
    std::int64_t number = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc()) {
      return std::nullopt;
    }
    at_ = static_cast<std::size_t>(end - text_.data());
    return number;
  }

  [[nodiscard]] char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  [[nodiscard]] bool AtPathEnd() const {
    return Peek() == '}' || Peek() == '\0' || Peek() == ' ' || Peek() == ')';
  }
  bool Take(char c) {
    SkipBlanks();
    if (Peek() != c) {
      return false;
    }
    ++at_;
    return true;
  }
  bool Word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) {
      return false;
    }
    const char after = at_ + word.size() < text_.size() ? text_[at_ + word.size()] : '\0';
    if (after != ' ' && after != '}' && after != '\t') {
      return false;
    }
    at_ += word.size();
    SkipBlanks();
    return true;
  }
  void SkipBlanks() {
    while (Peek() == ' ' || Peek() == '\t') {
      ++at_;
    }
  }
  base::Result<void> Expect(char c) {
    if (!Take(c)) {
      return Fail(std::string("expected '") + c + "'");
    }
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Selection Walk(const std::vector<Step>& steps, const Value& root);

bool Compare(const Value& left, const std::string& op, const Value& right) {
  if (op == "==" || op == "!=") {
    return (left == right) == (op == "==");
  }
  int order = 0;
  if (left.is_number() && right.is_number()) {
    order = left.AsDouble() < right.AsDouble() ? -1 : left.AsDouble() > right.AsDouble() ? 1 : 0;
  } else if (left.is_string() && right.is_string()) {
    order = left.AsString().compare(right.AsString());
  } else {
    return false;
  }
  return op == "<" ? order < 0 : op == "<=" ? order <= 0 : op == ">" ? order > 0 : order >= 0;
}

bool Passes(const Step& filter, const Value& item) {
  const Selection left = Walk(filter.left, item);
  if (filter.op.empty()) {
    return !left.empty();
  }
  if (left.empty()) {
    return false;
  }
  if (filter.literal) {
    return Compare(*left[0], filter.op, *filter.literal);
  }
  const Selection right = Walk(filter.right, item);
  return !right.empty() && Compare(*left[0], filter.op, *right[0]);
}

void Descend(const Value& value, Selection& out) {
  out.push_back(&value);
  for (const text::Member& member : value.members()) {
    Descend(member.value, out);
  }
  for (const Value& item : value.items()) {
    Descend(item, out);
  }
}

void Slice(const Step& step, const Value& value, Selection& out) {
  const auto size = static_cast<std::int64_t>(value.items().size());
  const auto bound = [size](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
  };
  for (std::int64_t i = bound(step.from.value_or(0)); i < bound(step.to.value_or(size));
       i += step.stride) {
    out.push_back(&value.items()[static_cast<std::size_t>(i)]);
  }
}

void Apply(const Step& step, const Value& value, Selection& out) {
  switch (step.kind) {
    case Step::Kind::kChild:
    case Step::Kind::kNames:
      for (const std::string& name : step.names) {
        if (const Value* const found = value.Find(name); found != nullptr) {
          out.push_back(found);
        }
      }
      break;
    case Step::Kind::kWildcard:
      for (const text::Member& member : value.members()) {
        out.push_back(&member.value);
      }
      for (const Value& item : value.items()) {
        out.push_back(&item);
      }
      break;
    case Step::Kind::kRecurse: Descend(value, out); break;
    case Step::Kind::kIndexes:
      for (const std::int64_t index : step.indexes) {
        const auto size = static_cast<std::int64_t>(value.items().size());
        const std::int64_t at = index < 0 ? index + size : index;
        if (at >= 0 && at < size) {
          out.push_back(&value.items()[static_cast<std::size_t>(at)]);
        }
      }
      break;
    case Step::Kind::kSlice: Slice(step, value, out); break;
    case Step::Kind::kFilter:
      for (const Value& item : value.items()) {
        if (Passes(step, item)) {
          out.push_back(&item);
        }
      }
      break;
  }
}

Selection Walk(const std::vector<Step>& steps, const Value& root) {
  Selection current = {&root};
  for (const Step& step : steps) {
    Selection next;
    for (const Value* const value : current) {
      Apply(step, *value, next);
    }
    current = std::move(next);
  }
  return current;
}

void RenderNodes(const Nodes& nodes, const Value& root, std::string& out) {
  for (const auto& node : nodes) {
    switch (node->kind) {
      case Node::Kind::kText: out += node->text; break;
      case Node::Kind::kPath: {
        bool first = true;
        for (const Value* const value : Walk(node->steps, root)) {
          out += (first ? "" : " ") + PlainText(*value);
          first = false;
        }
        break;
      }
      case Node::Kind::kRange:
        for (const Value* const value : Walk(node->steps, root)) {
          RenderNodes(node->body, *value, out);
        }
        break;
    }
  }
}

}  // namespace

std::string PlainText(const Value& value) {
  return value.is_string() ? std::string(value.AsString())
         : value.is_null() ? std::string()
                           : text::ToJson(value);
}

base::Result<JsonPath> JsonPath::Parse(std::string_view text) {
  JsonPath path;
  ALLOT_ASSIGN_OR_RETURN(path.nodes_, Parser(text).Template(/*inside_range=*/false));
  return path;
}

base::Result<JsonPath> JsonPath::ParseRelaxed(std::string_view text) {
  std::string full(text);
  if (!full.starts_with('{')) {
    full = std::string(full.starts_with('.') || full.starts_with('[') ? "{" : "{.") + full + "}";
  }
  return Parse(full);
}

std::string JsonPath::Render(const Value& root) const {
  std::string out;
  RenderNodes(nodes_, root, out);
  return out;
}

std::vector<const Value*> JsonPath::Select(const Value& root) const {
  for (const auto& node : nodes_) {
    if (node->kind != Node::Kind::kText) {
      return Walk(node->steps, root);
    }
  }
  return {};
}

}  // namespace allot::cli
