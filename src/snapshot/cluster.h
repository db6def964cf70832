// Cluster: objects of a cluster read from files: dumps of kubectl, manifests, lists, any mix.
//
// The same object twice (kind, namespace, name): the later one counts. Thread safety: values.
// Lifetime: a cluster owns its objects; moving it does not move them.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "base/arena.h"
#include "base/status.h"

namespace allot::text {
class Value;
}

namespace allot::snapshot {

class Cluster {
 public:
  Cluster();
  ~Cluster();
  Cluster(Cluster&&) noexcept;
  Cluster& operator=(Cluster&&) noexcept;

  /// Reads every object of a YAML or JSON text (several documents, `kind: List`, JSON lines).
  /// Fields that the API server would default are filled in. `source` names the text in errors.
  /// Errors: kBadRequest with source and document.
  [[nodiscard]] base::Result<void> Add(std::string_view text, std::string_view source);
  /// Documents without kind or apiVersion are left out with a warning instead of an error.
  bool skip_foreign = false;
  /// What was read all the same but looks like a mistake, one line an object: unknown and repeated
  /// fields, objects without a name.
  std::vector<std::string> warnings;

  std::vector<const api::core::Node*> nodes;
  std::vector<const api::core::Pod*> pods;
  std::vector<const api::resource::ResourceSlice*> slices;
  std::vector<const api::resource::DeviceClass*> classes;
  std::vector<const api::resource::ResourceClaim*> claims;
  std::vector<const api::resource::ResourceClaimTemplate*> templates;
  std::vector<const api::resource::DeviceTaintRule*> rules;
  /// Kinds that were left out, with how often they occurred.
  std::map<std::string, std::size_t> ignored;

  [[nodiscard]] base::Arena& arena() { return *arena_; }

 private:
  [[nodiscard]] base::Result<void> AddValue(const text::Value& value,
                                            std::string_view raw,
                                            const std::string& where);
  [[nodiscard]] base::Result<void> AddItems(const text::Value& list,
                                            std::string_view raw,
                                            const std::string& where);
  [[nodiscard]] base::Result<void> AddResource(const text::Value& value,
                                               std::string_view raw,
                                               const std::string& where);
  // What stands in the text is taken as it is; without it, `value` is.
  template <typename T>
  [[nodiscard]] base::Result<void> Keep(const text::Value& value,
                                        std::string_view raw,
                                        const std::string& where,
                                        std::vector<const T*>& list);

  std::unique_ptr<base::Arena> arena_;
  std::size_t unnamed_ = 0;  // names given to objects without one
  /// Where an object is in its list, by kind, namespace and name.
  std::map<std::string, std::map<std::pair<std::string_view, std::string_view>, std::size_t>>
      index_;
};

}  // namespace allot::snapshot
