#include "inventory/selector_cache.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace allot::inventory {
namespace {

constexpr std::size_t kMaxSets = 4096;

template <typename T>
std::span<const T> SpanOf(const schema::List<T>& list) {
  return {list.items, list.count};
}

cel::AttributeValue ValueOf(const api::resource::DeviceAttribute& from) {
  cel::AttributeValue value;
  using cel::AttributeKind;
  if (from.int_ != nullptr) {
    value.kind = AttributeKind::kInt;
    value.integer = *from.int_;
  } else if (from.bool_ != nullptr) {
    value.kind = AttributeKind::kBool;
    value.boolean = *from.bool_;
  } else if (from.string != nullptr) {
    value.kind = AttributeKind::kString;
    value.text = *from.string;
  } else if (from.version != nullptr) {
    value.kind = AttributeKind::kVersion;
    value.text = *from.version;
  } else if (from.ints.items != nullptr) {
    value.kind = AttributeKind::kInts;
    value.integers = SpanOf(from.ints);
  } else if (from.bools.items != nullptr) {
    value.kind = AttributeKind::kBools;
    value.booleans = SpanOf(from.bools);
  } else if (from.strings.items != nullptr) {
    value.kind = AttributeKind::kStrings;
    value.texts = SpanOf(from.strings);
  } else if (from.versions.items != nullptr) {
    value.kind = AttributeKind::kVersions;
    value.texts = SpanOf(from.versions);
  }
  return value;
}

template <typename T>
schema::List<T> ListOf(base::Arena& arena, const std::vector<T>& from) {
  T* const items = arena.NewArray<T>(from.size());
  std::copy(from.begin(), from.end(), items);
  return {items, static_cast<std::uint32_t>(from.size())};
}

schema::List<schema::Str> TextsOf(base::Arena& arena, const std::vector<std::string>& from) {
  auto* const items = arena.NewArray<schema::Str>(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    items[i] = arena.Copy(from[i]);
  }
  return {items, static_cast<std::uint32_t>(from.size())};
}

// A derived value in the form of a published one, so that constraints know one type only.
void SetAttribute(const cel::DerivedValue& from, DerivedExpression::Value& to) {
  using cel::AttributeKind;
  switch (from.kind) {
    case AttributeKind::kMissing: break;
    case AttributeKind::kInt: to.attribute.int_ = to.arena.New<std::int64_t>(from.integer); break;
    case AttributeKind::kBool: to.attribute.bool_ = to.arena.New<bool>(from.boolean); break;
    case AttributeKind::kString:
      to.attribute.string = to.arena.New<schema::Str>(to.arena.Copy(from.text));
      break;
    case AttributeKind::kVersion:
      to.attribute.version = to.arena.New<schema::Str>(to.arena.Copy(from.text));
      break;
    case AttributeKind::kInts: to.attribute.ints = ListOf(to.arena, from.integers); break;
    case AttributeKind::kBools: to.attribute.bools = ListOf(to.arena, from.booleans); break;
    case AttributeKind::kStrings: to.attribute.strings = TextsOf(to.arena, from.texts); break;
    case AttributeKind::kVersions: to.attribute.versions = TextsOf(to.arena, from.texts); break;
  }
}

template <typename Map>
void DropUnused(Map& map) {
  if (map.size() > kMaxSets) {
    std::erase_if(map, [](const auto& entry) { return entry.second.use_count() == 1; });
  }
}

// An expression that does not compile reads nothing.
bool AddNames(const cel::Program* program, std::string& out) {
  if (program == nullptr) {
    return true;
  }
  const auto names = program->NamesRead();
  if (!names) {
    return false;
  }
  for (const std::string_view name : *names) {
    out += '\n';
    out += name;
  }
  return true;
}

}  // namespace

bool SelectorSet::AddNamesRead(std::string& out) const {
  return std::ranges::all_of(expressions_, [&](const Expression& expression) {
    return AddNames(expression.program.get(), out);
  });
}

bool DerivedExpression::AddNamesRead(std::string& out) const {
  return AddNames(program_.get(), out);
}

SelectorSetPtr SelectorCache::Intern(std::span<const std::string_view> expressions) {
  std::string key;
  for (const std::string_view text : expressions) {
    key += text;
    key += '\0';
  }
  if (const auto found = sets_.find(key); found != sets_.end()) {
    return found->second;
  }
  DropUnused(sets_);
  auto set = std::make_shared<SelectorSet>();
  for (const std::string_view text : expressions) {
    SelectorSet::Expression expression;
    expression.text = text;
    cel::CompileOptions options;
    options.estimate_cost = false;
    auto program = cel::Compile(text, options);
    if (program) {
      expression.program = *std::move(program);
    } else {
      expression.error = program.error().message();
    }
    set->expressions_.push_back(std::move(expression));
  }
  set->recycled_seen_ = inventory_.recycled().end();
  sets_.emplace(std::move(key), set);
  return set;
}

void SelectorCache::Sync(SelectorSet& set) {
  const std::size_t words = (inventory_.index_bound() + 63U) / 64U;
  if (set.known_.size() < words) {
    set.known_.resize(words);
    set.yes_.resize(words);
  }
  const auto recycled = inventory_.recycled().Since(set.recycled_seen_);
  if (!recycled) {
    std::ranges::fill(set.known_, 0);
    set.begun_ = SelectorSet::kNone;
    return;
  }
  for (const auto [first, count] : *recycled) {
    if (set.begun_ >= first && set.begun_ - first < count) {
      set.begun_ = SelectorSet::kNone;
    }
    for (std::uint32_t i = first; i < first + count; ++i) {
      set.known_[i >> 6U] &= ~(std::uint64_t{1} << (i & 63U));
    }
  }
}

void SelectorCache::Bind(const Device& device) {
  const api::resource::Device& spec = *device.spec;
  attributes_.clear();
  for (const auto& entry : spec.attributes) {
    attributes_.push_back({entry.key, ValueOf(entry.value)});
  }
  capacities_.clear();
  for (const auto& entry : spec.capacity) {
    capacities_.push_back({entry.key, entry.value.value});
  }
  bound_.driver = device.slice->spec->driver;
  bound_.attributes = attributes_;
  bound_.capacities = capacities_;
  bound_.allow_multiple_allocations =
      device.shareable && inventory_.features().variant() != Variant::kStable;
}

// Asked before every expression. The first of an attempt always may, and its answer is kept, so
// that every attempt learns something.
bool SelectorCache::MayEvaluate() {
  if (stopped()) {
    return false;
  }
  if (evaluator_.spent() - began_ < limits_.cost) {
    return true;
  }
  if (!limits_.more || !limits_.more()) {
    return false;
  }
  began_ = evaluator_.spent();
  return true;
}

SelectorCache::Match SelectorCache::Evaluate(SelectorSet& set,
                                             const Device& device,
                                             SelectorFailure& failure) {
  const std::uint32_t index = Value(device.index);
  const std::uint64_t bit = std::uint64_t{1} << (index & 63U);
  bool yes = true;
  bool bound = false;
  for (std::size_t i = set.begun_ == index ? set.passed_ : 0; yes && i < set.expressions_.size();
       ++i) {
    const SelectorSet::Expression& expression = set.expressions_[i];
    if (expression.program != nullptr && !MayEvaluate()) {
      set.begun_ = index;
      set.passed_ = i;
      return Match::kUsedUp;
    }
    if (expression.program == nullptr) {
      failure = {i, true, expression.error};
      return Match::kError;
    }
    if (!bound) {
      Bind(device);
      bound = true;
    }
    ++evaluations_;
    const std::uint64_t before = evaluator_.spent();
    const cel::Verdict verdict = evaluator_.Test(*expression.program, bound_);
    if (const std::uint64_t cost = evaluator_.spent() - before; cost > costliest_.cost) {
      costliest_ = {&set, i, cost};
    }
    if (verdict == cel::Verdict::kError) {
      // Only the exact interpreter has the text.
      cel::Outcome outcome = evaluator_.Match(*expression.program, bound_);
      outcome.error += cel::RuntimeErrorHint(outcome.error);
      failure = {i, false, std::move(outcome.error)};
      return Match::kError;
    }
    yes = verdict == cel::Verdict::kTrue;
  }
  set.known_[index >> 6U] |= bit;
  if (yes) {
    set.yes_[index >> 6U] |= bit;
    return Match::kYes;
  }
  set.yes_[index >> 6U] &= ~bit;
  return Match::kNo;
}

std::uint32_t SelectorCache::Next(SelectorSet& set,
                                  const Slice& slice,
                                  std::uint32_t from,
                                  Match& match,
                                  SelectorFailure& failure) {
  const std::uint32_t base = Value(slice.first);
  const auto count = static_cast<std::uint32_t>(slice.devices.size());
  while (from < count) {
    const std::uint32_t index = base + from;
    const std::uint32_t word = index >> 6U;
    // A bit of interest: passes, or not known yet.
    const std::uint64_t known = set.known_[word];
    const std::uint64_t bits = ((known & set.yes_[word]) | ~known) >> (index & 63U);
    if (bits == 0) {
      from += 64U - (index & 63U);
      continue;
    }
    from += static_cast<std::uint32_t>(std::countr_zero(bits));
    if (from >= count) {
      break;
    }
    match = Test(set, slice.devices[from], failure);
    if (match != Match::kNo) {
      return from;
    }
    ++from;
  }
  match = Match::kNo;
  return count;
}

DerivedPtr SelectorCache::InternDerived(std::string_view expression) {
  if (const auto found = derived_.find(std::string(expression)); found != derived_.end()) {
    return found->second;
  }
  DropUnused(derived_);
  auto derived = std::make_shared<DerivedExpression>();
  cel::CompileOptions options;
  options.estimate_cost = false;
  options.purpose = cel::Purpose::kDerivedAttribute;
  auto program = cel::Compile(expression, options);
  if (program) {
    derived->program_ = *std::move(program);
  } else {
    derived->error_ = program.error().message();
  }
  derived->recycled_seen_ = inventory_.recycled().end();
  derived_.emplace(std::string(expression), derived);
  return derived;
}

const DerivedExpression::Value* SelectorCache::Derive(DerivedExpression& expression,
                                                      const Device& device) {
  const auto recycled = inventory_.recycled().Since(expression.recycled_seen_);
  if (!recycled) {
    expression.values_.clear();
  }
  for (const auto [first, count] : recycled.value_or(std::span<const IndexRange>())) {
    for (std::uint32_t i = first; i < first + count; ++i) {
      expression.values_.erase(i);
    }
  }
  const auto known = expression.values_.find(Value(device.index));
  if (known != expression.values_.end()) {
    return known->second.get();
  }
  if (!MayEvaluate()) {
    return nullptr;
  }
  Bind(device);
  ++evaluations_;
  const std::uint64_t before = evaluator_.spent();
  const cel::DerivedOutcome outcome = evaluator_.Derive(*expression.program_, bound_);
  if (const std::uint64_t cost = evaluator_.spent() - before; cost > costliest_.cost) {
    costliest_ = {nullptr, 0, cost};
  }
  auto value = std::make_unique<DerivedExpression::Value>();
  value->error = outcome.error;
  SetAttribute(outcome.value, *value);
  return (expression.values_[Value(device.index)] = std::move(value)).get();
}

}  // namespace allot::inventory
