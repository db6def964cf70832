// allot version: of this program and, where one is reachable, of the server.
#include "api/version.h"

#include "cli/connection.h"
#include "cli/flags.h"
#include "cli/verbs.h"

namespace allot::cli {

int RunVersion(Arguments arguments, const Io& io) {
  ConnectionFlags flags;
  bool client_only = false;
  Flags parser("version", "Shows the version of this program and of the server.");
  parser.Bool("--client", client_only, "do not ask the server");
  parser.Connection(flags);
  if (const auto end = parser.Begin(arguments, io)) {
    return *end;
  }
  io.out("allot: " + std::string(ALLOT_VERSION) +
         "\nKubernetes API: " + std::string(api::kKubernetesVersion) + "\n");
  if (client_only) {
    return kOk;
  }
  auto connection = Connection::Open(io, flags);
  if (!connection) {
    return kOk;  // no kubeconfig: nobody to ask
  }
  const auto version = connection->GetJson("/version");
  if (!version) {
    io.err(ErrorText(version.error()));
    return kFailed;
  }
  io.out("Server: " + std::string(version->StringAt({"gitVersion"})) + "\n");
  return kOk;
}

}  // namespace allot::cli
