// The continue token of paged lists: which revision the pages show and where the next one starts.
// Thread safety: values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace allot::apiserver {

struct ContinueToken {
  /// The revision of all pages; -1: an inconsistent continuation, which reads the newest state.
  std::int64_t revision = 0;
  /// The first key of the next page (inside the resource).
  std::string start;

  [[nodiscard]] std::string Encode() const;
  /// Errors: kBadRequest, `invalid continue token: ...`.
  [[nodiscard]] static base::Result<ContinueToken> Decode(std::string_view text);
};

}  // namespace allot::apiserver
