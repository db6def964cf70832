// Wire: what an API server's answers, lists and watches look like as bytes, in JSON and protobuf.
// Thread safety: values and free functions; a WatchSplitter belongs to one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "client/client.h"

namespace allot::client {

enum class Format : std::uint8_t { kJson, kProtobuf };

inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";
inline constexpr std::string_view kJsonType = "application/json";

/// The form a Content-Type names; anything but protobuf counts as JSON.
[[nodiscard]] Format FormatOf(std::string_view content_type);
/// "v1" or "group/version".
[[nodiscard]] std::string ApiVersionOf(std::string_view group, std::string_view version);

/// Encodes the body of a create or update with kind and apiVersion, and `revision` (when not 0) as
/// metadata.resourceVersion.
[[nodiscard]] std::string EncodeBody(const schema::TypeDesc& type,
                                     const void* root,
                                     Revision revision,
                                     Format format);

/// Decodes one object of an answer: record and typed view. An empty item when the answer is a
/// Status. Errors: kInternalError when the bytes are not such an object.
[[nodiscard]] base::Result<Item> DecodeItem(const schema::TypeDesc& type,
                                            std::string_view bytes,
                                            Format format);

/// Decodes a list of objects of `type`. Errors: as DecodeItem.
[[nodiscard]] base::Result<ListAnswer> DecodeList(const schema::TypeDesc& type,
                                                  std::string_view bytes,
                                                  Format format);

/// The Status of an error answer in either form; made from code and text when it holds none.
[[nodiscard]] base::Status DecodeStatus(int code, std::string_view bytes);

/// Cuts the bytes of a watch into events: lines of JSON, or protobuf messages after their length.
class WatchSplitter {
 public:
  WatchSplitter(const schema::TypeDesc& type, Format format) : type_(type), format_(format) {}

  /// Appends the events that `data` completes. Errors: the Status of an ERROR event (kExpired: list
  /// again), or kInternalError for bytes that are no watch; the events before it are appended.
  [[nodiscard]] base::Result<void> Feed(std::string_view data, std::vector<WatchEvent>& events);

 private:
  base::Result<void> AddEvent(std::string_view frame, std::vector<WatchEvent>& events);

  const schema::TypeDesc& type_;
  Format format_;
  std::string rest_;
};

}  // namespace allot::client
