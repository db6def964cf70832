// Manifests: objects from files, folders and standard input, each with the place it came from.
// Thread safety: one thread.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "cli/io.h"
#include "text/value.h"

namespace allot::cli {

struct Manifest {
  text::Value object;
  std::string source;  // "pods.yaml, document 2 (line 14)"
};

struct ManifestSet {
  std::vector<Manifest> objects;      // in order; members of a List one by one
  std::vector<std::string> problems;  // documents without apiVersion or kind, with their places
};

/// Reads all `paths` ("-" = standard input; folders: their .yaml, .yml and .json files by name,
/// also below with `recursive`). A document that is no object is a problem, not an error: the
/// others are read. Errors: kNotFound (no such file), kBadRequest (broken YAML or JSON, with line
/// and column).
[[nodiscard]] base::Result<ManifestSet> ReadManifests(const Io& io,
                                                      const std::vector<std::string>& paths,
                                                      bool recursive = false);

}  // namespace allot::cli
