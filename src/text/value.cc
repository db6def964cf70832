#include "text/value.h"

#include <algorithm>
#include <cmath>

namespace allot::text {
namespace {

const std::vector<Value>& NoItems() {
  static const std::vector<Value> kNone;
  return kNone;
}

const std::vector<Member>& NoMembers() {
  static const std::vector<Member> kNone;
  return kNone;
}

bool SameMembers(const std::vector<Member>& a, const std::vector<Member>& b) {
  if (a.size() != b.size()) {
    return false;
  }
  // Most pairs have equal order; only when one has not are both sorted.
  const auto same = [](const Member& x, const Member& y) {
    return x.key == y.key && x.value == y.value;
  };
  if (std::equal(a.begin(), a.end(), b.begin(), [](const Member& x, const Member& y) {
        return x.key == y.key;
      })) {
    return std::equal(a.begin(), a.end(), b.begin(), same);
  }
  const auto sorted = [](const std::vector<Member>& from) {
    std::vector<const Member*> all;
    all.reserve(from.size());
    for (const Member& member : from) {
      all.push_back(&member);
    }
    std::sort(
        all.begin(), all.end(), [](const Member* x, const Member* y) { return x->key < y->key; });
    return all;
  };
  const auto left = sorted(a);
  const auto right = sorted(b);
  return std::equal(
      left.begin(), left.end(), right.begin(), [same](const Member* x, const Member* y) {
        return same(*x, *y);
      });
}

}  // namespace

Value Value::Array(std::vector<Value> items) {
  Value value;
  value.as_.array = new std::vector<Value>(std::move(items));
  value.kind_ = Kind::kArray;
  return value;
}

Value Value::Object() {
  return Object(std::vector<Member>());
}

Value Value::Object(std::vector<Member> members) {
  Value value;
  value.as_.object = new std::vector<Member>(std::move(members));
  value.kind_ = Kind::kObject;
  return value;
}

Value::Value(const Value& other) : kind_(other.kind_), as_(other.as_) {
  switch (kind_) {
    case Kind::kString: as_.string = new std::string(*other.as_.string); break;
    case Kind::kArray: as_.array = new std::vector<Value>(*other.as_.array); break;
    case Kind::kObject: as_.object = new std::vector<Member>(*other.as_.object); break;
    default: break;
  }
}

void Value::Free() {
  switch (kind_) {
    case Kind::kString: delete as_.string; break;
    case Kind::kArray: delete as_.array; break;
    case Kind::kObject: delete as_.object; break;
    default: break;
  }
}

std::int64_t Value::AsInt(std::int64_t otherwise) const {
  if (is_int()) {
    return as_.integer;
  }
  if (kind_ == Kind::kDouble && std::abs(as_.real) < 9.2e18) {
    return static_cast<std::int64_t>(as_.real);
  }
  return otherwise;
}

double Value::AsDouble(double otherwise) const {
  if (is_int()) {
    return static_cast<double>(as_.integer);
  }
  return kind_ == Kind::kDouble ? as_.real : otherwise;
}

const std::vector<Value>& Value::items() const {
  return is_array() ? *as_.array : NoItems();
}

std::vector<Value>& Value::MutableItems() {
  if (!is_array()) {
    *this = Array();
  }
  return *as_.array;
}

const std::vector<Member>& Value::members() const {
  return is_object() ? *as_.object : NoMembers();
}

std::vector<Member>& Value::MutableMembers() {
  if (!is_object()) {
    *this = Object();
  }
  return *as_.object;
}

const Value* Value::Find(std::string_view key) const {
  for (const Member& member : members()) {
    if (member.key == key) {
      return &member.value;
    }
  }
  return nullptr;
}

Value* Value::Find(std::string_view key) {
  return const_cast<Value*>(std::as_const(*this).Find(key));
}

const Value* Value::FindPath(std::initializer_list<std::string_view> keys) const {
  const Value* at = this;
  for (const std::string_view key : keys) {
    at = at->Find(key);
    if (at == nullptr) {
      return nullptr;
    }
  }
  return at;
}

std::string_view Value::StringAt(std::initializer_list<std::string_view> keys) const {
  const Value* const found = FindPath(keys);
  return found != nullptr ? found->AsString() : std::string_view();
}

Value& Value::Set(std::string_view key, Value value) {
  Value& place = (*this)[key];
  place = std::move(value);
  return place;
}

Value& Value::operator[](std::string_view key) {
  if (Value* const found = Find(key); found != nullptr) {
    return *found;
  }
  auto& all = MutableMembers();
  all.push_back({std::string(key), Value()});
  return all.back().value;
}

bool Value::Erase(std::string_view key) {
  if (!is_object()) {
    return false;
  }
  return std::erase_if(*as_.object, [key](const Member& member) { return member.key == key; }) != 0;
}

Value& Value::Append(Value value) {
  auto& all = MutableItems();
  all.push_back(std::move(value));
  return all.back();
}

void Value::SortKeys() {
  if (is_array()) {
    for (Value& item : *as_.array) {
      item.SortKeys();
    }
  } else if (is_object()) {
    std::sort(as_.object->begin(), as_.object->end(), [](const Member& a, const Member& b) {
      return a.key < b.key;
    });
    for (Member& member : *as_.object) {
      member.value.SortKeys();
    }
  }
}

bool operator==(const Value& a, const Value& b) {
  if (a.kind_ != b.kind_) {
    return a.is_number() && b.is_number() && a.AsDouble() == b.AsDouble();
  }
  switch (a.kind_) {
    case Value::Kind::kNull: return true;
    case Value::Kind::kBool: return a.as_.boolean == b.as_.boolean;
    case Value::Kind::kInt: return a.as_.integer == b.as_.integer;
    case Value::Kind::kDouble: return a.as_.real == b.as_.real;
    case Value::Kind::kString: return *a.as_.string == *b.as_.string;
    case Value::Kind::kArray: return *a.as_.array == *b.as_.array;
    case Value::Kind::kObject: return SameMembers(*a.as_.object, *b.as_.object);
  }
  return false;
}

}  // namespace allot::text
