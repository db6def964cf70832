// ResourceClaimController: makes claims from templates and gives claims back that nobody uses any
// more.
//
// For pods: one claim per template entry (found again when it was made but not recorded), recorded
// in status.resourceClaimStatuses; reservations for pods that came with a node name. For claims:
// users that are gone or done leave reservedFor; with the last one the allocation and the finalizer
// go; a generated claim whose pod is done is deleted. Thread safety: the loop's thread. See:
// KEP-4381, KEP-3063.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "client/event_recorder.h"
#include "client/typed.h"
#include "controllers/context.h"

namespace allot::api {
namespace core {
struct PodResourceClaim;
}
namespace resource {
struct ResourceClaimConsumerReference;
struct ResourceClaimTemplate;
}  // namespace resource
}  // namespace allot::api

namespace allot::controllers {

class ResourceClaimController final : public Controller {
 public:
  explicit ResourceClaimController(Context& context);

  /// Work counters.
  [[nodiscard]] const client::WorkQueue& queue() const { return queue_; }

 private:
  using Pod = api::core::Pod;
  using Claim = api::resource::ResourceClaim;
  using NewClaims = std::map<std::string, std::string, std::less<>>;  // entry -> claim name

  /// The last deleted pods by uid: their reservations go without asking the server.
  class DeletedUids {
   public:
    void Add(std::string_view uid);
    [[nodiscard]] bool Has(std::string_view uid) const { return set_.contains(std::string(uid)); }

   private:
    static constexpr std::size_t kLimit = 500;
    std::deque<std::string> order_;
    std::unordered_set<std::string> set_;
  };

  void OnPods(std::span<const client::Change> changes);
  void OnClaims(std::span<const client::Change> changes);
  void OnTemplates(std::span<const client::Change> changes);
  void EnqueuePod(const Pod& pod, bool deleted);
  [[nodiscard]] bool NeedsWork(const Pod& pod) const;
  [[nodiscard]] bool MayNeedSync(const Claim& claim) const;

  base::Result<void> Sync(const std::string& key);
  base::Result<void> SyncPod(std::string_view ns, std::string_view name);
  base::Result<void> HandleEntry(const client::Typed<Pod>& pod,
                                 const api::core::PodResourceClaim& entry,
                                 NewClaims& made);
  [[nodiscard]] base::Result<bool> ClaimExists(const Pod& pod,
                                               std::string_view name,
                                               bool generated) const;
  [[nodiscard]] std::string FindOrphan(const Pod& pod, std::string_view entry) const;
  base::Result<std::string> CreateClaim(const client::Typed<Pod>& pod,
                                        const api::core::PodResourceClaim& entry);
  base::Result<void> RecordClaims(const client::Typed<Pod>& pod, const NewClaims& made);
  /// Writes the whole status, which costs less than a patch where no bytes travel. False: it
  /// changed.
  base::Result<bool> RecordInPlace(const client::Typed<Pod>& pod, const NewClaims& made);
  base::Result<void> ReserveBound(const Pod& pod);

  base::Result<void> SyncClaim(std::string_view ns, std::string_view name);
  [[nodiscard]] base::Result<bool> StillUses(
      std::string_view ns, const api::resource::ResourceClaimConsumerReference& user) const;
  base::Result<client::Typed<Claim>> DropUsers(
      client::Typed<Claim> claim,
      const std::vector<api::resource::ResourceClaimConsumerReference>& left);
  base::Result<void> DeleteUnused(const client::Typed<Claim>& claim);
  base::Result<client::Typed<Claim>> RemoveFinalizer(const client::Typed<Claim>& claim);
  void CountClaim(const Claim& claim, int by);
  void CountCreate(const Claim& claim, std::string_view status);

  [[nodiscard]] client::Typed<Claim> FindClaim(std::string_view ns, std::string_view name) const;
  [[nodiscard]] client::Typed<Pod> FindPod(std::string_view ns, std::string_view name) const;

  Context& context_;
  client::Informer& pods_;
  client::Informer& claims_;
  client::Informer& templates_;
  int pods_by_claim_;
  int pods_by_template_;
  int claims_by_owner_;
  client::WorkQueue queue_;
  client::EventRecorder recorder_;
  DeletedUids deleted_;
  std::unordered_set<std::string> done_;  ///< pods that still exist but will not run any more
  /// Claims made here that the informer does not show yet: "POD_UID/ENTRY" -> name.
  std::unordered_map<std::string, std::string> made_;
  /// What each known claim counts as in the gauge, by uid.
  std::unordered_map<std::string, telemetry::Gauge*> counted_;
  std::array<telemetry::Gauge*, 12> gauges_{};  ///< by source, allocated, admin access
  client::Typed<api::resource::ResourceClaimTemplate> last_template_;
};

/// The base of the generated name; the server adds five characters. The parts of a long one are cut
/// in proportion to their length.
[[nodiscard]] std::string GenerateClaimName(std::string_view pod, std::string_view entry);

}  // namespace allot::controllers
