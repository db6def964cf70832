// Messages of google.protobuf: answers of cel-go v0.29.2 in the environment of Kubernetes 1.37.2.
#include "cel/answer_table.h"

namespace allot::cel {
namespace {

constexpr AnswerRow kBuilding[] = {
    {"google.protobuf.Int32Value{value: 1}", R"({"t":"int","v":"1"})", 40, 40},
    {"google.protobuf.Int32Value{value: 2147483648}",
     "? field type conversion error for google.protobuf.Int32Value.value value type: integer "
     "overflow",
     40,
     40},
    {"google.protobuf.Int32Value{}", R"({"t":"int","v":"0"})", 40, 40},
    {"google.protobuf.Int32Value{?value: optional.none()}", R"({"t":"int","v":"0"})", 41, 41},
    {R"(google.protobuf.Int32Value{value: dyn("x")})",
     "? field type conversion error for google.protobuf.Int32Value.value value type: unsupported "
     "native conversion from string to 'int32'",
     41,
     40},
    {"google.protobuf.UInt32Value{value: 4294967296u}",
     "? field type conversion error for google.protobuf.UInt32Value.value value type: unsigned "
     "integer overflow",
     40,
     40},
    {"google.protobuf.FloatValue{value: 0.1}",
     R"({"bits":"3fb99999a0000000","t":"double","v":"0.10000000149011612"})",
     40,
     40},
    {"google.protobuf.FloatValue{value: 1e300}",
     R"({"bits":"7ff0000000000000","t":"double","v":"+Inf"})",
     40,
     40},
    {R"(google.protobuf.StringValue{value: "a"})", R"({"t":"string","v":"a"})", 40, 40},
    {"google.protobuf.BytesValue{value: dyn([1u])}", R"({"t":"bytes","v":"01"})", 51, 40},
    {"google.protobuf.BytesValue{value: dyn([1])}",
     "? field type conversion error for google.protobuf.BytesValue.value value type: unsupported "
     "type conversion from 'int' to uint8",
     51,
     40},
    {"google.protobuf.BoolValue{value: true} == true", R"({"t":"bool","v":true})", 41, 41},
    {"google.protobuf.Duration{seconds: 1, nanos: 5}",
     R"({"t":"duration","v":{"n":5,"s":1}})",
     40,
     40},
    {"google.protobuf.Duration{seconds: 99999999999999}",
     R"({"t":"duration","v":{"n":854775807,"s":9223372036}})",
     40,
     40},
    {"google.protobuf.Timestamp{seconds: 1, nanos: -5}",
     R"({"t":"timestamp","v":{"n":999999995,"s":0}})",
     40,
     40},
    {R"(google.protobuf.Struct{fields: {"a": dyn(1), "b": dyn([b"abc", duration("1s")])}})",
     "! 1:72: expected type 'bytes' but found 'duration'"},
    {R"(google.protobuf.Struct{fields: {"a": dyn(9007199254740993)}})",
     R"({"t":"map","v":[[{"t":"string","v":"a"},{"t":"string","v":"9007199254740993"}]]})",
     71,
     40},
    {R"(google.protobuf.Struct{fields: {"a": quantity("1")}})",
     "? field type conversion error for google.protobuf.Struct.fields value type: type conversion "
     "error from 'Quantity' to '*structpb.Value'",
     71,
     71},
    {"google.protobuf.Struct{fields: dyn([])}",
     "? unsupported field type for google.protobuf.Struct.fields: list(dyn)",
     51,
     40},
    {"google.protobuf.ListValue{values: [1]}[0]",
     R"({"bits":"3ff0000000000000","t":"double","v":"1"})",
     51,
     42},
    {"google.protobuf.Value{}", R"({"t":"null"})", 40, 40},
    {"google.protobuf.Value{number_value: 1.0}",
     R"({"bits":"3ff0000000000000","t":"double","v":"1"})",
     40,
     40},
    {"google.protobuf.Value{null_value: 0}", R"({"t":"null"})", 40, 40},
    {R"(google.protobuf.Value{struct_value: dyn("a")})",
     "? field type conversion error for google.protobuf.Value.struct_value value type: unsupported "
     "native conversion from string to '*structpb.Struct'",
     41,
     40},
    {"google.protobuf.Empty{} == google.protobuf.Empty{}",
     R"({"t":"bool","v":true})",
     1844674407370955344,
     81},
    {"dyn(google.protobuf.Empty{}).x", "? no such field 'x'", 41, 43},
    {"dyn(google.protobuf.Empty{})[1]", "? no such overload", 42, 43},
    {"google.protobuf.Any{}", "? unsupported conversion to ref.Val: (*dynamicpb.Message)", 40, 40},
};

constexpr AnswerRow kNoMessages[] = {
    {"int{}", "! 1:4: 'int' is not a message type"},
    {"int{value: 1}", "! 1:4: 'int' is not a message type\n1:10: undefined field 'value'"},
    {"bytes{a: 1, b: 2}",
     "! 1:6: 'bytes' is not a message type\n1:8: undefined field 'a'\n1:14: undefined field 'b'"},
    {"map{a: 1}", "! 1:4: 'map' is not a message type"},
    {"type{a: 1}",
     "! 1:5: 'type' is not a message type\n1:7: unexpected failed resolution of 'type'"},
};

TEST(CelMessagesTest, NamesOfOtherTypesAreNoMessages) {
  ExpectAnswers(kNoMessages);
}

TEST(CelMessagesTest, Building) {
  ExpectAnswers(kBuilding);
}

}  // namespace
}  // namespace allot::cel
