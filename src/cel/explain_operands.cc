// The rules of what operators stand between: unary operators, members, names, literals.
#include "cel/explainer.h"

namespace allot::cel {

bool Explainer::EscapeIdent(SyntaxNode& node) {
  if (!Sync(235)) {
    return false;
  }
  const Token token = La();
  if (token != Token::kIdentifier && token != Token::kEscIdentifier) {
    return NoViable(1);
  }
  node.form = Form::kName;
  return Match(token == Token::kIdentifier ? 233 : 234, token, node.id);
}

bool Explainer::Unary(SyntaxNode& node) {
  node.form = Form::kBrokenUnary;
  if (!Sync(99)) {
    return false;
  }
  const TokenSet member = grammar_.Next(86);
  if (La() == Token::kExclam) {
    node.form = Form::kNot;
    if (!Sync(88)) {
      return false;
    }
    do {
      if (!MatchInto(87, Token::kExclam, node.ops) || !Sync(90, Place::kLoopEnd)) {
        return false;
      }
    } while (La() == Token::kExclam);
    return Call(92, Rule::kMember, node.first);
  }
  if (La() != Token::kMinus && !LaIn(member)) {
    return NoViable(1);
  }
  if (La() != Token::kMinus || IsSignedLiteral(La(2))) {
    node.form = Form::kPass;
    return Call(86, Rule::kMember, node.first);
  }
  if ((TokenBit(La(2)) & (member | TokenBit(Token::kMinus))) == 0) {
    return NoViable(2);
  }
  node.form = Form::kNegate;
  return Sync(94) && Minuses(node, member) && Call(98, Rule::kMember, node.first);
}

bool Explainer::Minuses(SyntaxNode& node, TokenSet member) {
  for (;;) {
    if (!MatchInto(93, Token::kMinus, node.ops) || !Sync(96, Place::kLoopEnd)) {
      return false;
    }
    if (La() != Token::kMinus) {
      return LaIn(member) || NoViable(1);
    }
    if ((TokenBit(La(2)) & (member | TokenBit(Token::kMinus))) == 0) {
      return NoViable(2);
    }
  }
}

bool Explainer::Member(SyntaxNode*& node) {
  const auto more = [this] {
    return La() == Token::kDot || La() == Token::kLeftBracket;
  };
  node->form = Form::kPass;
  return Call(102, Rule::kPrimary, node->first) &&
         Repeat(128, 130, more, [&] { return MemberStep(node); });
}

bool Explainer::MemberStep(SyntaxNode*& node) {
  if (!Sync(126)) {
    return false;
  }
  if (La() == Token::kLeftBracket) {
    SyntaxNode& index = Wrap(node, Form::kIndex);
    return Match(119, Token::kLeftBracket, index.op) &&
           Optional(121, 120, Token::kQuestion, index.question) &&
           Call(123, Rule::kExpr, index.second) && Match(124, Token::kRightBracket);
  }
  if (La(2) == Token::kIdentifier && La(3) == Token::kLeftParen) {
    SyntaxNode& call = Wrap(node, Form::kMemberCall);
    return Match(111, Token::kDot) && Match(112, Token::kIdentifier, call.id) &&
           Match(113, Token::kLeftParen, call.op) &&
           OptionalRule(115, 114, Rule::kExprList, call.second) && Match(117, Token::kRightParen);
  }
  if (La(2) != Token::kIdentifier && La(2) != Token::kEscIdentifier && La(2) != Token::kQuestion) {
    return NoViable(2);
  }
  SyntaxNode& select = Wrap(node, Form::kSelect);
  return Match(105, Token::kDot, select.op) &&
         Optional(107, 106, Token::kQuestion, select.question) &&
         Call(109, Rule::kEscapeIdent, select.second);
}

SyntaxNode::Form Explainer::NameForm(std::size_t k) {
  if (La(k) == Token::kLeftParen) {
    return Form::kGlobalCall;
  }
  while (La(k) == Token::kDot && La(k + 1) == Token::kIdentifier) {
    k += 2;
  }
  return La(k) == Token::kLeftBrace ? Form::kMessage : Form::kIdent;
}

bool Explainer::Primary(SyntaxNode& node) {
  if (!Sync(184)) {
    return false;
  }
  switch (La()) {
    case Token::kLeftParen:
      node.form = Form::kPass;
      return Match(144, Token::kLeftParen) && Call(145, Rule::kExpr, node.first) &&
             Match(146, Token::kRightParen);
    case Token::kLeftBracket:
      node.form = Form::kList;
      return Match(148, Token::kLeftBracket, node.op) &&
             OptionalRule(150, 149, Rule::kListInit, node.second) && OptionalComma(153, 152) &&
             Match(155, Token::kRightBracket);
    case Token::kLeftBrace:
      node.form = Form::kMap;
      return Match(156, Token::kLeftBrace, node.op) &&
             OptionalRule(158, 157, Rule::kMapInit, node.second) && OptionalComma(161, 160) &&
             Match(163, Token::kRightBrace);
    case Token::kDot: return La(2) == Token::kIdentifier ? Named(node, NameForm(3)) : NoViable(2);
    case Token::kIdentifier: return Named(node, NameForm(2));
    default:
      if (!LaIn(grammar_.Next(183))) {
        return NoViable(1);
      }
      node.form = Form::kPass;
      return Call(183, Rule::kLiteral, node.first);
  }
}

bool Explainer::Named(SyntaxNode& node, Form form) {
  node.form = form;
  switch (form) {
    case Form::kIdent:
      return Optional(132, 131, Token::kDot, node.sign) && Match(134, Token::kIdentifier, node.id);
    case Form::kGlobalCall:
      return Optional(136, 135, Token::kDot, node.sign) &&
             Match(138, Token::kIdentifier, node.id) && Match(139, Token::kLeftParen, node.op) &&
             OptionalRule(141, 140, Rule::kExprList, node.second) && Match(143, Token::kRightParen);
    default:
      return Optional(165, 164, Token::kDot, node.sign) &&
             MatchInto(167, Token::kIdentifier, node.ops) &&
             Repeat(
                 172,
                 174,
                 [this] { return La() == Token::kDot; },
                 [&] {
                   return Match(168, Token::kDot) && MatchInto(169, Token::kIdentifier, node.ops);
                 }) &&
             Match(175, Token::kLeftBrace, node.op) &&
             OptionalRule(177, 176, Rule::kFieldInit, node.second) && OptionalComma(180, 179) &&
             Match(182, Token::kRightBrace);
  }
}

bool Explainer::Literal(SyntaxNode& node) {
  if (!Sync(256)) {
    return false;
  }
  const Token token = La() == Token::kMinus ? La(2) : La();
  if (La() == Token::kMinus && !IsSignedLiteral(token)) {
    return NoViable(2);
  }
  const int state = LiteralState(token);
  if (state < 0) {
    return NoViable(1);
  }
  const bool fine = (token != Token::kNumInt || Optional(243, 242, Token::kMinus, node.sign)) &&
                    (token != Token::kNumFloat || Optional(248, 247, Token::kMinus, node.sign)) &&
                    Match(state, token, node.id);
  node.form = node.id ? Form::kLiteral : Form::kBroken;
  return fine;
}

int Explainer::LiteralState(Token token) {
  switch (token) {
    case Token::kNumInt: return 245;
    case Token::kNumUint: return 246;
    case Token::kNumFloat: return 250;
    case Token::kString: return 251;
    case Token::kBytes: return 252;
    case Token::kTrue: return 253;
    case Token::kFalse: return 254;
    case Token::kNull: return 255;
    default: return -1;
  }
}

}  // namespace allot::cel
