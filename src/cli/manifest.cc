#include "cli/manifest.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "text/yaml.h"

namespace allot::cli {
namespace {

namespace fs = std::filesystem;

bool IsManifestName(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

template <typename Iterator>
std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (Iterator at(folder, error), end; at != end && !error; at.increment(error)) {
    if (at->is_regular_file(error) && IsManifestName(at->path())) {
      files.push_back(at->path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

void AddObject(text::Value object, const std::string& source, ManifestSet& out) {
  const bool is_list = object.StringAt({"kind"}).ends_with("List") &&
                       object.Find("items") != nullptr && object.Find("items")->is_array();
  if (is_list) {
    std::size_t number = 0;
    for (text::Value& item : object.Find("items")->MutableItems()) {
      AddObject(std::move(item), source + ", item " + std::to_string(++number), out);
    }
    return;
  }
  for (const char* const field : {"apiVersion", "kind"}) {
    if (object.StringAt({field}).empty()) {
      out.problems.push_back(
          source + ": " +
          (object.is_object() ? std::string(field) + " is not set" : "not an object"));
      return;
    }
  }
  out.objects.push_back({std::move(object), source});
}

base::Result<void> AddText(std::string_view yaml, const std::string& path, ManifestSet& out) {
  auto documents = text::ParseYamlStream(yaml);
  if (!documents) {
    return base::Error(std::move(documents).error().Prepend(path + ": "));
  }
  std::size_t number = 0;
  for (text::YamlDocument& document : *documents) {
    std::string source = path;
    if (documents->size() > 1) {
      source += ", document " + std::to_string(++number) + " (line " +
                std::to_string(document.start.line) + ")";
    }
    AddObject(std::move(document.value), source, out);
  }
  return {};
}

}  // namespace

base::Result<ManifestSet> ReadManifests(const Io& io,
                                        const std::vector<std::string>& paths,
                                        bool recursive) {
  ManifestSet set;
  for (const std::string& path : paths) {
    std::vector<std::string> files = {path};
    std::error_code error;
    if (path != "-" && fs::is_directory(path, error)) {
      files = recursive ? FilesIn<fs::recursive_directory_iterator>(path)
                        : FilesIn<fs::directory_iterator>(path);
      if (files.empty()) {
        return base::Error(base::Reason::kNotFound,
                           path + ": no .yaml, .yml or .json files in this folder");
      }
    }
    for (const std::string& file : files) {
      ALLOT_ASSIGN_OR_RETURN(const std::string text, ReadFile(io, file));
      ALLOT_RETURN_IF_ERROR(AddText(text, file == "-" ? "standard input" : file, set));
    }
  }
  return set;
}

}  // namespace allot::cli
