// Explainer: the parts of a node's diagnosis. Internal to the module.
//
// A request's funnel runs its devices through one test after the other; the test that takes it
// below what it wants is to blame. Only when every request has enough devices alone are they looked
// at together: constraint by constraint, then by searching for one change that makes the pod fit.
// Thread safety: as the search.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "allocator/diagnosis.h"
#include "allocator/references.h"
#include "allocator/search.h"

namespace allot::allocator {

class Explainer {
 public:
  /// REQUIRES: search.Begin(problem) was true when Requests and Together are called.
  Explainer(const inventory::Inventory& inventory,
            Search& search,
            const Problem& problem,
            NodeDiagnosis& out)
      : inventory_(inventory), search_(search), problem_(problem), out_(out) {}

  /// Incomplete and invalid pools, or that there are none.
  void Pools();
  /// The funnels, and what each request lacks alone.
  void Requests();
  /// Constraints and combinations, when no request is to blame alone.
  void Together();
  /// Sets the hint of the most telling cause to a single change after which the pod fits, if there
  /// is one. The search holds another problem afterwards.
  void SmallestChange(const Limits& limits);
  void Add(Cause cause);

 private:
  using Candidates = std::vector<Candidate>;
  // What the funnel of a request left behind.
  struct Left {
    const PreparedRequest* request = nullptr;
    std::int64_t wanted = 0;
    Candidates devices;
  };
  // The devices before the stage that is to blame, for closer looks.
  struct Suspect {
    CauseKind kind{};
    Candidates before;
    FunnelStage stage;
  };

  void Funnel(const PreparedRequest& request);
  template <typename Passes, typename Why>
  void Stage(CauseKind kind, Candidates& left, RequestFunnel& funnel, Passes passes, Why why);
  [[nodiscard]] bool Lacks(const PreparedRequest& request,
                           const RequestFunnel& funnel,
                           const FunnelStage& stage) const;
  void SelectorStages(const PreparedRequest& request, Candidates& left, RequestFunnel& funnel);
  void StateStages(const PreparedRequest& request, Candidates& left, RequestFunnel& funnel);
  void CounterStages(const PreparedRequest& request, Candidates& left, RequestFunnel& funnel);
  void Blame(const PreparedRequest& request, const RequestFunnel& funnel);
  void BlameClass(const PreparedRequest& request, const RequestFunnel& funnel);
  [[nodiscard]] bool GateHidesSlices(const inventory::PoolView& pool) const;
  [[nodiscard]] bool InUnusablePool(const PreparedRequest& request);
  [[nodiscard]] bool BlameOtherNodes(const PreparedRequest& request);
  void BlameSelector(const PreparedRequest& request);
  [[nodiscard]] bool BlameReferences(const PreparedRequest& request, std::string_view expression);
  void BlameAttributes(const PreparedRequest& request);
  void AddMissing(const PreparedRequest& request,
                  const Reference& reference,
                  const std::string& spelled);
  [[nodiscard]] std::string HintFor(const PreparedRequest& request,
                                    const RequestFunnel& funnel) const;
  void ConstraintTogether(const PreparedClaim& claim, std::size_t index, std::size_t ordinal);

  [[nodiscard]] Candidates Published() const;
  [[nodiscard]] std::vector<std::string_view> Expressions(const PreparedRequest& request,
                                                          bool of_class) const;
  [[nodiscard]] bool Passes(std::string_view expression, const inventory::Device& device);
  [[nodiscard]] bool ClassPasses(const PreparedRequest& request, const inventory::Device& device);
  [[nodiscard]] bool HasAttributes(const PreparedRequest& request, const inventory::Device& device);
  [[nodiscard]] std::string Subject(const PreparedRequest& request) const;
  [[nodiscard]] std::string TaintText(const PreparedRequest& request,
                                      const inventory::Device& device) const;
  [[nodiscard]] std::string TaintsText(const PreparedRequest& request) const;
  [[nodiscard]] std::string HolderText(const inventory::Device& device) const;
  [[nodiscard]] std::string HoldersText(const PreparedRequest& request) const;
  [[nodiscard]] std::string CapacityText(const PreparedRequest& request,
                                         const inventory::Device& device) const;
  [[nodiscard]] std::string CounterText(const Candidate& candidate);
  [[nodiscard]] bool CountersOfRequest(const Left& left);
  [[nodiscard]] bool NamesDiffer(const PreparedRequest& request,
                                 const PreparedConstraint& constraint,
                                 const std::string& spelled);

  const inventory::Inventory& inventory_;
  Search& search_;
  const Problem& problem_;
  NodeDiagnosis& out_;
  std::vector<Left> left_;  // of requests that have enough alone
  Suspect suspect_;
  bool has_suspect_ = false;
  bool failed_ = false;  // an expression of the request failed on a device
};

/// driver/pool/device.
[[nodiscard]] std::string DeviceName(const inventory::Device& device);

/// What helps when an expression fails so.
[[nodiscard]] std::string SelectorAdvice(std::string_view error);

/// A single change of the claims, or of the cluster, after which the pod fits on the node; empty
/// when none of those tried does. Cost: up to a few hundred searches.
[[nodiscard]] std::string ChangeThatFits(Search& search,
                                         const Problem& problem,
                                         const Limits& limits);

}  // namespace allot::allocator
