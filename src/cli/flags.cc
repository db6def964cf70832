#include "cli/flags.h"

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>

namespace allot::cli {

struct Flags::Impl {
  struct Row {
    std::string names;
    std::string value;  // "" for booleans
    std::string help;
  };
  std::string usage;
  std::string about;
  std::vector<Row> rows;
  std::vector<std::string> positional;
  CLI::App app;
};

Flags::Flags(std::string_view usage, std::string_view about) : impl_(std::make_unique<Impl>()) {
  impl_->usage = usage;
  impl_->about = about;
  impl_->app.set_help_flag();
  impl_->app.add_flag("-h,--help", help_wanted_);
  impl_->app.add_option("arguments", impl_->positional);
}

Flags::~Flags() = default;

void Flags::Text(std::string_view names, std::string& target, std::string_view help) {
  impl_->rows.push_back({std::string(names), "TEXT", std::string(help)});
  impl_->app.add_option_function<std::string>(
      std::string(names), [&target](const std::string& value) {
        target = value.starts_with('=') ? value.substr(1) : value;  // -o=json
      });
}

void Flags::Texts(std::string_view names, std::vector<std::string>& target, std::string_view help) {
  impl_->rows.push_back({std::string(names), "TEXT,...", std::string(help)});
  impl_->app
      .add_option_function<std::vector<std::string>>(
          std::string(names),
          [&target](const std::vector<std::string>& values) {
            for (const std::string& value : values) {
              target.push_back(value.starts_with('=') ? value.substr(1) : value);
            }
          })
      ->expected(1)
      ->take_all();
}

void Flags::Bool(std::string_view names, bool& target, std::string_view help) {
  impl_->rows.push_back({std::string(names), "", std::string(help)});
  impl_->app.add_flag(std::string(names), target);
}

void Flags::Int(std::string_view names, int& target, std::string_view help) {
  impl_->rows.push_back({std::string(names), "N", std::string(help)});
  impl_->app.add_option(std::string(names), target);
}

void Flags::OneOf(std::string_view names,
                  std::string& target,
                  std::vector<std::string> choices,
                  std::string_view help) {
  impl_->rows.push_back({std::string(names), "TEXT", std::string(help)});
  impl_->app.add_option(std::string(names), target)
      ->check([choices = std::move(choices)](const std::string& value) -> std::string {
        if (std::find(choices.begin(), choices.end(), value) != choices.end()) {
          return "";
        }
        std::string expected = choices[0];
        for (std::size_t i = 1; i < choices.size(); ++i) {
          expected += (i + 1 == choices.size() ? " or " : ", ") + choices[i];
        }
        return "found \"" + value + "\", expected " + expected;
      });
}

void Flags::Connection(ConnectionFlags& target) {
  Text("--kubeconfig",
       target.kubeconfig,
       "kubeconfig file (else $KUBECONFIG, ./allot.kubeconfig, ~/.kube/config)");
  Text("--context", target.context, "context of the kubeconfig to use");
  Text("-s,--server", target.server, "address of the API server");
  Text("--token", target.token, "bearer token");
  Text("--as", target.as, "user to impersonate");
}

void Flags::Namespace(ConnectionFlags& target) {
  Text("-n,--namespace", target.namespace_, "namespace to work in");
  Bool("-A,--all-namespaces", target.all_namespaces, "work in all namespaces");
}

base::Result<std::vector<std::string>> Flags::Parse(Arguments arguments) {
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    impl_->app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    const std::size_t blank = impl_->usage.find(' ');
    return base::Error(
        base::Reason::kBadRequest,
        std::string(error.what()) + "\nSee 'allot " + impl_->usage.substr(0, blank) + " --help'.");
  }
  return impl_->positional;
}

std::optional<int> Flags::Begin(Arguments arguments, const Io& io, std::vector<std::string>& rest) {
  auto parsed = Parse(arguments);
  if (!parsed) {
    return Fail(io, parsed.error().message(), kUsage);
  }
  if (help_wanted_) {
    io.out(Help());
    return kOk;
  }
  rest = *std::move(parsed);
  return std::nullopt;
}

std::optional<int> Flags::Begin(Arguments arguments, const Io& io) {
  std::vector<std::string> rest;
  const auto end = Begin(arguments, io, rest);
  if (!end && !rest.empty()) {
    io.err("error: unexpected argument \"" + rest[0] + "\"\n");
    return kUsage;
  }
  return end;
}

std::string Flags::Help() const {
  std::string text = impl_->about + "\n\nUsage:\n  allot " + impl_->usage + "\n";
  std::size_t width = 0;
  const auto left = [](const Impl::Row& row) {
    std::string names = row.names;
    if (const std::size_t comma = names.find(','); comma != std::string::npos) {
      names.insert(comma + 1, " ");
    } else {
      names.insert(0, "    ");
    }
    return names + (row.value.empty() ? "" : " " + row.value);
  };
  for (const Impl::Row& row : impl_->rows) {
    width = std::max(width, left(row).size());
  }
  text += "\nFlags:\n";
  for (const Impl::Row& row : impl_->rows) {
    const std::string names = left(row);
    text += "  " + names + std::string(width - names.size() + 2, ' ') + row.help + "\n";
  }
  return text;
}

std::vector<std::string> Flags::Names() const {
  std::vector<std::string> names;
  for (const Impl::Row& row : impl_->rows) {
    names.push_back(row.names.substr(row.names.find("--")));
  }
  return names;
}

}  // namespace allot::cli
