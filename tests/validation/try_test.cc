// Runs the `try` steps of recorded scenarios against the strategies alone: the same objects in, and
// the answers of a real Kubernetes 1.37.2 out, word for word. No server is involved.
#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <zlib.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/disabled_fields.h"
#include "api/gates.h"
#include "api/registry.h"
#include "api/strategy.h"
#include "base/arena.h"
#include "schema/codec.h"
#include "text/json.h"
#include "text/yaml.h"

namespace allot {
namespace {

using text::Value;

constexpr std::string_view kNamespace = "s-test";

std::string ReadFile(const std::string& name) {
  std::ifstream in(fmt::format("{}/{}", ALLOT_VALIDATION_DATA, name));
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> ReadGzipLines(const std::string& name) {
  const std::string path = fmt::format("{}/{}", ALLOT_VALIDATION_DATA, name);
  std::vector<std::string> lines;
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    return lines;
  }
  std::string text;
  std::array<char, 65536> buffer{};
  for (int n = gzread(file, buffer.data(), buffer.size()); n > 0;
       n = gzread(file, buffer.data(), buffer.size())) {
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  gzclose(file);
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// The steps of a path such as `spec.devices[0].attributes['9x']`.
std::vector<std::string> Steps(std::string_view path) {
  std::vector<std::string> steps;
  while (!path.empty()) {
    if (path[0] == '.') {
      path.remove_prefix(1);
    }
    if (path.starts_with("['")) {
      const auto end = path.find("']");
      steps.emplace_back(path.substr(2, end - 2));
      path.remove_prefix(end + 2);
    } else if (path.starts_with('[')) {
      const auto end = path.find(']');
      steps.emplace_back(path.substr(0, end + 1));
      path.remove_prefix(end + 1);
    } else {
      const auto end = std::min(path.find_first_of(".["), path.size());
      steps.emplace_back(path.substr(0, end));
      path.remove_prefix(end);
    }
  }
  return steps;
}

/// The place a path names, made on the way.
Value& Place(Value& root, std::string_view path) {
  Value* at = &root;
  for (const std::string& step : Steps(path)) {
    if (step.starts_with('[')) {
      const auto index = static_cast<std::size_t>(std::stoul(step.substr(1)));
      auto& items = at->MutableItems();
      if (items.size() <= index) {
        items.resize(index + 1);
      }
      at = &items[index];
    } else {
      at = &(*at)[step];
    }
  }
  return *at;
}

void Unset(Value& root, std::string_view path) {
  std::vector<std::string> steps = Steps(path);
  const std::string last = steps.back();
  Value* at = &root;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    at = steps[i].starts_with('[') ? &at->MutableItems()[std::stoul(steps[i].substr(1))]
                                   : &(*at)[steps[i]];
  }
  at->Erase(last);
}

Value Variant(const Value& base, const Value& change) {
  const Value* const object = change.Find("object");
  Value variant = object != nullptr ? *object : base;
  if (const Value* const unset = change.Find("unset"); unset != nullptr) {
    for (const Value& path : unset->items()) {
      Unset(variant, path.AsString());
    }
  }
  if (const Value* const set = change.Find("set"); set != nullptr) {
    for (const text::Member& member : set->members()) {
      Place(variant, member.key) = member.value;
    }
  }
  return variant;
}

/// One object as the server would hold it, with what it answered.
struct Outcome {
  std::unique_ptr<base::Arena> arena = std::make_unique<base::Arena>();
  std::string body;
  const api::Strategy* strategy = nullptr;
  const api::KindInfo* kind = nullptr;
  void* root = nullptr;
  std::optional<base::Status> status;
};

class Server {
 public:
  explicit Server(std::string_view gates = {}) {
    if (!gates.empty()) {
      EXPECT_TRUE(gates_.Parse(gates));
      disabled_ = api::DisabledFields(gates_);
    }
  }

  Outcome Create(const Value& object) {
    Outcome outcome = Decode(object);
    if (outcome.status) {
      return outcome;
    }
    api::FieldErrors errors;
    const api::StrategyContext context = Context();
    if (outcome.strategy->prepare_for_create != nullptr) {
      outcome.strategy->prepare_for_create(context, outcome.root, *outcome.arena);
    }
    outcome.strategy->validate_create(context, outcome.root, errors);
    Answer(outcome, errors);
    return outcome;
  }

  Outcome Update(const Value& object, const Outcome& stored, std::string_view subresource = {}) {
    Outcome outcome = Decode(object);
    if (outcome.status) {
      return outcome;
    }
    api::FieldErrors errors;
    const api::StrategyContext context = Context();
    const api::UpdateRules& rules = *outcome.strategy->Update(subresource);
    outcome.strategy->Metadata(outcome.root).generation =
        stored.strategy->Metadata(stored.root).generation;
    rules.prepare(context, outcome.root, stored.root, *outcome.arena);
    rules.validate(context, outcome.root, stored.root, errors);
    Answer(outcome, errors);
    return outcome;
  }

  /// The object as it is in the store.
  Outcome Stored(const Value& object) { return Decode(object); }

 private:
  [[nodiscard]] api::StrategyContext Context() const {
    return {
        .gates = gates_, .now = {.seconds = 1'800'000'000, .set = true}, .disabled = &disabled_};
  }

  Outcome Decode(const Value& object) {
    Outcome outcome;
    text::WriteJson(object, outcome.body);
    const std::string_view api_version = object.Find("apiVersion")->AsString();
    const auto slash = api_version.find('/');
    const std::string_view group =
        slash == std::string_view::npos ? "" : api_version.substr(0, slash);
    const std::string_view version =
        api_version.substr(slash == std::string_view::npos ? 0 : slash + 1);
    outcome.kind = api::FindKind(group, version, object.Find("kind")->AsString());
    outcome.strategy = api::FindStrategy(*outcome.kind->type);
    const schema::TypeDesc& type = *outcome.kind->type;
    outcome.root = outcome.arena->Allocate(type.size, type.alignment);
    std::fill_n(static_cast<char*>(outcome.root), type.size, '\0');
    if (auto decoded = schema::DecodeJson(type, outcome.body, *outcome.arena, outcome.root);
        !decoded) {
      outcome.status = std::move(decoded).error().Prepend(fmt::format(
          "{0} in version \"{1}\" cannot be handled as a {0}: ", outcome.kind->kind, version));
      return outcome;
    }
    if (outcome.kind->namespaced && object.Find("metadata")->Find("namespace") == nullptr) {
      outcome.strategy->Metadata(outcome.root).namespace_ = kNamespace;
    }
    if (outcome.strategy->apply_defaults != nullptr) {
      outcome.strategy->apply_defaults(Context(), outcome.root, *outcome.arena);
    }
    return outcome;
  }

  static void Answer(Outcome& outcome, const api::FieldErrors& errors) {
    if (!errors.empty()) {
      outcome.status = api::ToStatus(outcome.kind->group,
                                     outcome.kind->kind,
                                     outcome.strategy->Metadata(outcome.root).name,
                                     errors);
    }
  }

  api::GateSet gates_;
  api::DisabledFields disabled_{gates_};
};

/// What an answer says: "" when the object is taken, else its message and causes.
std::string Describe(const Outcome& outcome) {
  if (!outcome.status) {
    return "";
  }
  std::string out = outcome.status->message();
  if (outcome.status->details() != nullptr) {
    for (const base::StatusCause& cause : outcome.status->details()->causes) {
      out += fmt::format("\n  {} {}", cause.reason, cause.field);
    }
  }
  return out;
}

std::string DescribeExpected(const Value& expected) {
  if (expected.Find("code")->AsInt() < 300) {
    return "";
  }
  std::string out(expected.Find("message")->AsString());
  if (const Value* const causes = expected.Find("causes"); causes != nullptr) {
    for (const Value& cause : causes->items()) {
      out += fmt::format("\n  {}", cause.AsString());
    }
  }
  return out;
}

class TryTest : public testing::TestWithParam<const char*> {};

TEST_P(TryTest, AnswersAsRecorded) {
  const auto scenario = text::ParseYaml(ReadFile(fmt::format("{}.yaml", GetParam())));
  ASSERT_TRUE(scenario) << scenario.error().message();
  const auto expected = text::ParseJson(ReadFile(fmt::format("{}.expected.json", GetParam())));
  ASSERT_TRUE(expected) << expected.error().message();
  Server server;
  std::vector<Outcome> stored;
  int cases = 0;
  for (const Value& step : scenario->Find("steps")->items()) {
    if (const Value* const apply = step.Find("apply"); apply != nullptr) {
      for (const Value& object : apply->items()) {
        stored.push_back(server.Create(object));
        ASSERT_FALSE(stored.back().status) << stored.back().status->message();
      }
    }
    const Value* const trial = step.Find("try");
    if (trial == nullptr) {
      continue;
    }
    const std::string record(trial->Find("record")->AsString());
    const Value& facts = *expected->Find("facts")->Find(record);
    for (const text::Member& trial_case : trial->Find("cases")->members()) {
      SCOPED_TRACE(fmt::format("{}: {}", record, trial_case.key));
      ++cases;
      Outcome outcome;
      if (trial->Find("update") != nullptr) {
        // The stored object as JSON, changed and sent back.
        const std::string_view kind = trial->Find("update")->Find("kind")->AsString();
        const auto base =
            std::ranges::find_if(stored, [&](const Outcome& o) { return o.kind->kind == kind; });
        ASSERT_NE(base, stored.end());
        std::string json;
        schema::EncodeJson(*base->kind->type, base->root, json);
        outcome = server.Update(Variant(*text::ParseJson(json), trial_case.value), *base);
      } else {
        outcome = server.Create(Variant(*trial->Find("base"), trial_case.value));
      }
      EXPECT_EQ(Describe(outcome), DescribeExpected(*facts.Find(trial_case.key)));
    }
  }
  EXPECT_GT(cases, 5);
}

INSTANTIATE_TEST_SUITE_P(Scenarios,
                         TryTest,
                         testing::Values("validation-claims",
                                         "validation-slices",
                                         "validation-classes-rules-templates-pods",
                                         "defaults"));

/// Puts what a recorded answer leaves out of `value` aside: times, and what only the server fills.
void Forget(Value& value) {
  if (value.is_object()) {
    value.Erase("namespace");
    value.SortKeys();
    if (value.Find("timeAdded") != nullptr) {
      value.Set("timeAdded", Value("<time>"));
    }
    for (text::Member& member : value.MutableMembers()) {
      Forget(member.value);
    }
  } else if (value.is_array()) {
    for (Value& item : value.MutableItems()) {
      Forget(item);
    }
  }
}

TEST(DefaultsTest, FillsWhatTheRealServerFills) {
  const auto scenario = text::ParseYaml(ReadFile("defaults.yaml"));
  const auto expected = text::ParseJson(ReadFile("defaults.expected.json"));
  ASSERT_TRUE(scenario && expected);
  Server server;
  const Value& trial = *scenario->Find("steps")->items()[0].Find("try");
  for (const text::Member& trial_case : trial.Find("cases")->members()) {
    SCOPED_TRACE(trial_case.key);
    const Outcome outcome = server.Create(Variant(*trial.Find("base"), trial_case.value));
    ASSERT_FALSE(outcome.status);
    std::string json;
    schema::EncodeJson(*outcome.kind->type, outcome.root, json);
    Value got = *text::ParseJson(json);
    Value want = *expected->Find("facts")->Find("objects")->Find(trial_case.key)->Find("body");
    Forget(got);
    Forget(want);
    std::string got_text;
    std::string want_text;
    text::WriteJson(got, got_text);
    text::WriteJson(want, want_text);
    EXPECT_EQ(got_text, want_text);
  }
}

// What a real server, with the gates of `--profile gates`, said to thousands of small changes of
// objects of every kind, most of them made by walking the schema.
constexpr std::string_view kGates =
    "DRAFractionalCapacityRange=true,GenericWorkload=true,DRAWorkloadResourceClaims=true,"
    "DRAListTypeAttributes=true,DRAPartitionableDevicesType=true,"
    "DRADeviceCompatibilityGroups=true,DRAOptionalNodeOperations=true,"
    "DRANodeAllocatableResources=true,DRADerivedAttributes=true,DRAResourcePoolStatus=true";

/// Runs `answer` on each record of a file and compares its message with the recorded one.
void Compare(const std::string& file, int least, auto answer) {
  int cases = 0;
  int wrong = 0;
  constexpr int kShown = 20;
  for (const std::string& line : ReadGzipLines(file)) {
    const auto record = text::ParseJson(line);
    ASSERT_TRUE(record) << line;
    const Outcome outcome = answer(*record);
    const std::string got(outcome.status ? outcome.status->message() : std::string_view());
    ++cases;
    if (got != record->StringAt({"message"}) && ++wrong <= kShown) {
      ADD_FAILURE() << line << "\n  got " << got;
    }
  }
  EXPECT_EQ(wrong, 0) << "of " << cases;
  EXPECT_GT(cases, least);
}

TEST(AnswersTest, CreatesAgreeWithTheRealServer) {
  Server server(kGates);
  Compare("answers.jsonl.gz", 3000, [&](const Value& record) {
    Value object = *record.Find("object");
    if (object.StringAt({"kind"}) == "Pod" &&
        object.FindPath({"spec", "serviceAccountName"}) == nullptr) {
      object["spec"].Set("serviceAccountName", Value("default"));  // as admission does
    }
    return server.Create(object);
  });
}

TEST(AnswersTest, UpdatesAgreeWithTheRealServer) {
  Server server(kGates);
  Compare("update-answers.jsonl.gz", 1500, [&](const Value& record) {
    const Outcome stored = server.Stored(*record.Find("old"));
    return server.Update(*record.Find("new"), stored, record.StringAt({"subresource"}));
  });
}

}  // namespace
}  // namespace allot
