// What is wrong with an expression, in the words of cel-go's generated parser: the same rules with
// the same recovery from errors, so that the second error is the same one, too.
#include "cel/explainer.h"
#include "cel/parser.h"

namespace allot::cel {

void Explainer::Run() {
  static_cast<void>(Call(-1, Rule::kStart));
  if (!Stopped()) {
    BuildBroken(builder_, made_);
  }
}

SyntaxNode* Explainer::NewNode(Form form, std::uint32_t start) {
  SyntaxNode& node = nodes_.emplace_back();
  node.form = form;
  node.start = start;
  return &node;
}

bool Explainer::Call(int state, Rule rule, int precedence) {
  RuleContext context;
  SyntaxNode* node = nullptr;
  if (Enter(context, state, rule)) {
    node = NewNode(Form::kBroken, Ahead(1).offset);
    static_cast<void>(Body(rule, precedence, node));
  }
  Leave(context, rule);
  made_ = node;
  return Fine();
}

bool Explainer::Call(int state, Rule rule, const SyntaxNode*& label, int precedence) {
  const bool fine = Call(state, rule, precedence);
  label = made_;
  return fine;
}

bool Explainer::CallInto(int state, Rule rule, std::vector<const SyntaxNode*>& labels) {
  const bool fine = Call(state, rule);
  labels.push_back(made_);
  return fine;
}

bool Explainer::Body(Rule rule, int precedence, SyntaxNode*& node) {
  switch (rule) {
    case Rule::kStart:
      node->form = Form::kPass;
      return Call(34, Rule::kExpr, node->first) && Match(35, Token::kEnd);
    case Rule::kExpr: return Conditional(*node);
    case Rule::kConditionalOr:
      return Chain(*node, Form::kOr, {45, 50, 52, 46, 47}, Rule::kConditionalAnd, Token::kOr);
    case Rule::kConditionalAnd:
      return Chain(*node, Form::kAnd, {53, 58, 60, 54, 55}, Rule::kRelation, Token::kAnd);
    case Rule::kRelation: return Relation(precedence, node);
    case Rule::kCalc: return Calc(precedence, node);
    case Rule::kUnary: return Unary(*node);
    case Rule::kMember: return Member(node);
    case Rule::kPrimary: return Primary(*node);
    case Rule::kExprList:
      return CallInto(186, Rule::kExpr, node->items) &&
             Repeat(
                 191,
                 193,
                 [this] { return La() == Token::kComma; },
                 [&] {
                   return Match(187, Token::kComma) && CallInto(188, Rule::kExpr, node->items);
                 });
    case Rule::kListInit:
      return CallInto(194, Rule::kOptExpr, node->items) &&
             Repeat(
                 199,
                 201,
                 [this] { return CommaThen(196); },
                 [&] {
                   return Match(195, Token::kComma) && CallInto(196, Rule::kOptExpr, node->items);
                 });
    case Rule::kFieldInit:
      return Pairs(*node, Rule::kOptField, {202, 203, 204}, 212, 214, 205, {206, 207, 208});
    case Rule::kOptField:
      node->form = Form::kOptional;
      return Optional(216, 215, Token::kQuestion, node->question) &&
             Call(218, Rule::kEscapeIdent, node->second);
    case Rule::kMapInit:
      return Pairs(*node, Rule::kOptExpr, {220, 221, 222}, 230, 232, 223, {224, 225, 226});
    case Rule::kEscapeIdent: return EscapeIdent(*node);
    case Rule::kOptExpr:
      node->form = Form::kOptional;
      return Optional(238, 237, Token::kQuestion, node->question) &&
             Call(240, Rule::kExpr, node->first);
    case Rule::kLiteral: return Literal(*node);
  }
  return true;
}

bool Explainer::Conditional(SyntaxNode& node) {
  node.form = Form::kPass;
  if (!Call(37, Rule::kConditionalOr, node.first) || !Sync(43) || La() != Token::kQuestion) {
    return Fine();
  }
  const bool asked = Match(38, Token::kQuestion, node.op);
  node.form = node.op ? Form::kConditional : Form::kPass;
  return asked && Call(39, Rule::kConditionalOr, node.second) && Match(40, Token::kColon) &&
         Call(41, Rule::kExpr, node.third);
}

bool Explainer::Chain(
    SyntaxNode& node, Form form, const std::array<int, 5>& states, Rule term, Token token) {
  node.form = Form::kPass;
  return Call(states[0], term, node.first) && Repeat(
                                                  states[1],
                                                  states[2],
                                                  [&] { return La() == token; },
                                                  [&] {
                                                    if (!MatchInto(states[3], token, node.ops)) {
                                                      return false;
                                                    }
                                                    node.form = form;
                                                    return CallInto(states[4], term, node.items);
                                                  });
}

bool Explainer::Pairs(SyntaxNode& node,
                      Rule key,
                      const std::array<int, 3>& first,
                      int entry,
                      int end,
                      int comma,
                      const std::array<int, 3>& next) {
  const auto pair = [&](const std::array<int, 3>& states) {
    return CallInto(states[0], key, node.items) && MatchInto(states[1], Token::kColon, node.ops) &&
           CallInto(states[2], Rule::kExpr, node.values);
  };
  return pair(first) && Repeat(
                            entry,
                            end,
                            [&] { return CommaThen(next[0]); },
                            [&] { return Match(comma, Token::kComma) && pair(next); });
}

bool Explainer::CommaThen(int state) {
  return La() == Token::kComma && (grammar_.Next(state) & TokenBit(La(2))) != 0;
}

SyntaxNode& Explainer::Wrap(SyntaxNode*& node, Form form) {
  SyntaxNode* const outer = NewNode(form, node->start);
  outer->first = node;
  node = outer;
  return *outer;
}

bool Explainer::Relation(int precedence, SyntaxNode*& node) {
  const TokenSet operators = grammar_.Next(65);
  node->form = Form::kPass;
  return Call(62, Rule::kCalc, node->first) &&
         Repeat(
             69,
             71,
             [&] { return precedence <= 1 && LaIn(operators); },
             [&] {
               SyntaxNode& binary = Wrap(node, Form::kBinary);
               return MatchOf(65, operators, binary.op) &&
                      Call(66, Rule::kRelation, binary.second, 2);
             });
}

bool Explainer::Calc(int precedence, SyntaxNode*& node) {
  const TokenSet products = grammar_.Next(76);
  const TokenSet sums = grammar_.Next(79);
  const auto more = [&] {
    return (precedence <= 2 && LaIn(products)) || (precedence <= 1 && LaIn(sums));
  };
  node->form = Form::kPass;
  return Call(73, Rule::kUnary, node->first) && Repeat(83, 85, more, [&] {
           if (!Sync(81)) {
             return false;
           }
           SyntaxNode& binary = Wrap(node, Form::kBinary);
           return LaIn(products)
                      ? MatchOf(76, products, binary.op) && Call(77, Rule::kCalc, binary.second, 3)
                      : MatchOf(79, sums, binary.op) && Call(80, Rule::kCalc, binary.second, 2);
         });
}

void ExplainSyntax(TreeBuilder& builder) {
  Explainer(builder).Run();
  if (builder.errors().empty()) {
    builder.Error(0, "Syntax error: unexpected input");
  }
}

}  // namespace allot::cel
