// Wire forms: objects, Status, Table and PartialObjectMetadata as JSON, YAML and protobuf bytes.
//
// The JSON and protobuf form of a stored entry is made once and hung on the entry, so that the
// answer of its writer, all watchers and readers of that format share it. Thread safety: free
// functions; shared forms are immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "api/meta/v1.gen.h"
#include "apiserver/any_object.h"
#include "apiserver/negotiate.h"
#include "apiserver/resources.h"
#include "base/status.h"
#include "net/bytes.h"
#include "store/entry.h"

namespace allot::apiserver {

/// What stands in the `object` of a table row.
enum class IncludeObject : std::uint8_t { kMetadata, kObject, kNone };

/// An object about to be encoded: a view in the stored type and its revision.
struct Shown {
  const Resource* resource = nullptr;  ///< as served
  AnyView view;
  store::Revision revision = 0;
};

/// The compact JSON of an object in its served version.
void AppendObjectJson(const Shown& shown, std::string& out);
/// The protobuf of an object in its served version, with the k8s envelope.
void AppendObjectProtobuf(const Shown& shown, std::string& out);
/// As AppendObjectJson for an item of a typed list: without kind and apiVersion.
void AppendItemJson(const Shown& shown, std::string& out);
/// The protobuf message of an item, without envelope.
void AppendItemProtobuf(const Shown& shown, std::string& out);
/// The same for a stored entry at its own revision, without decoding it where the served kind is
/// the stored one. False when the record is damaged.
bool AppendEntryItemProtobuf(const Resource& resource, const store::Entry& entry, std::string& out);
/// The shared JSON or protobuf form of an entry at its own revision. Null when the record is
/// damaged. REQUIRES: format is not YAML.
[[nodiscard]] std::shared_ptr<const std::string> SharedWire(const Resource& resource,
                                                            const store::Entry& entry,
                                                            Format format);

/// A protobuf varint.
void AppendVarint(std::string& out, std::size_t value);

/// PartialObjectMetadata of an object as JSON or with envelope as protobuf.
void AppendPartial(const Shown& shown, Format format, std::string& out);
/// The protobuf message of a PartialObjectMetadata, without envelope.
void AppendPartialItem(const Shown& shown, std::string& out);

/// `{"cells":[...],"conditions":[...],"object":...}` of one row.
void AppendTableRow(const Shown& shown, IncludeObject include, std::int64_t now, std::string& out);
/// `[{"name":...},...]`.
void AppendTableColumns(const Resource& resource, std::string& out);
/// A whole Table around ready rows; `columns` is left empty on later events of a watch.
void AppendTable(const Resource& resource,
                 std::string_view list_metadata,
                 bool columns,
                 std::string_view rows,
                 std::string& out);

/// One object in the form the client chose (no list shapes).
[[nodiscard]] std::string EncodeObject(const Shown& shown,
                                       const MediaChoice& choice,
                                       IncludeObject include,
                                       std::int64_t now);

/// metav1.Status of an error.
[[nodiscard]] std::string EncodeStatus(const base::Status& status, const MediaChoice& choice);
/// metav1.Status of an error as compact JSON.
[[nodiscard]] std::string StatusJson(const base::Status& status);
/// The Success status of a delete or a binding; details are left out when `details` is null.
[[nodiscard]] std::string EncodeSuccess(const base::StatusDetails* details,
                                        int code,
                                        const MediaChoice& choice);

/// Turns compact JSON into the client's text form (YAML, indented).
[[nodiscard]] std::string FinishJson(std::string json, const MediaChoice& choice);

}  // namespace allot::apiserver
