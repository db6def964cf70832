#include "apiserver/watch_frame.h"

#include <optional>

#include <fmt/format.h>

#include "apiserver/edit.h"

namespace allot::apiserver {
namespace {

std::string_view TypeText(FrameType type) {
  switch (type) {
    case FrameType::kAdded: return "ADDED";
    case FrameType::kModified: return "MODIFIED";
    case FrameType::kDeleted: return "DELETED";
    case FrameType::kBookmark: return "BOOKMARK";
    case FrameType::kError: return "ERROR";
  }
  return "ERROR";
}

std::size_t VarintSize(std::size_t value) {
  std::size_t size = 1;
  while (value >= 0x80) {
    value >>= 7U;
    ++size;
  }
  return size;
}

/// Room for `size` more bytes, and for as many again as there are: frames come one after the other.
void MakeRoom(std::size_t size, std::string& out) {
  if (out.capacity() - out.size() < size) {
    out.reserve(2 * out.size() + size);
  }
}

/// metav1.WatchEvent with its length in front: type = 1, object = 2 (RawExtension with raw = 1).
void AppendProtobufFrame(FrameType type, std::string_view object, std::string& out) {
  const std::string_view text = TypeText(type);
  const std::size_t raw = 1 + VarintSize(object.size()) + object.size();
  const std::size_t total = 1 + 1 + text.size() + 1 + VarintSize(raw) + raw;
  MakeRoom(total + 4, out);
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    out += static_cast<char>(total >> shift & 255U);
  }
  out += '\x0a';
  AppendVarint(out, text.size());
  out += text;
  out += '\x12';
  AppendVarint(out, raw);
  out += '\x0a';
  AppendVarint(out, object.size());
  out += object;
}

void AppendFrame(const FrameStyle& style,
                 FrameType type,
                 std::string_view object,
                 std::string& out) {
  if (style.choice.format == Format::kProtobuf) {
    AppendProtobufFrame(type, object, out);
    return;
  }
  MakeRoom(object.size() + 40, out);
  out += R"({"type":")";
  out += TypeText(type);
  out += R"(","object":)";
  out += object;
  out += "}\n";
}

void AppendTableObject(const FrameStyle& style,
                       const Shown& shown,
                       bool columns,
                       std::string& out) {
  std::string row;
  AppendTableRow(shown, style.include, style.now, row);
  AppendTable(*style.resource,
              fmt::format(R"({{"resourceVersion":"{}"}})", shown.revision),
              columns,
              row,
              out);
}

/// Frames an entry, shown at `revision`, in whatever form the group wants.
bool AppendEntryFrame(const FrameStyle& style,
                      FrameType type,
                      const store::Entry& entry,
                      store::Revision revision,
                      bool columns,
                      std::string& out) {
  if (style.choice.shape == Shape::kObject && revision == entry.revision()) {
    const auto shared = SharedWire(*style.resource, entry, style.choice.format);
    if (shared == nullptr) {
      return false;
    }
    AppendFrame(style, type, *shared, out);
    return true;
  }
  base::Result<AnyView> view = ViewOf(entry);
  if (!view) {
    return false;
  }
  const Shown shown{style.resource, *std::move(view), revision};
  std::string object;
  if (style.choice.shape == Shape::kTable) {
    AppendTableObject(style, shown, columns, object);
  } else if (style.choice.shape != Shape::kObject) {
    AppendPartial(shown, style.choice.format, object);
  } else if (style.choice.format == Format::kProtobuf) {
    AppendObjectProtobuf(shown, object);
  } else {
    AppendObjectJson(shown, object);
  }
  AppendFrame(style, type, object, out);
  return true;
}

}  // namespace

bool AppendEventFrame(const FrameStyle& style,
                      const Filter& filter,
                      const store::Event& event,
                      bool columns,
                      std::string& out) {
  const bool now = !event.entry->deleted() && filter.Matches(*event.entry);
  const bool before = event.previous && filter.Matches(*event.previous);
  const store::Revision revision = event.entry->revision();
  if (now) {
    return AppendEntryFrame(style,
                            before ? FrameType::kModified : FrameType::kAdded,
                            *event.entry,
                            revision,
                            columns,
                            out);
  }
  if (!before) {
    return false;
  }
  const store::Entry& last =
      event.entry->deleted() && event.entry->value() ? *event.entry : *event.previous;
  return AppendEntryFrame(style, FrameType::kDeleted, last, revision, columns, out);
}

bool AppendInitialFrame(const FrameStyle& style,
                        const store::Entry& entry,
                        bool columns,
                        std::string& out) {
  return AppendEntryFrame(style, FrameType::kAdded, entry, entry.revision(), columns, out);
}

void AppendBookmarkFrame(const FrameStyle& style,
                         store::Revision revision,
                         bool initial_end,
                         std::string& out) {
  AnyDraft empty(style.resource->stored_type());
  if (initial_end) {
    Put(empty.arena(),
        MetadataOf(empty.type(), empty.root()).annotations,
        schema::Str("k8s.io/initial-events-end"),
        schema::Str("true"));
  }
  const Shown shown{style.resource, empty.Freeze(), revision};
  std::string object;
  if (style.choice.shape == Shape::kTable) {
    std::string row = R"({"cells":[],"object":)";
    AppendPartial(shown, Format::kJson, row);
    row += '}';
    AppendTable(*style.resource,
                fmt::format(R"({{"resourceVersion":"{}"}})", revision),
                /*columns=*/false,
                row,
                object);
  } else if (style.choice.shape != Shape::kObject) {
    AppendPartial(shown, style.choice.format, object);
  } else if (style.choice.format == Format::kProtobuf) {
    AppendObjectProtobuf(shown, object);
  } else {
    AppendObjectJson(shown, object);
  }
  AppendFrame(style, FrameType::kBookmark, object, out);
}

void AppendErrorFrame(const FrameStyle& style, const base::Status& status, std::string& out) {
  if (style.choice.format == Format::kProtobuf) {
    AppendFrame(style, FrameType::kError, EncodeStatus(status, style.choice), out);
  } else {
    AppendFrame(style, FrameType::kError, StatusJson(status), out);
  }
}

}  // namespace allot::apiserver
