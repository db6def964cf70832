#include "cel/parser.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "cel/lexer.h"

namespace allot::cel {
namespace {

// A subtree with the depth that cel-go's visitor would need for it.
struct Node {
  Expr* expr = nullptr;
  int height = 0;
};

// A small stack of children shared by all levels, so that lists need no allocation of their own.
template <typename T>
class Frame {
 public:
  explicit Frame(std::vector<T>& stack) : stack_(stack), base_(stack.size()) {}
  ~Frame() { stack_.resize(base_); }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  void Push(T value) { stack_.push_back(value); }
  [[nodiscard]] std::span<T> items() { return std::span<T>(stack_).subspan(base_); }

 private:
  std::vector<T>& stack_;
  std::size_t base_;
};

std::string_view RelationName(Token token) {
  switch (token) {
    case Token::kEqualsEquals: return op::kEquals;
    case Token::kNotEquals: return op::kNotEquals;
    case Token::kIn: return op::kIn;
    case Token::kLess: return op::kLess;
    case Token::kLessEquals: return op::kLessEquals;
    case Token::kGreater: return op::kGreater;
    case Token::kGreaterEquals: return op::kGreaterEquals;
    default: return {};
  }
}

std::string_view ProductName(Token token) {
  switch (token) {
    case Token::kStar: return op::kMultiply;
    case Token::kSlash: return op::kDivide;
    case Token::kPercent: return op::kModulo;
    default: return {};
  }
}

std::string_view SumName(Token token) {
  switch (token) {
    case Token::kPlus: return op::kAdd;
    case Token::kMinus: return op::kSubtract;
    default: return {};
  }
}

// Recursive descent. Any deviation sets failed_, and everything unwinds.
class Parser {
 public:
  Parser(TreeBuilder& builder, std::span<const Lexeme> tokens)
      : builder_(builder), tokens_(tokens) {}

  Node ParseAll() {
    const Node root = ParseExpr();
    if (Peek() != Token::kEnd) {
      failed_ = true;
    }
    return root;
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  [[nodiscard]] Token Peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)].token;
  }
  const Lexeme& Next() { return tokens_[std::min(at_++, tokens_.size() - 1)]; }
  [[nodiscard]] std::uint32_t Offset() const {
    return tokens_[std::min(at_, tokens_.size() - 1)].offset;
  }
  [[nodiscard]] std::string_view Text(const Lexeme& lexeme) const {
    return builder_.source().substr(lexeme.offset, lexeme.size);
  }
  bool Accept(Token token) {
    if (Peek() != token) {
      return false;
    }
    ++at_;
    return true;
  }
  bool Expect(Token token) {
    failed_ = failed_ || !Accept(token);
    return !failed_;
  }
  Node Fail() {
    failed_ = true;
    return {};
  }
  // Counts the nesting of one grammar rule, which cel-go limits.
  struct Depth {
    explicit Depth(int& counter) : counter_(counter) { ++counter_; }
    ~Depth() { --counter_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    int& counter_;
  };
  [[nodiscard]] bool TooDeep(int depth) const { return depth > builder_.syntax().max_recursion; }

  Node ParseExpr() {
    const Depth depth(expr_depth_);
    if (TooDeep(expr_depth_)) {
      return Fail();
    }
    const Node condition = ParseLogic(Token::kOr);
    if (failed_ || Peek() != Token::kQuestion) {
      return condition;
    }
    const std::uint32_t offset = Next().offset;
    const Node yes = ParseLogic(Token::kOr);
    if (failed_ || !Expect(Token::kColon)) {
      return Fail();
    }
    const Node no = ParseExpr();
    if (failed_) {
      return {};
    }
    return {builder_.Operator(offset, op::kConditional, {condition.expr, yes.expr, no.expr}),
            std::max({condition.height, yes.height, no.height}) + 1};
  }

  Node ParseLogic(Token token) {
    Node first = token == Token::kOr ? ParseLogic(Token::kAnd) : ParseRelation(0);
    if (failed_ || Peek() != token) {
      return first;
    }
    Frame<Expr*> terms(exprs_);
    Frame<std::uint32_t> offsets(offsets_);
    terms.Push(first.expr);
    while (Peek() == token) {
      offsets.Push(Next().offset);
      const Node next = token == Token::kOr ? ParseLogic(Token::kAnd) : ParseRelation(0);
      if (failed_) {
        return {};
      }
      terms.Push(next.expr);
      first.height = std::max(first.height, next.height);
    }
    first.expr =
        builder_.Logic(token == Token::kOr ? op::kOr : op::kAnd, terms.items(), offsets.items());
    return first;
  }

  Node ParseRelation(int precedence) {
    const Depth depth(relation_depth_);
    if (TooDeep(relation_depth_)) {
      return Fail();
    }
    Node left = ParseCalc(0);
    while (!failed_ && precedence <= 1) {
      const std::string_view name = RelationName(Peek());
      if (name.empty()) {
        break;
      }
      left = Combine(name, left, [this] { return ParseRelation(2); });
    }
    return left;
  }

  Node ParseCalc(int precedence) {
    const Depth depth(calc_depth_);
    if (TooDeep(calc_depth_)) {
      return Fail();
    }
    Node left = ParseUnary();
    while (!failed_) {
      const std::string_view product = ProductName(Peek());
      const std::string_view sum = SumName(Peek());
      if (!product.empty() && precedence <= 2) {
        left = Combine(product, left, [this] { return ParseCalc(3); });
      } else if (!sum.empty() && precedence <= 1) {
        left = Combine(sum, left, [this] { return ParseCalc(2); });
      } else {
        break;
      }
    }
    return left;
  }

  template <typename F>
  Node Combine(std::string_view name, const Node& left, F parse_right) {
    const std::uint32_t offset = Next().offset;
    const Node right = parse_right();
    if (failed_) {
      return {};
    }
    return {builder_.Operator(offset, name, {left.expr, right.expr}),
            std::max(left.height, right.height) + 1};
  }

  Node ParseUnary() {
    const Token token = Peek();
    const bool signed_literal =
        token == Token::kMinus && (Peek(1) == Token::kNumInt || Peek(1) == Token::kNumFloat);
    if ((token != Token::kExclam && token != Token::kMinus) || signed_literal) {
      return ParseMember();
    }
    const std::uint32_t offset = Offset();
    int count = 0;
    while (Accept(token)) {
      ++count;
    }
    const Node operand = ParseMember();
    if (failed_ || count % 2 == 0) {
      return operand;
    }
    return {
        builder_.Operator(offset, token == Token::kExclam ? op::kNot : op::kNegate, {operand.expr}),
        operand.height};
  }

  Node ParseMember() {
    Node node = ParsePrimary();
    while (!failed_) {
      if (Peek() == Token::kDot) {
        node = ParseSelector(node);
      } else if (Peek() == Token::kLeftBracket) {
        const std::uint32_t bracket = Next().offset;
        const bool optional = Accept(Token::kQuestion);
        const Node index = ParseExpr();
        if (failed_ || !Expect(Token::kRightBracket)) {
          return Fail();
        }
        node = {builder_.Index(bracket, node.expr, index.expr, optional),
                std::max(node.height, index.height) + 1};
      } else {
        break;
      }
    }
    return node;
  }

  Node ParseSelector(Node node) {
    const std::uint32_t dot = Next().offset;
    const bool optional = Accept(Token::kQuestion);
    if (Peek() != Token::kIdentifier && Peek() != Token::kEscIdentifier) {
      return Fail();
    }
    const Lexeme name = Next();
    if (!optional && name.token == Token::kIdentifier && Peek() == Token::kLeftParen) {
      const std::uint32_t open = Next().offset;
      Frame<Expr*> args(exprs_);
      const int height = ParseArgs(args);
      if (failed_) {
        return {};
      }
      return {builder_.MemberCall(open, Text(name), node.expr, args.items()),
              std::max(node.height, height) + 1};
    }
    return {builder_.Select(dot, name.offset, Text(name), node.expr, optional), node.height + 1};
  }

  int ParseArgs(Frame<Expr*>& args) {
    int height = 0;
    if (Accept(Token::kRightParen)) {
      return height;
    }
    do {
      const Node arg = ParseExpr();
      if (failed_) {
        return 0;
      }
      args.Push(arg.expr);
      height = std::max(height, arg.height);
    } while (Accept(Token::kComma));
    Expect(Token::kRightParen);
    return height;
  }

  Node ParsePrimary() {
    switch (Peek()) {
      case Token::kLeftParen: {
        ++at_;
        const Node inner = ParseExpr();
        return !failed_ && Expect(Token::kRightParen) ? inner : Fail();
      }
      case Token::kLeftBracket: return ParseList();
      case Token::kLeftBrace: return ParseMap();
      case Token::kDot:
      case Token::kIdentifier: return ParseName();
      default: return ParseLiteral();
    }
  }

  // The place of the brace when the tokens from here on are a message name before one, else 0.
  [[nodiscard]] std::size_t MessageBrace() const {
    std::size_t i = Peek() == Token::kDot ? 1 : 0;
    for (; Peek(i) == Token::kIdentifier; i += 2) {
      if (Peek(i + 1) == Token::kLeftBrace) {
        return i + 1;
      }
      if (Peek(i + 1) != Token::kDot) {
        break;
      }
    }
    return 0;
  }

  Node ParseName() {
    const std::uint32_t start = Offset();
    if (const std::size_t brace = MessageBrace(); brace != 0) {
      return ParseMessage(brace);
    }
    const bool leading_dot = Accept(Token::kDot);
    if (Peek() != Token::kIdentifier) {
      return Fail();
    }
    const Lexeme name = Next();
    if (Peek() != Token::kLeftParen) {
      return {builder_.Ident(start, name.offset, leading_dot, Text(name)), 0};
    }
    const std::uint32_t open = Next().offset;
    Frame<Expr*> args(exprs_);
    const int height = ParseArgs(args);
    if (failed_) {
      return {};
    }
    return {builder_.GlobalCall(start, open, leading_dot, Text(name), args.items()), height};
  }

  Node ParseMessage(std::size_t brace) {
    std::string name;
    for (std::size_t i = 0; i < brace; ++i) {
      name += Text(Next());
    }
    const std::uint32_t offset = Next().offset;
    Frame<Entry> fields(entries_);
    int height = 0;
    while (Peek() == Token::kQuestion || Peek() == Token::kIdentifier ||
           Peek() == Token::kEscIdentifier) {
      Entry field;
      field.optional = Accept(Token::kQuestion);
      if (Peek() != Token::kIdentifier && Peek() != Token::kEscIdentifier) {
        return Fail();
      }
      const Lexeme lexeme = Next();
      field.offset = Offset();
      if (!Expect(Token::kColon)) {
        return {};
      }
      if (field.optional && !builder_.syntax().optional_syntax) {
        return Fail();
      }
      field.field = builder_.FieldName(lexeme.offset, Text(lexeme));
      const Node value = ParseExpr();
      if (failed_) {
        return {};
      }
      field.value = value.expr;
      height = std::max(height, value.height);
      fields.Push(field);
      if (!Accept(Token::kComma)) {
        break;
      }
    }
    if (fields.items().empty()) {
      Accept(Token::kComma);
    }
    if (!Expect(Token::kRightBrace)) {
      return {};
    }
    return {builder_.Message(offset, builder_.factory().arena().Copy(name), fields.items()),
            height};
  }

  Node ParseList() {
    const std::uint32_t offset = Next().offset;
    Frame<ListElement> elements(elements_);
    int height = 0;
    while (Peek() != Token::kRightBracket && Peek() != Token::kComma) {
      ListElement element;
      const std::uint32_t start = Offset();
      element.optional = Accept(Token::kQuestion);
      const Node value = ParseExpr();
      if (failed_) {
        return {};
      }
      if (element.optional && !builder_.syntax().optional_syntax) {
        builder_.errors().Report(start, "unsupported syntax '?'");
        element.optional = false;
      }
      element.value = value.expr;
      height = std::max(height, value.height);
      elements.Push(element);
      if (Peek() != Token::kComma || Peek(1) == Token::kRightBracket) {
        break;
      }
      ++at_;
      if (Peek() == Token::kComma) {
        return Fail();
      }
    }
    Accept(Token::kComma);
    if (!Expect(Token::kRightBracket)) {
      return {};
    }
    return {builder_.factory().NewList(offset, elements.items()), height};
  }

  Node ParseMap() {
    const std::uint32_t offset = Next().offset;
    Frame<Entry> entries(entries_);
    int height = 0;
    while (Peek() != Token::kRightBrace && Peek() != Token::kComma) {
      Entry entry;
      entry.optional = Accept(Token::kQuestion);
      if (entry.optional && !builder_.syntax().optional_syntax) {
        return Fail();
      }
      const Node key = ParseExpr();
      entry.offset = Offset();
      if (failed_ || !Expect(Token::kColon)) {
        return Fail();
      }
      const Node value = ParseExpr();
      if (failed_) {
        return {};
      }
      entry.key = key.expr;
      entry.value = value.expr;
      height = std::max({height, key.height, value.height});
      entries.Push(entry);
      if (Peek() != Token::kComma || Peek(1) == Token::kRightBrace) {
        break;
      }
      ++at_;
      if (Peek() == Token::kComma) {
        return Fail();
      }
    }
    Accept(Token::kComma);
    if (!Expect(Token::kRightBrace)) {
      return {};
    }
    return {builder_.factory().NewMap(offset, entries.items()), height};
  }

  Node ParseLiteral() {
    const std::uint32_t offset = Offset();
    const bool negative = Accept(Token::kMinus);
    const Lexeme lexeme = Next();
    const std::string_view text = Text(lexeme);
    if (negative && lexeme.token != Token::kNumInt && lexeme.token != Token::kNumFloat) {
      return Fail();
    }
    switch (lexeme.token) {
      case Token::kNumInt: return {builder_.Int(offset, negative, text), 0};
      case Token::kNumUint: return {builder_.Uint(offset, text), 0};
      case Token::kNumFloat: return {builder_.Double(offset, negative, text), 0};
      case Token::kString: return {builder_.String(offset, text, /*bytes=*/false), 0};
      case Token::kBytes: return {builder_.String(offset, text, /*bytes=*/true), 0};
      case Token::kTrue: return {builder_.factory().NewBool(offset, true), 0};
      case Token::kFalse: return {builder_.factory().NewBool(offset, false), 0};
      case Token::kNull: return {builder_.Null(offset), 0};
      default: return Fail();
    }
  }

  TreeBuilder& builder_;
  std::span<const Lexeme> tokens_;
  std::size_t at_ = 0;
  bool failed_ = false;
  int expr_depth_ = 0;
  int relation_depth_ = 0;
  int calc_depth_ = 0;
  std::vector<Expr*> exprs_;
  std::vector<std::uint32_t> offsets_;
  std::vector<ListElement> elements_;
  std::vector<Entry> entries_;
};

}  // namespace

Expr* Parse(TreeBuilder& builder) {
  constexpr std::size_t kMaxCodePoints = 100'000;
  if (builder.source().size() > kMaxCodePoints) {
    const auto points = std::ranges::count_if(
        builder.source(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    if (static_cast<std::size_t>(points) > kMaxCodePoints) {
      builder.errors().ReportNowhere(fmt::format(
          "expression code point size exceeds limit: size: {}, limit {}", points, kMaxCodePoints));
      return nullptr;
    }
  }
  std::vector<Lexeme> tokens;
  tokens.reserve(builder.source().size() / 3 + 4);
  if (Lex(builder.source(), tokens)) {
    Errors errors(builder.source());
    TreeBuilder quiet(builder.source(), builder.factory(), errors, builder.syntax());
    Parser parser(quiet, tokens);
    const Node root = parser.ParseAll();
    if (!parser.failed()) {
      if (root.height <= builder.syntax().max_recursion) {
        builder.errors() = std::move(errors);
        return root.expr;
      }
      // Only the slow way knows what upstream reports before it reaches its limit.
    }
  }
  ExplainSyntax(builder);
  if (builder.errors().empty()) {
    builder.errors().ReportNowhere("syntax error");
  }
  return nullptr;
}

}  // namespace allot::cel
