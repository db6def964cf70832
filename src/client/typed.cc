#include "client/typed.h"

namespace allot::client::internal {

const base::Arena& NoArena() {
  static const base::Arena kNone;
  return kNone;
}

}  // namespace allot::client::internal
