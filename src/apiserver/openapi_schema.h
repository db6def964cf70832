// SchemaWriter: OpenAPI schemas of API types from their descriptor tables.
// Thread safety: one writer, one thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "schema/type_desc.h"

namespace allot::apiserver {

/// "io.k8s.api.resource.v1.ResourceClaim": how upstream names the schema of a type.
[[nodiscard]] std::string SchemaName(const schema::TypeDesc& type);

class SchemaWriter {
 public:
  /// Adds a type and everything it refers to.
  void Add(const schema::TypeDesc& type);
  /// `{"name":{...},...}`.
  [[nodiscard]] std::string Write() const;

 private:
  std::string Define(const schema::TypeDesc& type);
  std::string Property(const schema::FieldDesc& field);
  std::string ValueSchema(const schema::FieldDesc& field);
  std::string Reference(const schema::FieldDesc& field);

  std::map<std::string, std::string> schemas_;
  std::vector<const schema::TypeDesc*> pending_;
};

}  // namespace allot::apiserver
