#include "allocator/constraint.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace allot::allocator {
namespace {

using api::resource::DeviceAttribute;

// True when both have a scalar of one type and it is equal; `known` tells whether `a` has a scalar.
bool SameScalar(const DeviceAttribute& a, const DeviceAttribute& b, bool& known) {
  known = true;
  if (a.string != nullptr) {
    return b.string != nullptr && *a.string == *b.string;
  }
  if (a.int_ != nullptr) {
    return b.int_ != nullptr && *a.int_ == *b.int_;
  }
  if (a.bool_ != nullptr) {
    return b.bool_ != nullptr && *a.bool_ == *b.bool_;
  }
  if (a.version != nullptr) {
    return b.version != nullptr && *a.version == *b.version;
  }
  known = false;
  return false;
}

class ScalarMatch final : public Constraint {
 public:
  ScalarMatch() : Constraint(ConstraintKind::kMatch) {}
  bool Add(const DeviceAttribute* attribute) override {
    if (attribute == nullptr) {
      return false;
    }
    if (count_ == 0) {
      first_ = attribute;  // whatever it holds: upstream takes the first device unseen
    } else if (bool known = false; !SameScalar(*attribute, *first_, known)) {
      return false;
    }
    ++count_;
    return true;
  }
  void Undo() override { --count_; }
  void Reset() override { count_ = 0; }

 private:
  const DeviceAttribute* first_ = nullptr;
  std::size_t count_ = 0;
};

class ScalarDistinct final : public Constraint {
 public:
  ScalarDistinct() : Constraint(ConstraintKind::kDistinct) {}
  bool Add(const DeviceAttribute* attribute) override {
    if (attribute == nullptr) {
      return false;
    }
    for (const DeviceAttribute* const other : taken_) {
      bool known = false;
      if (SameScalar(*attribute, *other, known) || !known) {
        return false;
      }
    }
    taken_.push_back(attribute);
    return true;
  }
  void Undo() override { taken_.pop_back(); }
  void Reset() override { taken_.clear(); }

 private:
  std::vector<const DeviceAttribute*> taken_;
};

using Values = std::vector<std::string>;  // sorted, unique

Values SetOf(const DeviceAttribute& attribute) {
  Values values;
  AttributeValues(attribute, AttributeSemantics::kSet, values);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

class SetMatch final : public Constraint {
 public:
  SetMatch() : Constraint(ConstraintKind::kMatch) {}
  bool Add(const DeviceAttribute* attribute) override {
    if (attribute == nullptr) {
      return false;
    }
    Values values = SetOf(*attribute);
    if (!common_.empty()) {
      Values narrowed;
      std::set_intersection(values.begin(),
                            values.end(),
                            common_.back().begin(),
                            common_.back().end(),
                            std::back_inserter(narrowed));
      values = std::move(narrowed);
    }
    if (values.empty()) {
      return false;
    }
    common_.push_back(std::move(values));
    return true;
  }
  void Undo() override { common_.pop_back(); }
  void Reset() override { common_.clear(); }

 private:
  std::vector<Values> common_;  // the running intersection after each device
};

class SetDistinct final : public Constraint {
 public:
  SetDistinct() : Constraint(ConstraintKind::kDistinct) {}
  bool Add(const DeviceAttribute* attribute) override {
    if (attribute == nullptr) {
      return false;
    }
    Values values = SetOf(*attribute);
    if (values.empty()) {
      return false;
    }
    for (const Values& other : taken_) {
      Values common;
      std::set_intersection(
          values.begin(), values.end(), other.begin(), other.end(), std::back_inserter(common));
      if (!common.empty()) {
        return false;
      }
    }
    taken_.push_back(std::move(values));
    return true;
  }
  void Undo() override { taken_.pop_back(); }
  void Reset() override { taken_.clear(); }

 private:
  std::vector<Values> taken_;
};

void PushTexts(char type, const schema::List<schema::Str>& texts, std::vector<std::string>& out) {
  for (const schema::Str text : texts) {
    out.push_back(fmt::format("{}{}", type, text));
  }
}

}  // namespace

std::unique_ptr<Constraint> Constraint::Make(ConstraintKind kind, AttributeSemantics semantics) {
  if (semantics == AttributeSemantics::kSet) {
    if (kind == ConstraintKind::kMatch) {
      return std::make_unique<SetMatch>();
    }
    return std::make_unique<SetDistinct>();
  }
  if (kind == ConstraintKind::kMatch) {
    return std::make_unique<ScalarMatch>();
  }
  return std::make_unique<ScalarDistinct>();
}

const DeviceAttribute* PublishedAttribute(const inventory::Device& device,
                                          const PreparedConstraint& constraint) {
  const auto& attributes = device.spec->attributes;
  if (const DeviceAttribute* const full = attributes.Find(constraint.attribute)) {
    return full;
  }
  if (constraint.id.data() == nullptr || constraint.domain != device.slice->spec->driver) {
    return nullptr;
  }
  return attributes.Find(constraint.id);
}

void AttributeValues(const DeviceAttribute& attribute,
                     AttributeSemantics semantics,
                     std::vector<std::string>& out) {
  if (semantics == AttributeSemantics::kSet) {
    if (!attribute.ints.empty()) {
      for (const std::int64_t value : attribute.ints) {
        out.push_back(fmt::format("i{}", value));
      }
      return;
    }
    if (!attribute.bools.empty()) {
      for (const bool value : attribute.bools) {
        out.push_back(value ? "btrue" : "bfalse");
      }
      return;
    }
    if (!attribute.strings.empty()) {
      return PushTexts('s', attribute.strings, out);
    }
    if (!attribute.versions.empty()) {
      return PushTexts('v', attribute.versions, out);
    }
    if (attribute.int_ != nullptr) {
      out.push_back(fmt::format("i{}", *attribute.int_));
      return;
    }
    if (attribute.bool_ != nullptr) {
      out.push_back(*attribute.bool_ ? "btrue" : "bfalse");
      return;
    }
  }
  if (attribute.string != nullptr) {
    out.push_back(fmt::format("s{}", *attribute.string));
  } else if (attribute.int_ != nullptr) {
    out.push_back(fmt::format("i{}", *attribute.int_));
  } else if (attribute.bool_ != nullptr) {
    out.push_back(*attribute.bool_ ? "btrue" : "bfalse");
  } else if (attribute.version != nullptr) {
    out.push_back(fmt::format("v{}", *attribute.version));
  }
}

}  // namespace allot::allocator
