#include "cel/grammar_states.h"

#include <span>

namespace allot::cel {
namespace {

constexpr int kTokenEnd = -1;  // the end of the input, as a token of a step

// One edge of the graph. `what`: 'e' nothing, 't' the token `argument`, 'r' the rule `argument`,
// 's' one of a set.
struct Step {
  int from;
  int to;
  char what;
  int argument;
};

constexpr int kComparisons = 0;
constexpr int kProducts = 1;
constexpr int kSums = 2;

constexpr TokenSet Bit(int token) {
  return TokenSet{1} << token;
}
constexpr TokenSet kSets[] = {
    Bit(1) | Bit(2) | Bit(3) | Bit(4) | Bit(5) | Bit(6) | Bit(7),
    Bit(23) | Bit(24) | Bit(25),
    Bit(18) | Bit(22),
};

constexpr Step kSteps[] = {
    // start
    {0, 34, 'e', 0},
    {34, 35, 'r', 1},
    {35, 36, 't', kTokenEnd},
    {36, 1, 'e', 0},
    // expr
    {2, 37, 'e', 0},
    {37, 43, 'r', 2},
    {43, 38, 'e', 0},
    {43, 44, 'e', 0},
    {38, 39, 't', 20},
    {39, 40, 'r', 2},
    {40, 41, 't', 21},
    {41, 42, 'r', 1},
    {42, 44, 'e', 0},
    {44, 3, 'e', 0},
    // conditionalOr
    {4, 45, 'e', 0},
    {45, 50, 'r', 3},
    {50, 48, 'e', 0},
    {50, 51, 'e', 0},
    {48, 46, 'e', 0},
    {46, 47, 't', 9},
    {47, 49, 'r', 3},
    {49, 52, 'e', 0},
    {52, 50, 'e', 0},
    {51, 5, 'e', 0},
    // conditionalAnd
    {6, 53, 'e', 0},
    {53, 58, 'r', 4},
    {58, 56, 'e', 0},
    {58, 59, 'e', 0},
    {56, 54, 'e', 0},
    {54, 55, 't', 8},
    {55, 57, 'r', 4},
    {57, 60, 'e', 0},
    {60, 58, 'e', 0},
    {59, 7, 'e', 0},
    // relation
    {8, 61, 'e', 0},
    {61, 62, 'e', 0},
    {62, 69, 'r', 5},
    {69, 67, 'e', 0},
    {69, 70, 'e', 0},
    {67, 64, 'e', 0},
    {64, 65, 'e', 0},
    {65, 66, 's', kComparisons},
    {66, 68, 'r', 4},
    {68, 71, 'e', 0},
    {71, 69, 'e', 0},
    {70, 9, 'e', 0},
    // calc
    {10, 72, 'e', 0},
    {72, 73, 'e', 0},
    {73, 83, 'r', 6},
    {83, 81, 'e', 0},
    {83, 84, 'e', 0},
    {81, 75, 'e', 0},
    {81, 78, 'e', 0},
    {75, 76, 'e', 0},
    {76, 77, 's', kProducts},
    {77, 82, 'r', 5},
    {78, 79, 'e', 0},
    {79, 80, 's', kSums},
    {80, 82, 'r', 5},
    {82, 85, 'e', 0},
    {85, 83, 'e', 0},
    {84, 11, 'e', 0},
    // unary
    {12, 99, 'e', 0},
    {99, 86, 'e', 0},
    {99, 88, 'e', 0},
    {99, 94, 'e', 0},
    {86, 100, 'r', 7},
    {88, 87, 'e', 0},
    {87, 89, 't', 19},
    {89, 90, 'e', 0},
    {90, 88, 'e', 0},
    {90, 91, 'e', 0},
    {91, 92, 'e', 0},
    {92, 100, 'r', 7},
    {94, 93, 'e', 0},
    {93, 95, 't', 18},
    {95, 96, 'e', 0},
    {96, 94, 'e', 0},
    {96, 97, 'e', 0},
    {97, 98, 'e', 0},
    {98, 100, 'r', 7},
    {100, 13, 'e', 0},
    // member
    {14, 101, 'e', 0},
    {101, 102, 'e', 0},
    {102, 128, 'r', 8},
    {128, 126, 'e', 0},
    {128, 129, 'e', 0},
    {126, 104, 'e', 0},
    {126, 110, 'e', 0},
    {126, 118, 'e', 0},
    {104, 105, 'e', 0},
    {105, 107, 't', 16},
    {107, 106, 'e', 0},
    {107, 108, 'e', 0},
    {106, 108, 't', 20},
    {108, 109, 'e', 0},
    {109, 127, 'r', 14},
    {110, 111, 'e', 0},
    {111, 112, 't', 16},
    {112, 113, 't', 36},
    {113, 115, 't', 14},
    {115, 114, 'e', 0},
    {115, 116, 'e', 0},
    {114, 116, 'r', 9},
    {116, 117, 'e', 0},
    {117, 127, 't', 15},
    {118, 119, 'e', 0},
    {119, 121, 't', 10},
    {121, 120, 'e', 0},
    {121, 122, 'e', 0},
    {120, 122, 't', 20},
    {122, 123, 'e', 0},
    {123, 124, 'r', 1},
    {124, 125, 't', 11},
    {125, 127, 'e', 0},
    {127, 130, 'e', 0},
    {130, 128, 'e', 0},
    {129, 15, 'e', 0},
    // primary
    {16, 184, 'e', 0},
    {184, 132, 'e', 0},
    {184, 136, 'e', 0},
    {184, 144, 'e', 0},
    {184, 148, 'e', 0},
    {184, 156, 'e', 0},
    {184, 165, 'e', 0},
    {184, 183, 'e', 0},
    {132, 131, 'e', 0},
    {132, 133, 'e', 0},
    {131, 133, 't', 16},
    {133, 134, 'e', 0},
    {134, 185, 't', 36},
    {136, 135, 'e', 0},
    {136, 137, 'e', 0},
    {135, 137, 't', 16},
    {137, 138, 'e', 0},
    {138, 139, 't', 36},
    {139, 141, 't', 14},
    {141, 140, 'e', 0},
    {141, 142, 'e', 0},
    {140, 142, 'r', 9},
    {142, 143, 'e', 0},
    {143, 185, 't', 15},
    {144, 145, 't', 14},
    {145, 146, 'r', 1},
    {146, 147, 't', 15},
    {147, 185, 'e', 0},
    {148, 150, 't', 10},
    {150, 149, 'e', 0},
    {150, 151, 'e', 0},
    {149, 151, 'r', 10},
    {151, 153, 'e', 0},
    {153, 152, 'e', 0},
    {153, 154, 'e', 0},
    {152, 154, 't', 17},
    {154, 155, 'e', 0},
    {155, 185, 't', 11},
    {156, 158, 't', 12},
    {158, 157, 'e', 0},
    {158, 159, 'e', 0},
    {157, 159, 'r', 13},
    {159, 161, 'e', 0},
    {161, 160, 'e', 0},
    {161, 162, 'e', 0},
    {160, 162, 't', 17},
    {162, 163, 'e', 0},
    {163, 185, 't', 13},
    {165, 164, 'e', 0},
    {165, 166, 'e', 0},
    {164, 166, 't', 16},
    {166, 167, 'e', 0},
    {167, 172, 't', 36},
    {172, 170, 'e', 0},
    {172, 173, 'e', 0},
    {170, 168, 'e', 0},
    {168, 169, 't', 16},
    {169, 171, 't', 36},
    {171, 174, 'e', 0},
    {174, 172, 'e', 0},
    {173, 175, 'e', 0},
    {175, 177, 't', 12},
    {177, 176, 'e', 0},
    {177, 178, 'e', 0},
    {176, 178, 'r', 11},
    {178, 180, 'e', 0},
    {180, 179, 'e', 0},
    {180, 181, 'e', 0},
    {179, 181, 't', 17},
    {181, 182, 'e', 0},
    {182, 185, 't', 13},
    {183, 185, 'r', 16},
    {185, 17, 'e', 0},
    // exprList
    {18, 186, 'e', 0},
    {186, 191, 'r', 1},
    {191, 189, 'e', 0},
    {191, 192, 'e', 0},
    {189, 187, 'e', 0},
    {187, 188, 't', 17},
    {188, 190, 'r', 1},
    {190, 193, 'e', 0},
    {193, 191, 'e', 0},
    {192, 19, 'e', 0},
    // listInit
    {20, 194, 'e', 0},
    {194, 199, 'r', 15},
    {199, 197, 'e', 0},
    {199, 200, 'e', 0},
    {197, 195, 'e', 0},
    {195, 196, 't', 17},
    {196, 198, 'r', 15},
    {198, 201, 'e', 0},
    {201, 199, 'e', 0},
    {200, 21, 'e', 0},
    // fieldInitializerList
    {22, 202, 'e', 0},
    {202, 203, 'r', 12},
    {203, 204, 't', 21},
    {204, 212, 'r', 1},
    {212, 210, 'e', 0},
    {212, 213, 'e', 0},
    {210, 205, 'e', 0},
    {205, 206, 't', 17},
    {206, 207, 'r', 12},
    {207, 208, 't', 21},
    {208, 209, 'r', 1},
    {209, 211, 'e', 0},
    {211, 214, 'e', 0},
    {214, 212, 'e', 0},
    {213, 23, 'e', 0},
    // optField
    {24, 216, 'e', 0},
    {216, 215, 'e', 0},
    {216, 217, 'e', 0},
    {215, 217, 't', 20},
    {217, 218, 'e', 0},
    {218, 219, 'r', 14},
    {219, 25, 'e', 0},
    // mapInitializerList
    {26, 220, 'e', 0},
    {220, 221, 'r', 15},
    {221, 222, 't', 21},
    {222, 230, 'r', 1},
    {230, 228, 'e', 0},
    {230, 231, 'e', 0},
    {228, 223, 'e', 0},
    {223, 224, 't', 17},
    {224, 225, 'r', 15},
    {225, 226, 't', 21},
    {226, 227, 'r', 1},
    {227, 229, 'e', 0},
    {229, 232, 'e', 0},
    {232, 230, 'e', 0},
    {231, 27, 'e', 0},
    // escapeIdent
    {28, 235, 'e', 0},
    {235, 233, 'e', 0},
    {235, 234, 'e', 0},
    {233, 236, 't', 36},
    {234, 236, 't', 37},
    {236, 29, 'e', 0},
    // optExpr
    {30, 238, 'e', 0},
    {238, 237, 'e', 0},
    {238, 239, 'e', 0},
    {237, 239, 't', 20},
    {239, 240, 'e', 0},
    {240, 241, 'r', 1},
    {241, 31, 'e', 0},
    // literal
    {32, 256, 'e', 0},
    {256, 243, 'e', 0},
    {256, 246, 'e', 0},
    {256, 248, 'e', 0},
    {256, 251, 'e', 0},
    {256, 252, 'e', 0},
    {256, 253, 'e', 0},
    {256, 254, 'e', 0},
    {256, 255, 'e', 0},
    {243, 242, 'e', 0},
    {243, 244, 'e', 0},
    {242, 244, 't', 18},
    {244, 245, 'e', 0},
    {245, 257, 't', 32},
    {246, 257, 't', 33},
    {248, 247, 'e', 0},
    {248, 249, 'e', 0},
    {247, 249, 't', 18},
    {249, 250, 'e', 0},
    {250, 257, 't', 31},
    {251, 257, 't', 34},
    {252, 257, 't', 35},
    {253, 257, 't', 26},
    {254, 257, 't', 27},
    {255, 257, 't', 28},
    {257, 33, 'e', 0},
};

// A rule starts in the state twice its number and ends in the one behind.
constexpr bool IsRuleEnd(int state) {
  return state < 2 * static_cast<int>(kRuleCount) && state % 2 == 1;
}

}  // namespace

const GrammarStates& GrammarStates::Get() {
  static const GrammarStates states;
  return states;
}

GrammarStates::GrammarStates() {
  for (const Step& step : kSteps) {
    Edge edge;
    edge.target = step.to;
    if (step.what == 't') {
      edge.tokens = step.argument == kTokenEnd ? kEndOfInput : Bit(step.argument);
    } else if (step.what == 's') {
      edge.tokens = kSets[step.argument];
    } else if (step.what == 'r') {
      edge.rule = step.argument;
    }
    edges_[static_cast<std::size_t>(step.from)].push_back(edge);
  }
  Compute();
}

// The least fixed point: a few rounds over some 250 states.
void GrammarStates::Compute() {
  for (std::size_t state = 0; state < kStates; ++state) {
    next_[state] = IsRuleEnd(static_cast<int>(state)) ? kRuleEnd : 0;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t state = 0; state < kStates; ++state) {
      TokenSet set = next_[state];
      for (const Edge& edge : edges_[state]) {
        const TokenSet behind = next_[static_cast<std::size_t>(edge.target)];
        if (edge.tokens != 0) {
          set |= edge.tokens;
        } else if (edge.rule < 0) {
          set |= behind;
        } else {
          const TokenSet first = next_[static_cast<std::size_t>(2 * edge.rule)];
          set |= first & ~kRuleEnd;
          set |= (first & kRuleEnd) != 0 ? behind : 0;
        }
      }
      changed = changed || set != next_[state];
      next_[state] = set;
    }
  }
}

TokenSet GrammarStates::NextIn(int state, const RuleContext* context) const {
  TokenSet set = Next(state);
  while ((set & kRuleEnd) != 0 && context != nullptr && context->invoking_state >= 0) {
    set = (set & ~kRuleEnd) | Next(Follow(context->invoking_state));
    context = context->parent;
  }
  if ((set & kRuleEnd) != 0) {
    set = (set & ~kRuleEnd) | kEndOfInput;
  }
  return set;
}

}  // namespace allot::cel
