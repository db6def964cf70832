// Printer: the output forms of get (table, wide, json, yaml, name, jsonpath, custom-columns).
// Thread safety: one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "cli/discovery.h"
#include "cli/json_path.h"
#include "text/value.h"

namespace allot::cli {

enum class OutputForm { kTable, kWide, kJson, kYaml, kName, kJsonPath, kCustomColumns };

struct OutputOptions {
  OutputForm form = OutputForm::kTable;
  std::optional<JsonPath> path;                           // kJsonPath
  std::vector<std::pair<std::string, JsonPath>> columns;  // kCustomColumns
  bool no_headers = false;
  bool show_labels = false;
  bool show_kind = false;
  bool show_namespace = false;  // a NAMESPACE column in front
  bool show_managed_fields = false;
  std::vector<std::string> label_columns;

  /// Whether the server's Table is wanted (else the objects themselves).
  [[nodiscard]] bool WantsTable() const {
    return form == OutputForm::kTable || form == OutputForm::kWide;
  }
};

/// Parses the value of -o. Errors: kInvalid listing the forms there are.
[[nodiscard]] base::Result<OutputOptions> ParseOutput(std::string_view output);

/// Prints a metav1.Table as kubectl does. `header` = false leaves the header line away (later
/// pieces of a watch).
[[nodiscard]] std::string PrintTable(const text::Value& table,
                                     const ApiResource& resource,
                                     const OutputOptions& options,
                                     bool header);

/// Prints objects in any form but tables. One object stands alone; several become a List.
[[nodiscard]] std::string PrintObjects(std::vector<text::Value> objects,
                                       bool as_list,
                                       const OutputOptions& options,
                                       const std::vector<std::string>& names);

}  // namespace allot::cli
