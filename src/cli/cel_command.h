// cel: evaluates and checks device expressions, exactly as API server and scheduler do.
//
//   allot cel eval 'EXPR' [--device FILE|-] [--env stored|new] [--derived] [--raw]
//   allot cel check 'EXPR'|--file FILE|- [--env stored|new] [--derived]
//   allot cel eval --jsonl < cases.jsonl > results.jsonl      see cli/cel_records.h
// Thread safety: one thread.
#pragma once

#include "cli/io.h"

namespace allot::cli {

int RunCel(Arguments arguments, const Io& io);

}  // namespace allot::cli
