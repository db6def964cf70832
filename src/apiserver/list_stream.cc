#include "apiserver/list_stream.h"

#include <utility>

#include <fmt/format.h>

#include "apiserver/continue_token.h"
#include "apiserver/json_text.h"
#include "net/gzip.h"
#include "schema/codec.h"

namespace allot::apiserver {
namespace {

constexpr std::size_t kPieceBytes = 192U << 10U;
constexpr std::size_t kLowWater = 64U << 10U;

/// Where the items come from: a page that was selected before, or a walk over the snapshot.
class ItemSource {
 public:
  explicit ItemSource(ListPlan plan) : plan_(std::move(plan)) {
    if (plan_.limit > 0) {
      page_ = SelectEntries(plan_, next_key_);
      return;
    }
    const std::optional<std::string> only = plan_.filter.OnlyKey();
    const std::string& from = plan_.start.empty() ? plan_.filter.key_prefix() : plan_.start;
    cursor_ = plan_.snapshot.Seek(only ? *only : from);
    only_one_ = only.has_value();
  }

  /// Null at the end. Lifetime: the source.
  const store::Entry* Next() {
    if (!cursor_) {
      return at_ < page_.size() ? page_[at_++].get() : nullptr;
    }
    while (cursor_->valid() && !ended_) {
      const store::Entry* const entry = &**cursor_;
      if (!entry->key().starts_with(plan_.filter.key_prefix())) {
        break;
      }
      cursor_->Next();
      ended_ = only_one_;
      if (plan_.filter.Matches(*entry)) {
        return entry;
      }
    }
    return nullptr;
  }

  /// The list's metadata as JSON, and the same in parts.
  [[nodiscard]] std::string Continue() const {
    if (next_key_.empty()) {
      return {};
    }
    return ContinueToken{plan_.snapshot.revision(), next_key_}.Encode();
  }
  [[nodiscard]] std::optional<std::int64_t> Remaining() const {
    if (next_key_.empty() || !plan_.count_rest) {
      return std::nullopt;
    }
    return static_cast<std::int64_t>(
        plan_.snapshot.Count(next_key_, store::PrefixEnd(plan_.filter.key_prefix())));
  }
  [[nodiscard]] store::Revision revision() const { return plan_.snapshot.revision(); }
  [[nodiscard]] std::int64_t now() const { return plan_.now; }

 private:
  ListPlan plan_;
  std::vector<base::Ref<const store::Entry>> page_;
  std::size_t at_ = 0;
  std::string next_key_;
  std::optional<store::Cursor> cursor_;
  bool only_one_ = false;
  bool ended_ = false;
};

std::string ListMetadataJson(const ItemSource& source) {
  std::string out = fmt::format("{{\"resourceVersion\":\"{}\"", source.revision());
  if (const std::string token = source.Continue(); !token.empty()) {
    out += ",\"continue\":";
    AppendJsonString(out, token);
  }
  if (const auto remaining = source.Remaining()) {
    out += fmt::format(",\"remainingItemCount\":{}", *remaining);
  }
  return out + "}";
}

/// Appends the field with this number and these bytes.
void AppendField(std::string& out, unsigned number, std::string_view bytes) {
  out += static_cast<char>(number << 3U | 2U);
  std::size_t size = bytes.size();
  while (size >= 0x80) {
    out += static_cast<char>(size | 0x80U);
    size >>= 7U;
  }
  out += static_cast<char>(size);
  out += bytes;
}

/// A protobuf list: ListMeta = 1, items = 2, in the envelope.
std::string ProtobufList(const Exchange& exchange, ItemSource& source) {
  api::meta::ListMeta meta;
  const std::string revision = fmt::format("{}", source.revision());
  const std::string token = source.Continue();
  const std::optional<std::int64_t> remaining = source.Remaining();
  meta.resource_version = revision;
  meta.continue_ = token;
  meta.remaining_item_count = remaining ? &*remaining : nullptr;
  std::string meta_bytes;
  schema::EncodeProtobuf(api::Desc<api::meta::ListMeta>(), &meta, meta_bytes);
  std::string raw;
  AppendField(raw, 1, meta_bytes);
  const bool partial = exchange.choice.shape != Shape::kObject;
  std::string item;
  while (const store::Entry* const entry = source.Next()) {
    item.clear();
    if (partial) {
      base::Result<AnyView> view = ViewOf(*entry);
      if (!view) {
        continue;
      }
      AppendPartialItem({exchange.resource, *std::move(view), entry->revision()}, item);
    } else if (!AppendEntryItemProtobuf(*exchange.resource, *entry, item)) {
      continue;
    }
    AppendField(raw, 2, item);
  }
  const api::KindInfo& info = *exchange.resource->info;
  std::string out;
  schema::EncodeEnvelope(
      {.api_version = partial ? std::string_view("meta.k8s.io/v1") : info.api_version,
       .kind = partial ? std::string_view("PartialObjectMetadataList") : info.list_kind,
       .raw = raw},
      out);
  return out;
}

/// A JSON list, a table or partial metadata, written in pieces.
class JsonList : public std::enable_shared_from_this<JsonList> {
 public:
  JsonList(ExchangeRef exchange, ListPlan plan)
      : exchange_(std::move(exchange)), source_(std::move(plan)) {}

  void Begin() {
    buffer_.reserve(kPieceBytes + 8192);
    Head();
    const bool done = Fill();
    const bool whole = exchange_->choice.pretty || exchange_->choice.format == Format::kYaml;
    if (done || whole) {
      while (!done && whole && !Fill(/*limit=*/std::string::npos)) {
      }
      Tail();
      exchange_->SendEncoded(200, FinishJson(std::move(buffer_), exchange_->choice));
      return;
    }
    gzip_ = net::HasToken(exchange_->request->headers.Get("accept-encoding"), "gzip");
    net::HeaderList headers = exchange_->Headers(MimeType(exchange_->choice.format));
    if (gzip_) {
      headers.Add("content-encoding", "gzip");
      headers.Add("vary", "Accept-Encoding");
    }
    exchange_->code = 200;
    exchange_->writer->SendHeaders(200, headers);
    Flush();
    Later();
  }

 private:
  [[nodiscard]] bool IsTable() const { return exchange_->choice.shape == Shape::kTable; }
  [[nodiscard]] bool IsPartial() const {
    return exchange_->choice.shape == Shape::kPartial ||
           exchange_->choice.shape == Shape::kPartialList;
  }

  void Head() {
    const std::string meta = ListMetadataJson(source_);
    if (IsTable()) {
      buffer_ += R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":)" + meta;
      buffer_ += ",\"columnDefinitions\":";
      AppendTableColumns(*exchange_->resource, buffer_);
      buffer_ += ",\"rows\":[";
      return;
    }
    const api::KindInfo& info = *exchange_->resource->info;
    buffer_ +=
        fmt::format(R"({{"kind":"{}","apiVersion":"{}","metadata":{},"items":[)",
                    IsPartial() ? std::string_view("PartialObjectMetadataList") : info.list_kind,
                    IsPartial() ? std::string_view("meta.k8s.io/v1") : info.api_version,
                    meta);
  }

  void Tail() { buffer_ += "]}"; }

  /// Adds items until the piece is full; true when there are no more.
  bool Fill(std::size_t limit = kPieceBytes) {
    while (buffer_.size() < limit) {
      const store::Entry* const entry = source_.Next();
      if (entry == nullptr) {
        return true;
      }
      base::Result<AnyView> view = ViewOf(*entry);
      if (!view) {
        continue;
      }
      if (!std::exchange(first_, false)) {
        buffer_ += ',';
      }
      const Shown shown{exchange_->resource, *std::move(view), entry->revision()};
      if (IsTable()) {
        AppendTableRow(shown, exchange_->include, source_.now(), buffer_);
      } else if (IsPartial()) {
        AppendPartial(shown, Format::kJson, buffer_);
      } else {
        AppendItemJson(shown, buffer_);
      }
    }
    return false;
  }

  void Flush() {
    // A gzip stream may consist of several members, so each piece is one.
    exchange_->writer->Write(net::Bytes(gzip_ ? net::GzipLevel1(buffer_) : buffer_));
    buffer_.clear();
  }

  void Later() {
    exchange_->writer->OnWritable(kLowWater, [self = shared_from_this()] { self->Next(); });
  }

  void Next() {
    const bool done = Fill();
    if (done) {
      Tail();
      buffer_ += '\n';
    }
    Flush();
    if (done) {
      exchange_->writer->End();
    } else {
      Later();
    }
  }

  ExchangeRef exchange_;
  ItemSource source_;
  std::string buffer_;
  bool first_ = true;
  bool gzip_ = false;
};

}  // namespace

std::vector<base::Ref<const store::Entry>> SelectEntries(const ListPlan& plan, std::string& next) {
  std::vector<base::Ref<const store::Entry>> out;
  const std::string& prefix = plan.filter.key_prefix();
  store::Cursor at = plan.snapshot.Seek(plan.start.empty() ? prefix : plan.start);
  next.clear();
  for (; at.valid() && at->key().starts_with(prefix); at.Next()) {
    if (!plan.filter.Matches(*at)) {
      continue;
    }
    if (plan.limit > 0 && static_cast<std::int64_t>(out.size()) == plan.limit) {
      next = at->key();
      break;
    }
    out.push_back(at.ref());
  }
  return out;
}

void AnswerList(const ExchangeRef& exchange, ListPlan plan) {
  if (exchange->choice.format == Format::kProtobuf) {
    ItemSource source(std::move(plan));
    exchange->SendEncoded(200, ProtobufList(*exchange, source));
    return;
  }
  std::make_shared<JsonList>(exchange, std::move(plan))->Begin();
}

}  // namespace allot::apiserver
