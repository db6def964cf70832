#include "inventory/node_selector.h"

#include <string>

#include <gtest/gtest.h>

#include "inventory/objects_test.h"

namespace allot::inventory {
namespace {

struct Case {
  const char* name;
  const char* terms;
  const char* answer;  // "yes", "no", or the error
};

class NodeSelectorTest : public ::testing::TestWithParam<Case> {};

TEST_P(NodeSelectorTest, MatchesAsUpstreamDoes) {
  base::Arena arena;
  const auto* const node = FromText<api::core::Node>(
      "{'metadata':{'name':'n1','labels':{'zone':'a','size':'12','empty':''}}}", arena);
  const auto* const selector = FromText<api::core::NodeSelector>(
      std::string("{'nodeSelectorTerms':[") + GetParam().terms + "]}", arena);
  const auto match = MatchNodeSelector(*selector, MakeNodeRef(*node));
  EXPECT_EQ(match ? (*match ? "yes" : "no") : match.error().message(), GetParam().answer);
}

INSTANTIATE_TEST_SUITE_P(
    Terms,
    NodeSelectorTest,
    ::testing::Values(
        Case{"None", "", "no"},
        Case{"EmptyTerm", "{}", "no"},
        Case{"In",
             "{'matchExpressions':[{'key':'zone','operator':'In','values':['b','a']}]}",
             "yes"},
        Case{"NotIn",
             "{'matchExpressions':[{'key':'zone','operator':'NotIn','values':['a']}]}",
             "no"},
        Case{"NotInWithoutLabel",
             "{'matchExpressions':[{'key':'rack','operator':'NotIn','values':['a']}]}",
             "yes"},
        Case{"Exists", "{'matchExpressions':[{'key':'empty','operator':'Exists'}]}", "yes"},
        Case{"DoesNotExist",
             "{'matchExpressions':[{'key':'zone','operator':'DoesNotExist'}]}",
             "no"},
        Case{"Gt", "{'matchExpressions':[{'key':'size','operator':'Gt','values':['11']}]}", "yes"},
        Case{"GtEqual",
             "{'matchExpressions':[{'key':'size','operator':'Gt','values':['12']}]}",
             "no"},
        Case{"Lt", "{'matchExpressions':[{'key':'size','operator':'Lt','values':['13']}]}", "yes"},
        Case{"LtOfNoNumber",
             "{'matchExpressions':[{'key':'zone','operator':'Lt','values':['13']}]}",
             "no"},
        Case{"AllRequirementsOfATerm",
             "{'matchExpressions':[{'key':'zone','operator':'Exists'},{'key':'rack','operator':"
             "'Exists'}]}",
             "no"},
        Case{"AnyTerm",
             "{'matchExpressions':[{'key':'rack','operator':'Exists'}]},{'matchFields':[{'key':"
             "'metadata.name','operator':'In','values':['n1']}]}",
             "yes"},
        Case{"FieldNotIn",
             "{'matchFields':[{'key':'metadata.name','operator':'NotIn','values':['n1']}]}",
             "no"},
        Case{"InWithoutValues",
             "{'matchExpressions':[{'key':'zone','operator':'In'}]}",
             "nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: null: for 'in', "
             "'notin' operators, values set can't be empty"},
        Case{"ExistsWithValues",
             "{'matchExpressions':[{'key':'zone','operator':'Exists','values':['a']}]}",
             "nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: [\"a\"]: values set "
             "must be empty for exists and does not exist"},
        Case{"GtOfText",
             "{'matchExpressions':[{'key':'size','operator':'Gt','values':['x']}]}",
             "nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: \"x\": for 'Gt', "
             "'Lt' operators, the value must be an integer"},
        Case{
            "KeyIsNoLabel",
            "{'matchExpressions':[{'key':'zone','operator':'Exists'}]},{'matchExpressions':[{'key':"
            "'/x','operator':'Exists'}]}",
            "nodeSelectorTerms[1].matchExpressions[0].key: Invalid value: \"/x\": prefix part must "
            "be non-empty"},
        Case{"ValueIsNoLabel",
             "{'matchExpressions':[{'key':'size','operator':'Gt','values':['-5']}]}",
             "nodeSelectorTerms[0].matchExpressions[0].values[0][size]: Invalid value: \"-5\": a "
             "valid label must be an empty string or consist of alphanumeric characters, '-', '_' "
             "or "
             "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
             "'my_value',  or '12345', regex used for validation is "
             "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
        Case{"UnknownOperator",
             "{'matchExpressions':[{'key':'size','operator':'Is','values':['x']}]}",
             "nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: \"Is\": "
             "supported values: \"In\", \"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\""}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace allot::inventory
