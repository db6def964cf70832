#include "cli/files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace allot::cli {
namespace {

namespace fs = std::filesystem;

bool IsManifestName(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

// One folder: its files go to `files`, the folders in it to `below`. The iterators of the library
// throw, or end as if nothing were wrong, unless every step is asked for its error.
base::Result<void> ReadFolder(const std::string& folder,
                              bool hidden_too,
                              std::vector<std::string>& files,
                              std::vector<std::string>& below) {
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    if (!hidden_too && at->path().filename().string().starts_with('.')) {
      continue;
    }
    std::error_code ignored;  // a link to nothing is kept: reading it says what is wrong
    if (at->is_directory(ignored)) {
      if (!at->is_symlink(ignored)) {
        below.push_back(at->path().string());
      }
    } else if (IsManifestName(at->path()) &&
               (at->is_regular_file(ignored) || !at->exists(ignored))) {
      files.push_back(at->path().string());
    }
  }
  if (error) {
    return base::Error(base::Reason::kNotFound, folder + ": " + error.message());
  }
  return {};
}

}  // namespace

base::Result<std::vector<std::string>> ManifestFiles(const std::string& path, Folders which) {
  std::error_code ignored;
  if (path == "-" || !fs::is_directory(path, ignored)) {
    return std::vector<std::string>{path};
  }
  std::vector<std::string> files;
  std::vector<std::string> folders = {path};
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    std::vector<std::string> below;
    ALLOT_RETURN_IF_ERROR(ReadFolder(folder, which != Folders::kVisible, files, below));
    if (which != Folders::kTop) {
      folders.insert(folders.end(), below.begin(), below.end());
    }
  }
  if (files.empty()) {
    return base::Error(base::Reason::kNotFound,
                       path + ": no .yaml, .yml or .json files in this folder");
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace allot::cli
