// Value: a free JSON tree (any shape), for what has no table: patches, opaque parameters, kubectl
// output.
//
// Objects keep the order of their members. Typed objects are decoded by schema/codec.h without this
// tree. Thread safety: a value; const access from any thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace allot::text {

struct Member;

class Value {
 public:
  enum class Kind : std::uint8_t { kNull, kBool, kInt, kDouble, kString, kArray, kObject };

  Value() = default;
  explicit Value(bool value) : kind_(Kind::kBool) { as_.boolean = value; }
  explicit Value(std::int64_t value) : kind_(Kind::kInt) { as_.integer = value; }
  explicit Value(int value) : Value(static_cast<std::int64_t>(value)) {}
  explicit Value(double value) : kind_(Kind::kDouble) { as_.real = value; }
  explicit Value(std::string_view value) : kind_(Kind::kString) {
    as_.string = new std::string(value);
  }
  explicit Value(const char* value) : Value(std::string_view(value)) {}
  explicit Value(std::string value) : kind_(Kind::kString) {
    as_.string = new std::string(std::move(value));
  }
  [[nodiscard]] static Value Array(std::vector<Value> items = {});
  [[nodiscard]] static Value Object();
  [[nodiscard]] static Value Object(std::vector<Member> members);

  Value(const Value& other);
  Value(Value&& other) noexcept : kind_(std::exchange(other.kind_, Kind::kNull)), as_(other.as_) {}
  Value& operator=(const Value& other) {
    Value copy(other);
    return *this = std::move(copy);
  }
  Value& operator=(Value&& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(as_, other.as_);
    return *this;
  }
  ~Value() {
    if (kind_ >= Kind::kString) {
      Free();
    }
  }

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_null() const { return kind_ == Kind::kNull; }
  [[nodiscard]] bool is_bool() const { return kind_ == Kind::kBool; }
  [[nodiscard]] bool is_int() const { return kind_ == Kind::kInt; }
  [[nodiscard]] bool is_number() const { return kind_ == Kind::kInt || kind_ == Kind::kDouble; }
  [[nodiscard]] bool is_string() const { return kind_ == Kind::kString; }
  [[nodiscard]] bool is_array() const { return kind_ == Kind::kArray; }
  [[nodiscard]] bool is_object() const { return kind_ == Kind::kObject; }

  /// The value as this kind, or `otherwise` when it is of another kind.
  [[nodiscard]] bool AsBool(bool otherwise = false) const {
    return is_bool() ? as_.boolean : otherwise;
  }
  [[nodiscard]] std::int64_t AsInt(std::int64_t otherwise = 0) const;
  [[nodiscard]] double AsDouble(double otherwise = 0) const;
  /// Empty when it is not a string. Lifetime: this value.
  [[nodiscard]] std::string_view AsString() const {
    return is_string() ? std::string_view(*as_.string) : std::string_view();
  }

  /// The elements; empty when it is not an array.
  [[nodiscard]] const std::vector<Value>& items() const;
  /// The same, writable. A value of another kind becomes an empty array first.
  [[nodiscard]] std::vector<Value>& MutableItems();
  /// The members; empty when it is not an object.
  [[nodiscard]] const std::vector<Member>& members() const;
  /// The same, writable. A value of another kind becomes an empty object first.
  [[nodiscard]] std::vector<Member>& MutableMembers();

  /// The member's value; null when absent or when this is not an object. Cost: O(members).
  [[nodiscard]] const Value* Find(std::string_view key) const;
  [[nodiscard]] Value* Find(std::string_view key);
  /// What lies at the end of the keys; null when one is absent.
  [[nodiscard]] const Value* FindPath(std::initializer_list<std::string_view> keys) const;
  /// The text at the end of the keys; empty when absent or not a string.
  [[nodiscard]] std::string_view StringAt(std::initializer_list<std::string_view> keys) const;
  /// Replaces the member or appends it; returns the value in its place.
  Value& Set(std::string_view key, Value value);
  /// The member, added as null when absent. A value of another kind becomes an object first.
  Value& operator[](std::string_view key);
  /// True when the member was there.
  bool Erase(std::string_view key);
  /// Appends to an array (a value of another kind becomes an empty array first).
  Value& Append(Value value);

  /// Puts the members of this and all objects inside in byte order of their keys, as Go prints
  /// maps.
  void SortKeys();

  /// By meaning: members in any order, numbers by value.
  friend bool operator==(const Value& a, const Value& b);

 private:
  void Free();

  Kind kind_ = Kind::kNull;
  union {
    bool boolean;
    std::int64_t integer = 0;
    double real;
    std::string* string;
    std::vector<Value>* array;
    std::vector<Member>* object;
  } as_;
};

struct Member {
  std::string key;
  Value value;
};

}  // namespace allot::text
