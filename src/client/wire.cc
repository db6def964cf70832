#include "client/wire.h"

#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "api/meta/v1.gen.h"
#include "base/arena.h"
#include "client/rest.h"
#include "client/typed.h"
#include "schema/codec.h"
#include "schema/object.h"
#include "text/json.h"
#include "text/value.h"

namespace allot::client {
namespace {

using base::Error;
using base::Reason;
using base::Result;
using schema::Str;
using schema::TypeDesc;

constexpr std::string_view kMagic("k8s\0", 4);
constexpr std::size_t kMaxFrame = 64U << 20U;

/// One field of a protobuf message: its number and, for wire type 2, its bytes.
struct ProtobufField {
  std::uint32_t number = 0;
  std::string_view bytes;
};

std::optional<std::uint64_t> TakeVarint(std::string_view& in) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0) {
      return value;
    }
  }
  return std::nullopt;
}

/// Takes the next field off `in`; nothing when the bytes are no message.
std::optional<ProtobufField> TakeField(std::string_view& in) {
  const auto tag = TakeVarint(in);
  if (!tag) {
    return std::nullopt;
  }
  ProtobufField field{.number = static_cast<std::uint32_t>(*tag >> 3U), .bytes = {}};
  std::uint64_t size = 0;
  switch (*tag & 7U) {
    case 0: return TakeVarint(in) ? std::optional(field) : std::nullopt;
    case 1: size = 8; break;
    case 5: size = 4; break;
    case 2: {
      const auto length = TakeVarint(in);
      if (!length) {
        return std::nullopt;
      }
      size = *length;
      break;
    }
    default: return std::nullopt;
  }
  if (size > in.size()) {
    return std::nullopt;
  }
  field.bytes = in.substr(0, size);
  in.remove_prefix(size);
  return field;
}

std::unexpected<base::Status> Broken(std::string_view what) {
  return Error(Reason::kInternalError, "the server's answer is no valid " + std::string(what));
}

template <typename T>
Result<const T*> DecodeMessage(std::string_view bytes, base::Arena& arena) {
  T* const root = arena.New<T>();
  ALLOT_RETURN_IF_ERROR(schema::DecodeProtobuf(api::Desc<T>(), bytes, arena, root));
  return root;
}

Revision ParseRevision(std::string_view text) {
  Revision revision = 0;
  std::from_chars(text.data(), text.data() + text.size(), revision);
  return revision;
}

void SetString(char* root, const TypeDesc& type, std::string_view field, Str value) {
  if (const schema::JsonField* const found = type.Find(field); found != nullptr) {
    *reinterpret_cast<Str*>(root + found->offset) = value;
  }
}

/// Decodes the bare message or JSON text of one object; what it points into is copied first.
Result<Item> DecodeBare(const TypeDesc& type, std::string_view bytes, Format format) {
  auto arena = std::make_shared<base::Arena>(type.size + 3 * bytes.size() + 256);
  const std::string_view text = arena->Copy(bytes);
  auto* const root = static_cast<char*>(schema::NewStruct(type, *arena));
  const auto decoded = format == Format::kProtobuf
                           ? schema::DecodeProtobuf(type, text, *arena, root)
                           : schema::DecodeJson(type, text, *arena, root);
  if (!decoded) {
    return Broken(std::string(type.name) + ": " + decoded.error().message());
  }
  SetString(root, type, "kind", type.name);
  SetString(root, type, "apiVersion", arena->Copy(ApiVersionOf(type.group, type.version)));
  const api::meta::ObjectMeta& metadata = MetadataOf(type, root);
  std::string body;
  schema::EncodeProtobuf(
      type, root, body, {.without_revision = true, .kind = {}, .api_version = {}});
  Item item;
  item.object = schema::Object::Make({.type = &type,
                                      .namespace_ = metadata.namespace_,
                                      .name = metadata.name,
                                      .uid = metadata.uid},
                                     body,
                                     ParseRevision(metadata.resource_version));
  item.view = AnyView(std::move(arena), root);
  return item;
}

bool IsStatusJson(std::string_view text) {
  // A Status names its kind near its beginning, whatever the order of its fields.
  const std::string_view head = text.substr(0, 128);
  return head.find("\"kind\":\"Status\"") != std::string_view::npos ||
         head.find("\"kind\": \"Status\"") != std::string_view::npos;
}

Result<ListAnswer> DecodeProtobufList(const TypeDesc& type, std::string_view bytes) {
  ALLOT_ASSIGN_OR_RETURN(const schema::Envelope envelope, schema::DecodeEnvelope(bytes));
  ListAnswer answer;
  std::string_view rest = envelope.raw;
  while (!rest.empty()) {
    const auto field = TakeField(rest);
    if (!field) {
      return Broken("list");
    }
    if (field->number == 1) {
      base::Arena arena;
      ALLOT_ASSIGN_OR_RETURN(const auto* metadata,
                             DecodeMessage<api::meta::ListMeta>(field->bytes, arena));
      answer.revision = ParseRevision(metadata->resource_version);
      answer.continue_token = metadata->continue_;
    } else if (field->number == 2) {
      ALLOT_ASSIGN_OR_RETURN(Item item, DecodeBare(type, field->bytes, Format::kProtobuf));
      answer.items.push_back(std::move(item));
    }
  }
  return answer;
}

Result<ListAnswer> DecodeJsonList(const TypeDesc& type, std::string_view bytes) {
  const auto list = text::ParseJson(bytes);
  if (!list || !list->is_object()) {
    return Broken("list");
  }
  ListAnswer answer;
  answer.revision = ParseRevision(list->StringAt({"metadata", "resourceVersion"}));
  answer.continue_token = list->StringAt({"metadata", "continue"});
  const text::Value* const items = list->Find("items");
  if (items == nullptr || !items->is_array()) {
    return answer;
  }
  for (const text::Value& value : items->items()) {
    ALLOT_ASSIGN_OR_RETURN(Item item, DecodeBare(type, text::ToJson(value), Format::kJson));
    answer.items.push_back(std::move(item));
  }
  return answer;
}

std::optional<EventType> EventTypeOf(std::string_view text) {
  if (text == "ADDED") {
    return EventType::kAdded;
  }
  if (text == "MODIFIED") {
    return EventType::kModified;
  }
  if (text == "DELETED") {
    return EventType::kDeleted;
  }
  return text == "BOOKMARK" ? std::optional(EventType::kBookmark) : std::nullopt;
}

/// Type and object text of one event of a JSON watch.
Result<std::pair<std::string, std::string>> SplitJsonEvent(std::string_view frame) {
  // The usual spelling needs no tree of the object: {"type":"ADDED","object":{...}}.
  constexpr std::string_view kType = "{\"type\":\"";
  constexpr std::string_view kObject = "\",\"object\":";
  if (frame.substr(0, kType.size()) == kType && frame.back() == '}') {
    const std::size_t end = frame.find(kObject, kType.size());
    if (end != std::string_view::npos && end - kType.size() <= 8) {
      const std::size_t object = end + kObject.size();
      return std::pair(std::string(frame.substr(kType.size(), end - kType.size())),
                       std::string(frame.substr(object, frame.size() - object - 1)));
    }
  }
  const auto event = text::ParseJson(frame);
  if (!event || event->Find("object") == nullptr) {
    return Broken("watch event");
  }
  return std::pair(std::string(event->StringAt({"type"})), text::ToJson(*event->Find("object")));
}

}  // namespace

Format FormatOf(std::string_view content_type) {
  return content_type.substr(0, kProtobufType.size()) == kProtobufType ? Format::kProtobuf
                                                                       : Format::kJson;
}

std::string ApiVersionOf(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

std::string EncodeBody(const TypeDesc& type, const void* root, Revision revision, Format format) {
  const std::string api_version = ApiVersionOf(type.group, type.version);
  std::string body;
  const schema::EncodeOptions options{
      .revision = revision, .kind = type.name, .api_version = api_version};
  if (format == Format::kJson) {
    schema::EncodeJson(type, root, body, options);
    return body;
  }
  schema::EncodeProtobuf(type, root, body, options);
  std::string out;
  schema::EncodeEnvelope({.api_version = api_version, .kind = type.name, .raw = body}, out);
  return out;
}

Result<Item> DecodeItem(const TypeDesc& type, std::string_view bytes, Format format) {
  if (format == Format::kJson) {
    return IsStatusJson(bytes) ? Item{} : DecodeBare(type, bytes, format);
  }
  ALLOT_ASSIGN_OR_RETURN(const schema::Envelope envelope, schema::DecodeEnvelope(bytes));
  return envelope.kind == "Status" ? Item{} : DecodeBare(type, envelope.raw, format);
}

Result<ListAnswer> DecodeList(const TypeDesc& type, std::string_view bytes, Format format) {
  return format == Format::kProtobuf ? DecodeProtobufList(type, bytes)
                                     : DecodeJsonList(type, bytes);
}

base::Status DecodeStatus(int code, std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    return StatusFromBody(code, bytes);
  }
  const auto envelope = schema::DecodeEnvelope(bytes);
  base::Arena arena;
  const auto found = envelope && envelope->kind == "Status"
                         ? DecodeMessage<api::meta::Status>(envelope->raw, arena)
                         : Result<const api::meta::Status*>(nullptr);
  if (!found || *found == nullptr) {
    return StatusFromBody(code, "");
  }
  const api::meta::Status& wire = **found;
  base::Status status(base::ReasonFromText(wire.reason), std::string(wire.message));
  status.set_code(wire.code != 0 ? wire.code : code);
  if (wire.details == nullptr) {
    return status;
  }
  base::StatusDetails& details = status.mutable_details();
  details.name = wire.details->name;
  details.group = wire.details->group;
  details.kind = wire.details->kind;
  details.uid = wire.details->uid;
  details.retry_after_seconds = wire.details->retry_after_seconds;
  for (const api::meta::StatusCause& cause : wire.details->causes) {
    details.causes.push_back({.reason = std::string(cause.reason),
                              .message = std::string(cause.message),
                              .field = std::string(cause.field)});
  }
  return status;
}

Result<void> WatchSplitter::Feed(std::string_view data, std::vector<WatchEvent>& events) {
  if (!rest_.empty()) {
    rest_.append(data);
    data = rest_;
  }
  while (true) {
    std::string_view frame;
    if (format_ == Format::kJson) {
      const std::size_t end = data.find('\n');
      if (end == std::string_view::npos) {
        break;
      }
      frame = data.substr(0, end);
      data.remove_prefix(end + 1);
    } else {
      if (data.size() < 4) {
        break;
      }
      std::size_t size = 0;
      for (int i = 0; i < 4; ++i) {
        size = size << 8U | static_cast<unsigned char>(data[static_cast<std::size_t>(i)]);
      }
      if (size > kMaxFrame) {
        return Broken("watch");
      }
      if (data.size() - 4 < size) {
        break;
      }
      frame = data.substr(4, size);
      data.remove_prefix(4 + size);
    }
    if (!frame.empty()) {
      ALLOT_RETURN_IF_ERROR(AddEvent(frame, events));
    }
  }
  if (data.size() > kMaxFrame) {
    return Broken("watch");
  }
  rest_ = std::string(data);
  return {};
}

Result<void> WatchSplitter::AddEvent(std::string_view frame, std::vector<WatchEvent>& events) {
  std::string type_text;
  std::string json;
  std::string_view object;
  if (format_ == Format::kJson) {
    if (frame.back() == '\r') {
      frame.remove_suffix(1);
    }
    ALLOT_ASSIGN_OR_RETURN(auto parts, SplitJsonEvent(frame));
    type_text = std::move(parts.first);
    json = std::move(parts.second);
    object = json;
  } else {
    // metav1.WatchEvent: type = 1, object = 2, a RawExtension whose raw = 1 is an object in its
    // envelope.
    while (!frame.empty()) {
      const auto field = TakeField(frame);
      if (!field) {
        return Broken("watch event");
      }
      if (field->number == 1) {
        type_text = field->bytes;
      } else if (field->number == 2) {
        std::string_view extension = field->bytes;
        const auto raw = TakeField(extension);
        object = raw && raw->number == 1 ? raw->bytes : std::string_view();
      }
    }
  }
  if (type_text == "ERROR") {
    return Error(DecodeStatus(500, object));
  }
  const auto type = EventTypeOf(type_text);
  if (!type) {
    return Broken("watch event: type \"" + type_text + "\"");
  }
  ALLOT_ASSIGN_OR_RETURN(Item item, DecodeItem(type_, object, format_));
  if (!item.object) {
    return Broken("watch event");
  }
  WatchEvent event{.type = *type, .revision = item.object->revision(), .item = {}, .previous = {}};
  if (*type != EventType::kBookmark) {
    event.item = std::move(item);
  }
  events.push_back(std::move(event));
  return {};
}

}  // namespace allot::client
