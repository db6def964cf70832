// ManifestFiles: the files of a folder that may hold objects. Thread safety: stateless.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace allot::cli {

enum class Folders : std::uint8_t {
  kTop,      ///< the files of the folder itself
  kBelow,    ///< those below it too (links to folders are not followed)
  kVisible,  ///< as kBelow, without what begins with a dot
};

/// A folder's .yaml, .yml and .json files by name; anything else is the file itself. Errors:
/// kNotFound naming the folder that cannot be read and why, or a folder without such files.
[[nodiscard]] base::Result<std::vector<std::string>> ManifestFiles(const std::string& path,
                                                                   Folders folders);

}  // namespace allot::cli
