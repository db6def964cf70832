#include "apiserver/table.h"

#include <fmt/format.h>

#include "api/meta/v1.gen.h"
#include "apiserver/json_text.h"
#include "quantity/time.h"

namespace allot::apiserver {
namespace {

constexpr Column kGenericColumns[] = {
    {"Name", "string", "name", "Name of the object, unique within its namespace.", 0},
    {"Created At", "date", "", "When the object was created.", 0},
};

/// "3h12m": the larger unit, and the smaller one when it is not zero.
std::string TwoUnits(std::int64_t big, char big_unit, std::int64_t small, char small_unit) {
  return small == 0 ? fmt::format("{}{}", big, big_unit)
                    : fmt::format("{}{}{}{}", big, big_unit, small, small_unit);
}

}  // namespace

void CellWriter::Text(std::string_view text) {
  AppendJsonComma(out_);
  AppendJsonString(out_, text);
}

void CellWriter::Number(std::int64_t value) {
  AppendJsonComma(out_);
  out_ += fmt::format("{}", value);
}

void CellWriter::Bool(bool value) {
  AppendJsonComma(out_);
  out_ += value ? "true" : "false";
}

std::string CellWriter::AgeText(const quantity::Time& time) const {
  return HumanDuration(now_ - time.seconds);
}

void CellWriter::Age(const quantity::Time& time, std::string_view unset) {
  if (time.set) {
    Text(AgeText(time));
  } else {
    Text(unset);
  }
}

void CellWriter::Condition(std::string_view type,
                           std::string_view reason,
                           std::string_view message) {
  AppendJsonComma(conditions_);
  conditions_ += "{\"type\":";
  AppendJsonString(conditions_, type);
  conditions_ += ",\"status\":\"True\",\"reason\":";
  AppendJsonString(conditions_, reason);
  conditions_ += ",\"message\":";
  AppendJsonString(conditions_, message);
  conditions_ += '}';
}

const TablePrinter* FindPrinter(const schema::TypeDesc& type) {
  if (const TablePrinter* const printer = FindPodPrinter(type); printer != nullptr) {
    return printer;
  }
  if (const TablePrinter* const printer = FindResourcePrinter(type); printer != nullptr) {
    return printer;
  }
  return FindCorePrinter(type);
}

std::span<const Column> GenericColumns() {
  return kGenericColumns;
}

void GenericCells(const api::meta::ObjectMeta& metadata, CellWriter& writer) {
  writer.Text(metadata.name);
  writer.Text(metadata.creation_timestamp.set ? quantity::FormatTime(metadata.creation_timestamp)
                                              : std::string());
}

std::string HumanDuration(std::int64_t seconds) {
  if (seconds < -1) {
    return "<invalid>";
  }
  if (seconds < 0) {
    return "0s";
  }
  if (seconds < 120) {
    return fmt::format("{}s", seconds);
  }
  const std::int64_t minutes = seconds / 60;
  const std::int64_t hours = seconds / 3600;
  const std::int64_t days = hours / 24;
  if (minutes < 10) {
    return TwoUnits(minutes, 'm', seconds % 60, 's');
  }
  if (minutes < 180) {
    return fmt::format("{}m", minutes);
  }
  if (hours < 8) {
    return TwoUnits(hours, 'h', minutes % 60, 'm');
  }
  if (hours < 48) {
    return fmt::format("{}h", hours);
  }
  if (days < 8) {
    return TwoUnits(days, 'd', hours % 24, 'h');
  }
  if (days < 365 * 2) {
    return fmt::format("{}d", days);
  }
  if (days < 365 * 8) {
    return TwoUnits(days / 365, 'y', days % 365, 'd');
  }
  return fmt::format("{}y", days / 365);
}

}  // namespace allot::apiserver
