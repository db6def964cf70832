// allot completion: scripts that complete verbs, types and names; types and names are asked of the
// server.
#include "cli/connection.h"
#include "cli/discovery.h"
#include "cli/flags.h"
#include "cli/verbs.h"

namespace allot::cli {
namespace {

constexpr std::string_view kBash = R"SH(_allot() {
  local cur=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=($(compgen -W "$(allot completion --words "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)" -- "$cur"))
}
complete -o default -F _allot allot
)SH";

constexpr std::string_view kZsh = R"SH(#compdef allot
_allot() {
  local -a words_now
  words_now=(${(f)"$(allot completion --words "${words[@]:1:$((CURRENT-2))}" 2>/dev/null | tr ' ' '\n')"})
  compadd -a words_now
  _files
}
compdef _allot allot
)SH";

constexpr std::string_view kFish =
    R"SH(complete -c allot -f -a '(allot completion --words (commandline -opc)[2..] 2>/dev/null | string split " ")'
)SH";

bool TakesTypes(std::string_view verb) {
  return verb == "get" || verb == "describe" || verb == "delete" || verb == "wait";
}

/// The words that may follow `before`, separated by blanks.
std::string Words(const Io& io, const std::vector<std::string>& before) {
  std::string out;
  const auto add = [&out](std::string_view word) {
    out += (out.empty() ? "" : " ") + std::string(word);
  };
  if (before.empty()) {
    for (const VerbInfo& verb : Verbs()) {
      add(verb.name);
    }
    return out;
  }
  if (before[0] == "completion") {
    return "bash zsh fish";
  }
  if (!TakesTypes(before[0])) {
    return out;
  }
  auto server = Server::Open(io, {});
  if (!server) {
    return out;
  }
  if (before.size() == 1) {
    for (const ApiResource& resource : server->discovery.all()) {
      add(resource.FullName());
    }
    if (before[0] == "get") {
      add("devices");
      add("pools");
    }
    return out;
  }
  if (const auto resource = server->discovery.Find(before[1]); resource) {
    if (const auto list = server->connection.GetJson(
            (*resource)->Path(server->connection.namespace_()) + "?limit=500");
        list) {
      if (const text::Value* const items = list->Find("items"); items != nullptr) {
        for (const text::Value& item : items->items()) {
          add(item.StringAt({"metadata", "name"}));
        }
      }
    }
  }
  return out;
}

}  // namespace

int RunCompletion(Arguments arguments, const Io& io) {
  if (!arguments.empty() && arguments[0] == "--words") {
    std::vector<std::string> before;
    for (const std::string& word : arguments.subspan(1)) {
      if (!word.starts_with('-')) {
        before.push_back(word);
      }
    }
    io.out(Words(io, before) + "\n");
    return kOk;
  }
  const std::string_view shell =
      arguments.empty() ? std::string_view() : std::string_view(arguments[0]);
  const std::string_view script = shell == "bash"   ? kBash
                                  : shell == "zsh"  ? kZsh
                                  : shell == "fish" ? kFish
                                                    : "";
  if (script.empty()) {
    const bool help = shell == "--help" || shell == "-h";
    (help ? io.out : io.err)(
        "usage: allot completion bash|zsh|fish\nFor bash: source <(allot completion bash)\n");
    return help ? kOk : kUsage;
  }
  io.out(script);
  return kOk;
}

}  // namespace allot::cli
