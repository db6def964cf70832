// Frames of a watch stream: one event in the client's form.
// Thread safety: free functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/fields.h"
#include "apiserver/negotiate.h"
#include "apiserver/wire.h"
#include "store/entry.h"

namespace allot::apiserver {

enum class FrameType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

/// How events of one group are shown.
struct FrameStyle {
  const Resource* resource = nullptr;
  MediaChoice choice;
  IncludeObject include = IncludeObject::kMetadata;
  std::int64_t now = 0;  ///< Unix seconds, for ages in tables
};

/// Appends the frame of an event as `filter` sees it; nothing when it does not concern it.
/// `columns` asks for a table's columns. Returns whether a frame was appended.
bool AppendEventFrame(const FrameStyle& style,
                      const Filter& filter,
                      const store::Event& event,
                      bool columns,
                      std::string& out);
/// Appends an ADDED frame for an entry of the initial state.
bool AppendInitialFrame(const FrameStyle& style,
                        const store::Entry& entry,
                        bool columns,
                        std::string& out);
/// Appends a BOOKMARK frame; `initial_end` adds the annotation that ends the initial events.
void AppendBookmarkFrame(const FrameStyle& style,
                         store::Revision revision,
                         bool initial_end,
                         std::string& out);
/// Appends an ERROR frame.
void AppendErrorFrame(const FrameStyle& style, const base::Status& status, std::string& out);

}  // namespace allot::apiserver
