// Fields: strict reading of a YAML mapping with errors that name the path, what was found and
// expected. Thread safety: one reader.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "base/status.h"
#include "text/value.h"

namespace allot::drivers::sim {

class Fields {
 public:
  /// `path` names the mapping in errors ("fleet.yaml: nodes[0]").
  Fields(const text::Value& value, std::string path) : value_(value), path_(std::move(path)) {}

  /// Errors: kInvalid when this is no mapping or has a field that is not in `known`.
  [[nodiscard]] base::Result<void> Check(std::initializer_list<std::string_view> known) const;
  /// The text of a scalar field. Errors: kInvalid when it is missing and no default was given.
  [[nodiscard]] base::Result<std::string> Text(std::string_view field) const;
  [[nodiscard]] base::Result<std::string> Text(std::string_view field,
                                               std::string_view otherwise) const;
  [[nodiscard]] base::Result<int> Int(std::string_view field,
                                      int otherwise,
                                      int least,
                                      int most) const;
  /// A mapping of scalars; empty when absent.
  [[nodiscard]] base::Result<std::map<std::string, std::string>> Texts(
      std::string_view field) const;
  /// The elements of a list field; null when absent. Errors: kInvalid when it is no list.
  [[nodiscard]] base::Result<const text::Value*> List(std::string_view field) const;

  [[nodiscard]] std::string PathOf(std::string_view field) const {
    return path_ + "." + std::string(field);
  }
  [[nodiscard]] const text::Value* Find(std::string_view field) const { return value_.Find(field); }

 private:
  const text::Value& value_;
  std::string path_;
};

/// A scalar as text ("8", "true", "x"); false when it is a list or mapping.
[[nodiscard]] bool ScalarText(const text::Value& value, std::string& out);

/// "<path>: found <value>, expected <expected>" as kInvalid.
[[nodiscard]] base::Status Unexpected(std::string_view path,
                                      const text::Value& found,
                                      std::string_view expected);

}  // namespace allot::drivers::sim
