// Flags: the flags and arguments of one verb, parsed as kubectl parses them (CLI11 inside).
//
// --flag value, --flag=value, -f value, -fvalue, -f=value; booleans also --flag=false; `--` ends
// flags. Thread safety: one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/connection.h"
#include "cli/io.h"

namespace allot::cli {

class Flags {
 public:
  /// `usage` is the line after the program's name ("get TYPE [NAME...]"), `about` one or more
  /// sentences.
  Flags(std::string_view usage, std::string_view about);
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  /// `names` as "-o,--output" or "--sort-by". Targets keep their value when the flag is not given.
  void Text(std::string_view names, std::string& target, std::string_view help);
  void Texts(std::string_view names, std::vector<std::string>& target, std::string_view help);
  void Bool(std::string_view names, bool& target, std::string_view help);
  void Int(std::string_view names, int& target, std::string_view help);
  /// A Text that takes one of `choices` ("none", "client", "server"); Parse refuses others by
  /// naming them.
  void OneOf(std::string_view names,
             std::string& target,
             std::vector<std::string> choices,
             std::string_view help);
  /// The flags of every verb that talks to a server.
  void Connection(ConnectionFlags& target);
  /// -n, --namespace and -A, --all-namespaces.
  void Namespace(ConnectionFlags& target);

  /// Returns the arguments that are no flags. Errors: kBadRequest with what is wrong and where help
  /// is.
  [[nodiscard]] base::Result<std::vector<std::string>> Parse(Arguments arguments);
  /// Parse as a verb begins: what is no flag goes to `rest`. Returns the exit code when the verb
  /// ends here: kUsage after a bad flag (told to io.err), kOk after -h or --help (the help text on
  /// io.out).
  [[nodiscard]] std::optional<int> Begin(Arguments arguments,
                                         const Io& io,
                                         std::vector<std::string>& rest);
  /// Begin of a verb that takes no arguments.
  [[nodiscard]] std::optional<int> Begin(Arguments arguments, const Io& io);
  /// Whether Parse met -h or --help; then print Help and stop.
  [[nodiscard]] bool help_wanted() const { return help_wanted_; }
  [[nodiscard]] std::string Help() const;
  /// Long flag names, for completion ("--output").
  [[nodiscard]] std::vector<std::string> Names() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  bool help_wanted_ = false;
};

}  // namespace allot::cli
