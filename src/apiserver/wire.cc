#include "apiserver/wire.h"

#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apiserver/json_text.h"
#include "apiserver/table.h"
#include "schema/codec.h"
#include "text/json.h"
#include "text/yaml.h"

namespace allot::apiserver {
namespace {

constexpr std::size_t kJsonSlot = 1;
constexpr std::size_t kProtobufSlot = 2;

/// The object in its served type; `hold` keeps a converted one alive.
const void* ServedRoot(const Shown& shown, AnyDraft& hold) {
  if (shown.resource->conversion == nullptr) {
    return shown.view.get();
  }
  hold = AnyDraft(*shown.resource->info->type, nullptr, shown.view);
  shown.resource->conversion->from_stored(shown.view.get(), hold);
  return hold.root();
}

schema::EncodeOptions OptionsOf(const Shown& shown) {
  return {.revision = shown.revision,
          .kind = shown.resource->info->kind,
          .api_version = shown.resource->info->api_version};
}

/// A shallow copy of an object with kind and apiVersion cleared, as items of typed lists are shown.
class BareCopy {
 public:
  BareCopy(const schema::TypeDesc& type, const void* root) : bytes_(type.size + type.alignment) {
    const auto at = reinterpret_cast<std::uintptr_t>(bytes_.data());
    root_ =
        reinterpret_cast<char*>((at + type.alignment - 1) & ~(std::uintptr_t{type.alignment} - 1));
    std::memcpy(root_, root, type.size);
    for (const schema::FieldDesc& field : type.fields.first(2)) {
      if (field.name == "kind" || field.name == "apiVersion") {
        std::memset(root_ + field.offset, 0, sizeof(schema::Str));
      }
    }
  }
  [[nodiscard]] const void* root() const { return root_; }

 private:
  std::vector<char> bytes_;
  char* root_ = nullptr;
};

api::meta::PartialObjectMetadata PartialOf(const Shown& shown) {
  api::meta::PartialObjectMetadata partial;
  partial.kind = "PartialObjectMetadata";
  partial.api_version = "meta.k8s.io/v1";
  partial.metadata = MetadataOf(shown.resource->stored_type(), shown.view.get());
  partial.metadata.resource_version = {};
  return partial;
}

/// The protobuf message of a stored record at a revision: nothing of it is decoded or encoded
/// again.
void AppendRecordProtobuf(const schema::Object& object,
                          store::Revision revision,
                          std::string& out) {
  out += object.body();
  schema::AppendProtobufRevision(object.type(), revision, out);
}

/// The same in its envelope (schema::EncodeEnvelope), written in one go.
void AppendRecordEnvelope(const api::KindInfo& info,
                          const schema::Object& object,
                          store::Revision revision,
                          std::string& out) {
  constexpr std::size_t kOverhead = 32;  // magic, tags, lengths, empty content type and encoding
  std::string piece;                     // small enough to need no memory of its own
  schema::AppendProtobufRevision(object.type(), revision, piece);
  const std::size_t raw = object.body().size() + piece.size();
  const std::size_t meta = 4 + info.api_version.size() + info.kind.size();
  out.reserve(out.size() + kOverhead + meta + raw);
  out.append("k8s\0\x0a", 5);
  AppendVarint(out, meta);
  for (const auto& [tag, text] : {std::pair{'\x0a', info.api_version}, {'\x12', info.kind}}) {
    out += tag;
    AppendVarint(out, text.size());
    out += text;
  }
  out += '\x12';
  AppendVarint(out, raw);
  out += object.body();
  out += piece;
  out.append("\x1a\0\x22\0", 4);
}

/// What Status messages are made of; texts point into `status`.
struct StatusBody {
  api::meta::Status root;
  api::meta::StatusDetails details;
  std::vector<api::meta::StatusCause> causes;
};

void FillDetails(const base::StatusDetails& from, StatusBody& body) {
  body.details.name = from.name;
  body.details.group = from.group;
  body.details.kind = from.kind;
  body.details.uid = from.uid;
  body.details.retry_after_seconds = from.retry_after_seconds;
  for (const base::StatusCause& cause : from.causes) {
    api::meta::StatusCause one;
    one.reason = cause.reason;
    one.message = cause.message;
    one.field = cause.field;
    body.causes.push_back(one);
  }
  body.details.causes.items = body.causes.data();
  body.details.causes.count = static_cast<std::uint32_t>(body.causes.size());
  body.root.details = &body.details;
}

std::string EncodeStatusBody(const StatusBody& body, const MediaChoice& choice) {
  const schema::TypeDesc& type = api::Desc<api::meta::Status>();
  std::string out;
  if (choice.format == Format::kProtobuf) {
    std::string raw;
    schema::EncodeProtobuf(type, &body.root, raw);
    schema::EncodeEnvelope({.api_version = "v1", .kind = "Status", .raw = raw}, out);
    return out;
  }
  schema::EncodeJson(type, &body.root, out);
  return FinishJson(std::move(out), choice);
}

void FillStatus(const base::Status& status, StatusBody& body) {
  body.root.kind = "Status";
  body.root.api_version = "v1";
  body.root.status = "Failure";
  body.root.message = status.message();
  body.root.reason = base::ReasonText(status.reason());
  body.root.code = status.code();
  if (status.details() != nullptr) {
    FillDetails(*status.details(), body);
  }
}

}  // namespace

void AppendVarint(std::string& out, std::size_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80U);
    value >>= 7U;
  }
  out += static_cast<char>(value);
}

void AppendObjectJson(const Shown& shown, std::string& out) {
  AnyDraft hold;
  const void* const root = ServedRoot(shown, hold);
  schema::EncodeJson(*shown.resource->info->type, root, out, OptionsOf(shown));
}

void AppendObjectProtobuf(const Shown& shown, std::string& out) {
  std::string raw;
  AppendItemProtobuf(shown, raw);
  schema::EncodeEnvelope({.api_version = shown.resource->info->api_version,
                          .kind = shown.resource->info->kind,
                          .raw = raw},
                         out);
}

void AppendItemJson(const Shown& shown, std::string& out) {
  AnyDraft hold;
  const schema::TypeDesc& type = *shown.resource->info->type;
  const BareCopy bare(type, ServedRoot(shown, hold));
  schema::EncodeJson(
      type, bare.root(), out, {.revision = shown.revision, .kind = {}, .api_version = {}});
}

void AppendItemProtobuf(const Shown& shown, std::string& out) {
  AnyDraft hold;
  const void* const root = ServedRoot(shown, hold);
  schema::EncodeProtobuf(*shown.resource->info->type,
                         root,
                         out,
                         {.revision = shown.revision, .kind = {}, .api_version = {}});
}

std::shared_ptr<const std::string> SharedWire(const Resource& resource,
                                              const store::Entry& entry,
                                              Format format) {
  const bool shareable = resource.conversion == nullptr;
  const std::size_t slot = format == Format::kJson ? kJsonSlot : kProtobufSlot;
  if (shareable) {
    if (auto made = entry.Attached(slot)) {
      return std::static_pointer_cast<const std::string>(std::move(made));
    }
  }
  auto text = std::make_shared<std::string>();
  if (format == Format::kProtobuf && shareable) {
    AppendRecordEnvelope(
        *resource.info, *entry.value().As<schema::Object>(), entry.revision(), *text);
  } else {
    base::Result<AnyView> view = ViewOf(entry);
    if (!view) {
      return nullptr;
    }
    const Shown shown{&resource, *std::move(view), entry.revision()};
    if (format == Format::kJson) {
      text->reserve(1024);
      AppendObjectJson(shown, *text);
    } else {
      AppendObjectProtobuf(shown, *text);
    }
  }
  if (!shareable) {
    return text;
  }
  return std::static_pointer_cast<const std::string>(entry.Attach(slot, std::move(text)));
}

bool AppendEntryItemProtobuf(const Resource& resource,
                             const store::Entry& entry,
                             std::string& out) {
  if (resource.conversion == nullptr) {
    AppendRecordProtobuf(*entry.value().As<schema::Object>(), entry.revision(), out);
    return true;
  }
  base::Result<AnyView> view = ViewOf(entry);
  if (view) {
    AppendItemProtobuf({&resource, *std::move(view), entry.revision()}, out);
  }
  return view.has_value();
}

void AppendPartial(const Shown& shown, Format format, std::string& out) {
  const api::meta::PartialObjectMetadata partial = PartialOf(shown);
  const schema::TypeDesc& type = api::Desc<api::meta::PartialObjectMetadata>();
  if (format == Format::kProtobuf) {
    std::string raw;
    AppendPartialItem(shown, raw);
    schema::EncodeEnvelope({.api_version = partial.api_version, .kind = partial.kind, .raw = raw},
                           out);
    return;
  }
  schema::EncodeJson(
      type,
      &partial,
      out,
      {.revision = shown.revision, .kind = partial.kind, .api_version = partial.api_version});
}

void AppendPartialItem(const Shown& shown, std::string& out) {
  const api::meta::PartialObjectMetadata partial = PartialOf(shown);
  schema::EncodeProtobuf(api::Desc<api::meta::PartialObjectMetadata>(),
                         &partial,
                         out,
                         {.revision = shown.revision, .kind = {}, .api_version = {}});
}

void AppendTableColumns(const Resource& resource, std::string& out) {
  const TablePrinter* const printer = FindPrinter(*resource.info->type);
  out += '[';
  for (const Column& column : printer != nullptr ? printer->columns : GenericColumns()) {
    AppendJsonComma(out);
    out += "{\"name\":";
    AppendJsonString(out, column.name);
    out += fmt::format(
        ",\"type\":\"{}\",\"format\":\"{}\",\"description\":", column.type, column.format);
    AppendJsonString(out, column.description);
    out += fmt::format(",\"priority\":{}}}", column.priority);
  }
  out += ']';
}

void AppendTableRow(const Shown& shown, IncludeObject include, std::int64_t now, std::string& out) {
  const TablePrinter* const printer = FindPrinter(*shown.resource->info->type);
  out += "{\"cells\":[";
  CellWriter writer(out, now);
  if (printer != nullptr) {
    AnyDraft hold;
    printer->cells(ServedRoot(shown, hold), writer);
  } else {
    GenericCells(MetadataOf(shown.resource->stored_type(), shown.view.get()), writer);
  }
  out += ']';
  if (!writer.conditions().empty()) {
    out += fmt::format(",\"conditions\":[{}]", writer.conditions());
  }
  if (include == IncludeObject::kMetadata) {
    out += ",\"object\":";
    AppendPartial(shown, Format::kJson, out);
  } else if (include == IncludeObject::kObject) {
    out += ",\"object\":";
    AppendObjectJson(shown, out);
  } else {
    out += ",\"object\":null";
  }
  out += '}';
}

void AppendTable(const Resource& resource,
                 std::string_view list_metadata,
                 bool columns,
                 std::string_view rows,
                 std::string& out) {
  out += R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":)";
  out += list_metadata;
  out += ",\"columnDefinitions\":";
  if (columns) {
    AppendTableColumns(resource, out);
  } else {
    out += "[]";
  }
  out += ",\"rows\":[";
  out += rows;
  out += "]}";
}

std::string EncodeObject(const Shown& shown,
                         const MediaChoice& choice,
                         IncludeObject include,
                         std::int64_t now) {
  std::string out;
  if (choice.format == Format::kProtobuf) {
    if (choice.shape == Shape::kPartial) {
      AppendPartial(shown, Format::kProtobuf, out);
    } else {
      AppendObjectProtobuf(shown, out);
    }
    return out;
  }
  if (choice.shape == Shape::kTable) {
    std::string row;
    AppendTableRow(shown, include, now, row);
    AppendTable(*shown.resource,
                fmt::format(R"({{"resourceVersion":"{}"}})", shown.revision),
                /*columns=*/true,
                row,
                out);
  } else if (choice.shape == Shape::kPartial) {
    AppendPartial(shown, Format::kJson, out);
  } else {
    AppendObjectJson(shown, out);
  }
  return FinishJson(std::move(out), choice);
}

std::string EncodeStatus(const base::Status& status, const MediaChoice& choice) {
  StatusBody body;
  FillStatus(status, body);
  return EncodeStatusBody(body, choice);
}

std::string StatusJson(const base::Status& status) {
  std::string out = EncodeStatus(status, MediaChoice{});
  while (!out.empty() && out.back() == '\n') {
    out.pop_back();
  }
  return out;
}

std::string EncodeSuccess(const base::StatusDetails* details, int code, const MediaChoice& choice) {
  StatusBody body;
  body.root.kind = "Status";
  body.root.api_version = "v1";
  body.root.status = "Success";
  body.root.code = code;
  if (details != nullptr) {
    FillDetails(*details, body);
  }
  return EncodeStatusBody(body, choice);
}

std::string FinishJson(std::string json, const MediaChoice& choice) {
  if (choice.format == Format::kYaml) {
    const base::Result<text::Value> value = text::ParseJson(json);
    return value ? text::ToYaml(*value) : json;
  }
  if (choice.pretty) {
    return PrettyJson(json);
  }
  json += '\n';
  return json;
}

}  // namespace allot::apiserver
