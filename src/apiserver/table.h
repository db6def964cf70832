// Tables: the server-side columns and cells that `kubectl get` prints, one printer per kind.
// Thread safety: constant data and free functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "schema/type_desc.h"
#include "schema/types.h"

namespace allot::api::meta {
struct ObjectMeta;
}  // namespace allot::api::meta

namespace allot::apiserver {

struct Column {
  std::string_view name;
  std::string_view type = "string";
  std::string_view format;
  std::string_view description;
  int priority = 0;  ///< above 0: only with -o wide
};

/// Collects the cells of one row as JSON.
class CellWriter {
 public:
  /// `out` receives `[cell,...`; the caller closes it. `now` is Unix seconds.
  CellWriter(std::string& out, std::int64_t now) : out_(out), now_(now) {}

  void Text(std::string_view text);
  void Number(std::int64_t value);
  void Bool(bool value);
  /// An age such as 5m, `unset` when there is no time.
  void Age(const quantity::Time& time, std::string_view unset = "<unknown>");
  [[nodiscard]] std::string AgeText(const quantity::Time& time) const;
  /// Adds a row condition; only pods that ended have one.
  void Condition(std::string_view type, std::string_view reason, std::string_view message);

  [[nodiscard]] std::int64_t now() const { return now_; }
  [[nodiscard]] const std::string& conditions() const { return conditions_; }

 private:
  std::string& out_;
  std::int64_t now_;
  std::string conditions_;
};

/// How one kind is printed. `cells` writes one cell a column.
struct TablePrinter {
  std::span<const Column> columns;
  void (*cells)(const void* root, CellWriter& writer);
};

/// The printer of a kind; null for those that have none of their own (the generic table).
[[nodiscard]] const TablePrinter* FindPrinter(const schema::TypeDesc& type);
/// Name and creation date, for kinds without a printer.
[[nodiscard]] std::span<const Column> GenericColumns();
void GenericCells(const api::meta::ObjectMeta& metadata, CellWriter& writer);

/// Printers by group; each gives null for kinds it does not know.
[[nodiscard]] const TablePrinter* FindCorePrinter(const schema::TypeDesc& type);
[[nodiscard]] const TablePrinter* FindPodPrinter(const schema::TypeDesc& type);
[[nodiscard]] const TablePrinter* FindResourcePrinter(const schema::TypeDesc& type);

/// A length of time as kubectl shows it: 45s, 3m12s, 5h, 2d3h. Unit: seconds.
[[nodiscard]] std::string HumanDuration(std::int64_t seconds);

}  // namespace allot::apiserver
