#include "cli/printer.h"

#include <algorithm>

#include "text/json.h"
#include "text/table.h"
#include "text/yaml.h"

namespace allot::cli {
namespace {

using text::Value;

std::string Upper(std::string_view name) {
  std::string out(name);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) {
    return static_cast<char>(std::toupper(c));
  });
  return out;
}

base::Result<std::vector<std::pair<std::string, JsonPath>>> ParseColumns(std::string_view text) {
  std::vector<std::pair<std::string, JsonPath>> columns;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view column = text.substr(0, comma);
    const std::size_t colon = column.find(':');
    if (colon == std::string_view::npos) {
      return base::Error(base::Reason::kInvalid,
                         "custom-columns: found \"" + std::string(column) +
                             "\", expected HEADER:PATH pairs separated by commas");
    }
    ALLOT_ASSIGN_OR_RETURN(JsonPath path, JsonPath::ParseRelaxed(column.substr(colon + 1)));
    columns.emplace_back(column.substr(0, colon), std::move(path));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return columns;
}

std::string CellText(const Value& cell) {
  return cell.is_null() ? "<none>" : PlainText(cell);
}

std::string LabelsText(const Value* labels) {
  std::string text;
  if (labels != nullptr) {
    for (const text::Member& member : labels->members()) {
      text += (text.empty() ? "" : ",") + member.key + "=" + PlainText(member.value);
    }
  }
  return text.empty() ? "<none>" : text;
}

void StripManagedFields(Value& object) {
  if (Value* const metadata = object.Find("metadata"); metadata != nullptr) {
    metadata->Erase("managedFields");
  }
}

std::string PrintColumns(const std::vector<Value>& objects, const OutputOptions& options) {
  std::vector<std::string> header;
  for (const auto& [name, path] : options.columns) {
    header.push_back(name);
  }
  text::TextTable table(options.no_headers ? std::vector<std::string>() : header);
  for (const Value& object : objects) {
    std::vector<std::string> cells;
    for (const auto& [name, path] : options.columns) {
      std::string cell;
      for (const Value* const value : path.Select(object)) {
        cell += (cell.empty() ? "" : ",") + PlainText(*value);
      }
      cells.push_back(cell.empty() ? "<none>" : cell);
    }
    table.AddRow(std::move(cells));
  }
  return table.ToString();
}

}  // namespace

base::Result<OutputOptions> ParseOutput(std::string_view output) {
  OutputOptions options;
  const std::size_t equals = output.find('=');
  const std::string_view form = output.substr(0, equals);
  const std::string_view argument =
      equals == std::string_view::npos ? std::string_view() : output.substr(equals + 1);
  if (output.empty() || form == "table") {
    return options;
  }
  if (form == "wide") {
    options.form = OutputForm::kWide;
  } else if (form == "json") {
    options.form = OutputForm::kJson;
  } else if (form == "yaml") {
    options.form = OutputForm::kYaml;
  } else if (form == "name") {
    options.form = OutputForm::kName;
  } else if (form == "jsonpath" || form == "jsonpath-as-json") {
    if (argument.empty()) {
      return base::Error(base::Reason::kInvalid, "template format specified but no template given");
    }
    options.form = OutputForm::kJsonPath;
    ALLOT_ASSIGN_OR_RETURN(options.path, JsonPath::Parse(argument));
  } else if (form == "custom-columns") {
    options.form = OutputForm::kCustomColumns;
    ALLOT_ASSIGN_OR_RETURN(options.columns, ParseColumns(argument));
    if (options.columns.empty()) {
      return base::Error(base::Reason::kInvalid,
                         "custom-columns format specified but no custom columns given");
    }
  } else {
    return base::Error(
        base::Reason::kInvalid,
        "unable to match a printer suitable for the output format \"" + std::string(output) +
            "\", allowed formats are: custom-columns,json,jsonpath,name,table,wide,yaml");
  }
  return options;
}

std::string PrintTable(const Value& table,
                       const ApiResource& resource,
                       const OutputOptions& options,
                       bool header) {
  const Value* const definitions = table.Find("columnDefinitions");
  const Value* const rows = table.Find("rows");
  std::vector<std::string> names;
  std::vector<std::size_t> shown;
  if (options.show_namespace) {
    names.emplace_back("NAMESPACE");
  }
  if (definitions != nullptr) {
    for (std::size_t i = 0; i < definitions->items().size(); ++i) {
      const Value& column = definitions->items()[i];
      const Value* const priority = column.Find("priority");
      if (options.form == OutputForm::kWide || priority == nullptr || priority->AsInt() == 0) {
        shown.push_back(i);
        names.push_back(Upper(column.StringAt({"name"})));
      }
    }
  }
  for (const std::string& label : options.label_columns) {
    names.push_back(Upper(label.substr(label.rfind('/') + 1)));
  }
  if (options.show_labels) {
    names.emplace_back("LABELS");
  }
  text::TextTable out(header && !options.no_headers ? names : std::vector<std::string>());
  if (rows != nullptr) {
    for (const Value& row : rows->items()) {
      std::vector<std::string> cells;
      if (options.show_namespace) {
        cells.emplace_back(row.StringAt({"object", "metadata", "namespace"}));
      }
      const Value* const values = row.Find("cells");
      for (std::size_t k = 0; k < shown.size(); ++k) {
        const bool there = values != nullptr && shown[k] < values->items().size();
        std::string cell = there ? CellText(values->items()[shown[k]]) : "<none>";
        cells.push_back(k == 0 && options.show_kind ? resource.ShortForm() + "/" + cell
                                                    : std::move(cell));
      }
      const Value* const labels = row.FindPath({"object", "metadata", "labels"});
      for (const std::string& label : options.label_columns) {
        const Value* const value = labels != nullptr ? labels->Find(label) : nullptr;
        cells.push_back(value != nullptr ? PlainText(*value) : "");
      }
      if (options.show_labels) {
        cells.push_back(LabelsText(labels));
      }
      out.AddRow(std::move(cells));
    }
  }
  return out.ToString();
}

std::string PrintObjects(std::vector<Value> objects,
                         bool as_list,
                         const OutputOptions& options,
                         const std::vector<std::string>& names) {
  if (options.form == OutputForm::kName) {
    std::string text;
    for (const std::string& name : names) {
      text += name + "\n";
    }
    return text;
  }
  if (!options.show_managed_fields) {
    for (Value& object : objects) {
      StripManagedFields(object);
    }
  }
  if (options.form == OutputForm::kCustomColumns) {
    return PrintColumns(objects, options);
  }
  Value root;
  if (!as_list && objects.size() == 1) {
    root = std::move(objects.front());
  } else {
    root = Value::Object();
    root.Set("apiVersion", Value("v1"));
    root.Set("items", Value::Array(std::move(objects)));
    root.Set("kind", Value("List"));
    root["metadata"].Set("resourceVersion", Value(""));
  }
  switch (options.form) {
    case OutputForm::kJsonPath: return options.path->Render(root);
    case OutputForm::kYaml: return text::ToYaml(root);
    default: return text::ToJson(root, text::JsonStyle::kIndented) + "\n";
  }
}

}  // namespace allot::cli
