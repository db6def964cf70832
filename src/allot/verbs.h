// The verbs that need the whole house wired: up, scheduler, controllers.
#pragma once

#include "cli/io.h"

namespace allot {

int RunUp(cli::Arguments arguments, const cli::Io& io);
int RunScheduler(cli::Arguments arguments, const cli::Io& io);
int RunControllers(cli::Arguments arguments, const cli::Io& io);

}  // namespace allot
