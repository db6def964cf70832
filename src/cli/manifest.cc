#include "cli/manifest.h"

#include <utility>

#include "cli/files.h"
#include "text/documents.h"

namespace allot::cli {
namespace {

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

base::Result<void> AddText(std::string_view text, const std::string& path, ManifestSet& out) {
  auto documents = text::ParseDocuments(text);
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
    ALLOT_ASSIGN_OR_RETURN(const std::vector<std::string> files,
                           ManifestFiles(path, recursive ? Folders::kBelow : Folders::kTop));
    for (const std::string& file : files) {
      ALLOT_ASSIGN_OR_RETURN(const std::string text, ReadFile(io, file));
      ALLOT_RETURN_IF_ERROR(AddText(text, file == "-" ? "standard input" : file, set));
    }
  }
  return set;
}

}  // namespace allot::cli
