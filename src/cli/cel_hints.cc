#include "cli/cel_hints.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "cel/bind.h"
#include "cel/cel.h"
#include "cli/edit_distance.h"

namespace allot::cli {
namespace {

/// A read of device.attributes or device.capacity as far as the text shows it.
struct Read {
  bool capacity = false;
  std::string_view domain;
  std::string_view name;
  std::string_view after;  // what follows it

  [[nodiscard]] std::string_view map() const { return capacity ? "capacity" : "attributes"; }
};

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The key after a map: ["key"], .key or .?key. Empty: none. Moves `text` past it.
std::string_view TakeKey(std::string_view& text) {
  std::string_view rest = text;
  if (rest.starts_with("[?")) {
    rest.remove_prefix(2);
  } else if (rest.starts_with("[") || rest.starts_with(".")) {
    const bool bracket = rest[0] == '[';
    rest.remove_prefix(1);
    if (!bracket) {
      if (rest.starts_with("?")) {
        rest.remove_prefix(1);
      }
      std::size_t end = 0;
      while (end < rest.size() && IsNameCharacter(rest[end])) {
        ++end;
      }
      if (end == 0 || (end < rest.size() && rest[end] == '(')) {
        return {};
      }
      text = rest.substr(end);
      return rest.substr(0, end);
    }
  } else {
    return {};
  }
  if (rest.empty() || (rest[0] != '"' && rest[0] != '\'')) {
    return {};
  }
  const std::size_t end = rest.find(rest[0], 1);
  if (end == std::string_view::npos) {
    return {};
  }
  const std::string_view key = rest.substr(1, end - 1);
  rest.remove_prefix(end + 1);
  if (!rest.starts_with("]")) {
    return {};
  }
  text = rest.substr(1);
  return key;
}

std::string_view Trim(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
  return text;
}

// The text of `"text" in` at the end; empty when it is not that.
std::string_view MemberBefore(std::string_view text) {
  const auto trim_end = [&] {
    text = text.substr(0, text.find_last_not_of(" \t\n") + 1);
  };
  trim_end();
  if (!text.ends_with("in")) {
    return {};
  }
  text.remove_suffix(2);
  trim_end();
  if (text.size() < 2 || (text.back() != '"' && text.back() != '\'')) {
    return {};
  }
  const std::size_t start = text.rfind(text.back(), text.size() - 2);
  return start == std::string_view::npos ? std::string_view()
                                         : text.substr(start + 1, text.size() - start - 2);
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

std::vector<Read> FindReads(std::string_view expression) {
  std::vector<Read> out;
  for (const bool capacity : {false, true}) {
    const std::string_view map = capacity ? "device.capacity" : "device.attributes";
    for (std::size_t at = expression.find(map); at != std::string_view::npos;
         at = expression.find(map, at + 1)) {
      std::string_view rest = expression.substr(at + map.size());
      Read read{capacity, {}, {}, {}};
      read.domain = TakeKey(rest);
      if (!read.domain.empty()) {
        read.name = TakeKey(rest);
        read.name = read.name.empty() ? MemberBefore(expression.substr(0, at)) : read.name;
        read.after = Trim(rest);
        out.push_back(read);
      }
    }
  }
  return out;
}

class Hints {
 public:
  explicit Hints(const cel::DeviceView* device) : device_(device) {}

  void Add(std::string hint) {
    if (std::ranges::find(hints_, hint) == hints_.end()) {
      hints_.push_back(std::move(hint));
    }
  }

  void Check(const Read& read) {
    if (const std::size_t slash = read.domain.find('/'); slash != std::string_view::npos) {
      Add(fmt::format("\"{}\" is a whole qualified name; write device.{}[\"{}\"].{}",
                      read.domain,
                      read.capacity ? "capacity" : "attributes",
                      read.domain.substr(0, slash),
                      read.domain.substr(slash + 1)));
      return;
    }
    if (device_ == nullptr || CheckDomain(read) || read.name.empty()) {
      return;
    }
    if (Has(read.capacity, read)) {
      CheckLiteral(read);
      return;
    }
    if (Has(!read.capacity, read)) {
      Add(fmt::format("\"{}\" is {} of the device, not {}; write device.{}[\"{}\"].{}",
                      read.name,
                      read.capacity ? "an attribute" : "a capacity",
                      read.capacity ? "a capacity" : "an attribute",
                      read.capacity ? "attributes" : "capacity",
                      read.domain,
                      read.name));
      return;
    }
    const std::string what = read.capacity ? "capacity" : "attribute";
    const auto [domain, name] = Closest(read);
    std::string hint =
        fmt::format("{} publishes no {} \"{}\" in domain \"{}\" on this device",
                    device_->driver.empty() ? "nobody" : fmt::format("driver {}", device_->driver),
                    what,
                    read.name,
                    read.domain);
    if (!name.empty()) {
      hint += fmt::format("; did you mean device.{}[\"{}\"].{}?",
                          read.capacity ? "capacity" : "attributes",
                          domain,
                          name);
    }
    Add(std::move(hint));
  }

  /// Whether a key that is no domain was told, which explains what is missing.
  [[nodiscard]] bool wrong_domain() const { return wrong_domain_; }
  std::vector<std::string> Take() { return std::move(hints_); }

 private:
  template <typename Visit>
  void ForEach(bool capacity, Visit visit) const {
    if (capacity) {
      for (const cel::Capacity& item : device_->capacities) {
        visit(cel::SplitName(item.name, device_->driver));
      }
    } else {
      for (const cel::Attribute& item : device_->attributes) {
        visit(cel::SplitName(item.name, device_->driver));
      }
    }
  }

  [[nodiscard]] bool Has(bool capacity, const Read& read) const {
    bool found = false;
    ForEach(capacity, [&](const cel::QualifiedName& name) {
      found = found || (name.domain == read.domain && name.id == read.name);
    });
    return found;
  }

  // Whether the first key is no domain of this device but a name, or a part of a domain.
  bool CheckDomain(const Read& read) {
    std::string hint;
    ForEach(read.capacity, [&](const cel::QualifiedName& name) {
      if (name.domain == read.domain) {
        hint = "-";  // a domain it is
      } else if (hint.empty() && name.id == read.domain) {
        hint = fmt::format("\"{}\" is a name, not a domain; write device.{}[\"{}\"].{}",
                           read.domain,
                           read.map(),
                           name.domain,
                           name.id);
      } else if (hint.empty() && name.domain.starts_with(read.domain) &&
                 name.domain.substr(read.domain.size()).starts_with('.')) {
        // device.attributes.gpu.example.com.model: the name comes after the rest of the domain.
        const std::string written = fmt::format(".{}{}", read.name, read.after);
        const std::string_view missing = name.domain.substr(read.domain.size());
        std::string_view rest(written);
        rest.remove_prefix(rest.starts_with(missing) ? missing.size() : rest.size());
        const std::string_view key = TakeKey(rest);
        hint = fmt::format("a domain with dots stands in brackets; write device.{}[\"{}\"].{}",
                           read.map(),
                           name.domain,
                           key.empty() ? name.id : key);
      }
    });
    if (hint.empty() || hint == "-") {
      return false;
    }
    Add(std::move(hint));
    wrong_domain_ = true;
    return true;
  }

  // A text beside an attribute of another kind: never equal, or an error.
  void CheckLiteral(const Read& read) {
    if (read.capacity) {
      return;
    }
    const bool compared = read.after.starts_with("==") || read.after.starts_with("!=");
    const std::string_view right = compared ? Trim(read.after.substr(2)) : std::string_view();
    const bool text = right.starts_with('"') || right.starts_with('\'');
    const bool method = read.after.starts_with(".isGreaterThan(\"") ||
                        read.after.starts_with(".isLessThan(\"") ||
                        read.after.starts_with(".compareTo(\"");
    for (const cel::Attribute& item : device_->attributes) {
      const cel::QualifiedName name = cel::SplitName(item.name, device_->driver);
      if (name.domain != read.domain || name.id != read.name) {
        continue;
      }
      const std::string path = fmt::format("device.attributes[\"{}\"].{}", read.domain, read.name);
      switch (item.value.kind) {
        case cel::AttributeKind::kVersion:
          if (text || method) {
            Add(fmt::format(
                "\"{}\" is a version; compare it with one: {}.compareTo(semver(\"{}\")) "
                ">= 0, or == semver(\"{}\")",
                read.name,
                path,
                item.value.text,
                item.value.text));
          }
          break;
        case cel::AttributeKind::kInt:
          if (text) {
            Add(fmt::format("\"{}\" is an integer, never equal to a text; write {} == {}",
                            read.name,
                            path,
                            item.value.integer));
          }
          break;
        case cel::AttributeKind::kBool:
          if (text) {
            Add(
                fmt::format("\"{}\" is true or false, never equal to a text; write {} without "
                            "quotes and comparison",
                            read.name,
                            path));
          }
          break;
        case cel::AttributeKind::kInts:
        case cel::AttributeKind::kBools:
        case cel::AttributeKind::kStrings:
        case cel::AttributeKind::kVersions:
          if (compared && !right.starts_with('[')) {
            Add(fmt::format(
                "\"{}\" is a list, equal to lists only; write VALUE in {}", read.name, path));
          }
          break;
        default: break;
      }
    }
  }

  // The most similar name the device has; empty: none is close.
  [[nodiscard]] std::pair<std::string, std::string> Closest(const Read& read) const {
    std::pair<std::string, std::string> best;
    const std::string wanted = Lower(read.name);
    std::size_t best_distance = wanted.size() / 3 + 2;
    ForEach(read.capacity, [&](const cel::QualifiedName& name) {
      const std::size_t distance =
          EditDistance(Lower(name.id), wanted) + (name.domain == read.domain ? 0U : 1U);
      if (distance < best_distance) {
        best_distance = distance;
        best = {std::string(name.domain), std::string(name.id)};
      }
    });
    return best;
  }

  const cel::DeviceView* device_;
  std::vector<std::string> hints_;
  bool wrong_domain_ = false;
};

// Hints that follow from the text of an error alone: all parts of it must be there.
struct ErrorHint {
  std::string_view part;
  std::string_view second;
  std::string_view hint;
};

constexpr ErrorHint kErrorHints[] = {
    {"overload for 'quantity' applied to '(kubernetes.Quantity)'",
     "",
     "a capacity is a quantity already; leave quantity(...) away"},
    {"applied to 'kubernetes.Quantity.(string)'",
     "",
     "quantities are compared with quantities; write quantity(\"...\") round the text"},
    {"applied to '(kubernetes.Quantity, ",
     "overload for '_",
     "quantities have no operators but == and !=; use compareTo, isGreaterThan or isLessThan"},
    {"applied to '(map(string, kubernetes.Quantity)",
     "",
     "device.capacity takes a domain, then a name: device.capacity[\"DOMAIN\"].NAME"},
    {"applied to 'map(string, kubernetes.Quantity).(",
     "",
     "device.capacity takes a domain, then a name: device.capacity[\"DOMAIN\"].NAME"},
    {"applied to '(kubernetes.Semver, ",
     "overload for '_",
     "versions have no operators but == and !=; use compareTo, isGreaterThan or isLessThan"},
    {"applied to 'kubernetes.Semver.(string)'",
     "",
     "versions are compared with versions; write semver(\"...\") round the text"},
    {"quantities must match the regular expression",
     "",
     "the suffixes of quantities are k, M, G, T for powers of 1000 and Ki, Mi, Gi, Ti for those of "
     "1024, without B"},
    {"No Major.Minor.Patch elements found",
     "",
     "semver(TEXT, true) takes v in front and fewer than three numbers"},
    {"Invalid character(s) found in", "", "semver(TEXT, true) takes v in front and leading zeros"},
    {"overload for 'orValue'", "", "orValue is for optional values: write .?NAME.orValue(...)"},
    {"undefined field 'name'", "", "expressions do not know a device's name; select by attributes"},
    {"undeclared reference to 'startswith'", "", "the function is startsWith"},
    {"undeclared reference to 'endswith'", "", "the function is endsWith"},
    {"undeclared reference to 'lower'", "", "the function is lowerAscii"},
    {"undeclared reference to 'upper'", "", "the function is upperAscii"},
    {"undeclared reference to 'toLower'", "", "the function is lowerAscii"},
    {"undeclared reference to 'length'", "", "the function is size"},
    {"undeclared reference to 'len'", "", "the function is size"},
};

// The word in quotes after `before`.
std::string_view QuotedAfter(std::string_view text, std::string_view before) {
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) {
    return {};
  }
  text.remove_prefix(at + before.size());
  return text.substr(0, text.find('\''));
}

// Words of other languages, and misspelt ones of this.
void AddSyntaxHints(std::string_view expression, std::string_view error, Hints& hints) {
  if (error.contains("Syntax error")) {
    if (expression.contains(" and ") || expression.contains(" or ") ||
        expression.contains("not ")) {
      hints.Add("and, or, not are written &&, ||, !");
    }
    if (error.contains("token recognition error at: '= ") ||
        error.contains("token recognition error at: '='")) {
      hints.Add("equality is written ==");
    }
    if (error.contains("token recognition error at: '& ") ||
        error.contains("token recognition error at: '| ")) {
      hints.Add("and, or are written &&, ||");
    }
  }
  constexpr std::string_view kFields[] = {
      "driver", "attributes", "capacity", "allowMultipleAllocations"};
  if (const std::string_view field = QuotedAfter(error, "undefined field '"); !field.empty()) {
    for (const std::string_view known : kFields) {
      if (EditDistance(Lower(field), Lower(known)) <= 2) {
        hints.Add(fmt::format("did you mean device.{}?", known));
      }
    }
  }
  const std::string_view name = QuotedAfter(error, "undeclared reference to '");
  if (!name.empty() && name != "device" && EditDistance(name, "device") <= 2) {
    hints.Add("did you mean device?");
  }
  for (const std::string_view map : {"device.attributes[", "device.capacity["}) {
    const std::size_t at = expression.find(map);
    const std::string_view key =
        at == std::string_view::npos ? std::string_view() : expression.substr(at + map.size());
    if (!name.empty() && key.starts_with(name)) {
      hints.Add(fmt::format("the domain is a text: {}\"{}\"]", map, key.substr(0, key.find(']'))));
    }
  }
}

// How to read what some devices do not have.
std::string GuardHint(std::string_view error, std::span<const Read> reads) {
  constexpr std::string_view kNoKey = "no such key: ";
  const std::size_t at = error.find(kNoKey);
  const std::string_view key =
      at == std::string_view::npos ? std::string_view() : error.substr(at + kNoKey.size());
  std::string path = "device.attributes[\"DOMAIN\"]";
  std::string_view name = key.empty() ? "NAME" : key;
  for (const Read& read : reads) {
    if (read.name == key) {
      path = fmt::format("device.{}[\"{}\"]", read.map(), read.domain);
      name = read.name;
      break;
    }
  }
  return fmt::format(
      "guard the read with has({}.{}) or use {}.?{}.orValue(...): an error on any device stops the "
      "allocation",
      path,
      name,
      path,
      name);
}

}  // namespace

std::vector<std::string> CelHints(std::string_view expression,
                                  std::string_view error,
                                  const cel::DeviceView* device) {
  Hints hints(device);
  const std::vector<Read> reads = FindReads(expression);
  for (const Read& read : reads) {
    hints.Check(read);
  }
  for (const ErrorHint& known : kErrorHints) {
    if (error.contains(known.part) && error.contains(known.second)) {
      hints.Add(std::string(known.hint));
    }
  }
  AddSyntaxHints(expression, error, hints);
  if (!cel::RuntimeErrorHint(error).empty() && !hints.wrong_domain()) {
    hints.Add(GuardHint(error, reads));
  }
  return hints.Take();
}

}  // namespace allot::cli
