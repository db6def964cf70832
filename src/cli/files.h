// ManifestFiles: the files of a folder that may hold objects. Thread safety: stateless.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace allot::cli {

/// A folder's .yaml, .yml and .json files by name, also those below with `recursive` (links to
/// folders are not followed); anything else is the file itself. Errors: kNotFound naming the folder
/// that cannot be read and why, or a folder without such files.
[[nodiscard]] base::Result<std::vector<std::string>> ManifestFiles(const std::string& path,
                                                                   bool recursive);

}  // namespace allot::cli
