// ListStream: answers a list: a page at once, or everything in pieces under back-pressure.
// Thread safety: loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/exchange.h"
#include "apiserver/fields.h"
#include "store/snapshot.h"

namespace allot::apiserver {

struct ListPlan {
  Filter filter;
  store::Snapshot snapshot;
  std::string start;        ///< first key, "" = from the beginning
  std::int64_t limit = 0;   ///< 0: everything
  bool count_rest = false;  ///< tell how many items remain (lists without selectors)
  std::int64_t now = 0;     ///< Unix seconds, for tables
};

/// Answers the exchange. The list is taken from the snapshot, so that it shows one moment however
/// long the client takes.
void AnswerList(const ExchangeRef& exchange, ListPlan plan);

/// The entries a plan selects, at most its limit; `next` receives the key after the last one shown,
/// "" when nothing remains. For deletecollection.
[[nodiscard]] std::vector<base::Ref<const store::Entry>> SelectEntries(const ListPlan& plan,
                                                                       std::string& next);

}  // namespace allot::apiserver
