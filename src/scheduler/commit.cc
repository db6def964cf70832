#include "scheduler/commit.h"

#include <utility>

#include <fmt/format.h>

#include "api/object_key.h"
#include "api/pod_claims.h"
#include "schema/codec.h"

namespace allot::scheduler {
namespace {

using api::resource::AllocationResult;
using api::resource::ResourceClaim;
using api::resource::ResourceClaimConsumerReference;
using client::Typed;

constexpr int kTries = 5;

client::WriteOptions Chained(client::Revision revision) {
  client::WriteOptions options;
  options.ack = client::Ack::kSequenced;
  options.preconditions.revision = revision;
  return options;
}

schema::View<AllocationResult> Kept(const CommitJob& job) {
  return {job.memory, nullptr};
}

void FillStatus(const CommitJob& job,
                const AllocationResult* allocation,
                schema::Draft<ResourceClaim>& draft) {
  if (allocation != nullptr) {
    auto* const copy = draft.arena().New<AllocationResult>(*allocation);
    draft.KeepAlive(Kept(job));
    draft->status.allocation = copy;
  }
  if (job.stamp && draft->status.allocation != nullptr &&
      draft->status.allocation->allocation_timestamp == nullptr) {
    draft.Set(draft.Mutable(draft->status.allocation).allocation_timestamp, job.now);
  }
  ResourceClaimConsumerReference user;
  user.resource = "pods";
  user.name = draft.Copy(job.name);
  user.uid = draft.Copy(job.uid);
  draft.Append(draft->status.reserved_for, user);
}

/// One attempt with what we know of the claim.
base::Result<Typed<ResourceClaim>> WriteOnce(client::Client& client,
                                             const CommitJob& job,
                                             Typed<ResourceClaim> claim,
                                             const AllocationResult* allocation) {
  if (allocation != nullptr && !api::HasFinalizer(claim->metadata, api::kClaimFinalizer)) {
    // The status may not be written together with metadata, and must not come first: a claim
    // without the finalizer could go while its devices are in use.
    schema::Draft<ResourceClaim> draft(claim.view);
    draft.Append(draft->metadata.finalizers, api::kClaimFinalizer);
    auto updated = client::Update(client, draft, Chained(claim.revision()));
    if (!updated) {
      return base::Error(std::move(updated).error().Prepend(
          fmt::format("add finalizer to claim {}: ", api::KeyOf(claim->metadata))));
    }
    claim = *std::move(updated);
  }
  schema::Draft<ResourceClaim> draft(claim.view);
  FillStatus(job, allocation, draft);
  auto updated = client::UpdateStatus(client, draft, Chained(claim.revision()));
  if (!updated) {
    return base::Error(std::move(updated).error().Prepend(
        fmt::format("{} to claim {}: ",
                    allocation != nullptr ? "add allocation and reservation" : "add reservation",
                    api::KeyOf(claim->metadata))));
  }
  return updated;
}

base::Result<Typed<ResourceClaim>> WriteClaim(client::Client& client,
                                              const CommitJob& job,
                                              const ClaimWrite& write) {
  Typed<ResourceClaim> claim = write.claim;
  for (int attempt = 1;; ++attempt) {
    const AllocationResult* allocation = write.allocation;
    if (claim->metadata.deletion_timestamp != nullptr) {
      return base::Error(
          base::Reason::kConflict,
          fmt::format("claim {} got deleted in the meantime", api::KeyOf(claim->metadata)));
    }
    const AllocationResult* const present = claim->status.allocation;
    if (allocation != nullptr && present != nullptr) {
      // Another pod of the same claim may have written the very same answer.
      const auto& type = api::Desc<api::resource::DeviceAllocationResult>();
      if (!schema::SemanticEqual(type, &allocation->devices, &present->devices)) {
        return base::Error(base::Reason::kConflict,
                           fmt::format("claim {} got allocated elsewhere in the meantime",
                                       api::KeyOf(claim->metadata)));
      }
      allocation = nullptr;
    }
    if (allocation == nullptr && present == nullptr) {
      return base::Error(base::Reason::kConflict,
                         fmt::format("claim {} got deallocated elsewhere in the meantime",
                                     api::KeyOf(claim->metadata)));
    }
    if (present != nullptr && api::IsReservedFor(*claim, job.uid)) {
      return claim;
    }
    auto written = WriteOnce(client, job, claim, allocation);
    if (written || written.error().reason() != base::Reason::kConflict || attempt == kTries) {
      return written;
    }
    auto live =
        client::Get<ResourceClaim>(client, claim->metadata.namespace_, claim->metadata.name);
    if (!live) {
      return base::Error(std::move(live).error().Prepend(
          fmt::format("get updated claim {} after conflict: ", api::KeyOf(claim->metadata))));
    }
    if ((*live)->metadata.uid != claim->metadata.uid) {
      return base::Error(
          base::Reason::kConflict,
          fmt::format("claim {} got deleted in the meantime", api::KeyOf(claim->metadata)));
    }
    claim = *std::move(live);
  }
}

base::Result<void> WriteExtended(client::Client& client,
                                 const CommitJob& job,
                                 CommitOutcome& outcome) {
  schema::Draft<ResourceClaim> draft;
  draft.KeepAlive(Kept(job));
  draft->metadata = job.extended.claim->metadata;
  draft->spec = job.extended.claim->spec;
  draft->metadata.name = {};
  draft->metadata.uid = {};
  draft->metadata.namespace_ = draft.Copy(job.ns);
  draft->metadata.generate_name = draft.Copy(job.name + "-extended-resources-");
  draft.Put(draft->metadata.annotations, api::kExtendedClaimAnnotation, schema::Str("true"));
  draft->metadata.finalizers = {};
  draft.Append(draft->metadata.finalizers, api::kClaimFinalizer);
  api::meta::OwnerReference owner;
  owner.api_version = "v1";
  owner.kind = "Pod";
  owner.name = draft.Copy(job.name);
  owner.uid = draft.Copy(job.uid);
  draft.Set(owner.controller, true);
  draft->metadata.owner_references = {};
  draft.Append(draft->metadata.owner_references, owner);
  auto created = client::Create(client, draft, Chained(0));
  if (!created) {
    return base::Error(std::move(created).error().Prepend(
        fmt::format("create claim for extended resources {}/: ", job.ns)));
  }
  outcome.extended_name = created->object->name();
  ALLOT_ASSIGN_OR_RETURN(const auto written,
                         WriteOnce(client, job, *created, job.extended.allocation));
  outcome.written.push_back({written.object, client::ToAny(written.view)});
  std::string patch = fmt::format(
      R"({{"metadata":{{"uid":"{}"}},"status":{{"extendedResourceClaimStatus":{{"resourceClaimName":"{}","requestMappings":[)",
      job.uid,
      outcome.extended_name);
  bool first = true;
  for (const auto& mapping : job.extended.mappings) {
    fmt::format_to(std::back_inserter(patch),
                   R"({}{{"containerName":"{}","resourceName":"{}","requestName":"{}"}})",
                   first ? "" : ",",
                   mapping.container_name,
                   mapping.resource_name,
                   mapping.request_name);
    first = false;
  }
  patch += "]}}}";
  auto patched = client::Patch<api::core::Pod>(
      client, job.ns, job.name, client::PatchType::kStrategicMerge, patch, "status", Chained(0));
  if (!patched) {
    return base::Error(std::move(patched).error().Prepend(
        fmt::format("update pod {}/{} ExtendedResourceClaimStatus: ", job.ns, job.name)));
  }
  return {};
}

/// Records what the pod's devices take of the node, replacing what an earlier attempt wrote.
base::Result<void> WriteNodeAllocatable(client::Client& client,
                                        const CommitJob& job,
                                        const std::string& extended_name) {
  base::Arena arena;
  const std::size_t count = job.node_allocatable.size();
  auto* const items = arena.NewArray<api::core::NodeAllocatableResourceClaimStatus>(count);
  for (std::size_t i = 0; i < count; ++i) {
    items[i] = job.node_allocatable[i];
    if (!extended_name.empty() && job.extended.claim != nullptr &&
        items[i].resource_claim_name == job.extended.claim->metadata.name) {
      items[i].resource_claim_name = extended_name;  // it had no name before it was created
    }
  }
  api::core::PodStatus status;
  status.node_allocatable_resource_claim_statuses = {items, job.node_allocatable.count};
  std::string patch = fmt::format(R"({{"metadata":{{"uid":"{}"}},"status":)", job.uid);
  schema::EncodeJson(api::Desc<api::core::PodStatus>(), &status, patch);
  patch += "}";
  auto patched = client::Patch<api::core::Pod>(
      client, job.ns, job.name, client::PatchType::kMerge, patch, "status", Chained(0));
  if (!patched) {
    return base::Error(std::move(patched).error().Prepend(fmt::format(
        "updating pod {}/{} NodeAllocatableResourceClaimStatuses: ", job.ns, job.name)));
  }
  return {};
}

}  // namespace

CommitOutcome WriteClaims(client::Client& client, const CommitJob& job) {
  CommitOutcome outcome;
  const auto failed = [](base::Status status) {
    return base::Error(std::move(status).Prepend("running PreBind plugin \"DynamicResources\": "));
  };
  for (const ClaimWrite& write : job.claims) {
    auto written = WriteClaim(client, job, write);
    if (!written) {
      outcome.result = failed(std::move(written).error());
      return outcome;
    }
    outcome.written.push_back({written->object, client::ToAny(written->view)});
  }
  if (job.extended.claim != nullptr) {
    auto written = WriteExtended(client, job, outcome);
    if (!written) {
      outcome.result = failed(std::move(written).error());
      return outcome;
    }
  }
  if (!job.node_allocatable.empty()) {
    auto written = WriteNodeAllocatable(client, job, outcome.extended_name);
    if (!written) {
      outcome.result = failed(std::move(written).error());
      return outcome;
    }
    outcome.status_written = true;
  }
  return outcome;
}

base::Result<void> Bind(client::Client& client,
                        const CommitJob& job,
                        std::function<void(const base::Result<void>&)> durable) {
  schema::Draft<api::core::Binding> draft;
  draft->metadata.name = draft.Copy(job.name);
  draft->metadata.namespace_ = draft.Copy(job.ns);
  draft->metadata.uid = draft.Copy(job.uid);
  draft->target.kind = "Node";
  draft->target.name = draft.Copy(job.node);
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.resource = &client::ResourceOf<api::core::Pod>();
  request.ns = job.ns;
  request.name = job.name;
  request.subresource = "binding";
  request.body = client::ToAny(draft.Freeze());
  request.body_type = &client::BindingType();
  request.options.ack = client::Ack::kSequenced;
  request.options.on_durable = std::move(durable);
  auto bound = client.Do(request);
  if (!bound) {
    return base::Error(std::move(bound).error().Prepend("running Bind plugin \"DefaultBinder\": "));
  }
  return {};
}

void Unreserve(client::Client& client, const CommitJob& job, const CommitOutcome& outcome) {
  if (outcome.status_written) {
    // An explicit empty list clears it; leaving it out would keep it.
    const std::string patch = fmt::format(
        R"({{"metadata":{{"uid":"{}"}},"status":{{"nodeAllocatableResourceClaimStatuses":[]}}}})",
        job.uid);
    static_cast<void>(client::Patch<api::core::Pod>(
        client, job.ns, job.name, client::PatchType::kMerge, patch, "status", Chained(0)));
  }
  for (const client::Item& item : outcome.written) {
    if (!outcome.extended_name.empty() && item.object->name() == outcome.extended_name) {
      continue;
    }
    const std::string patch = fmt::format(
        R"({{"metadata":{{"uid":"{}"}},"status":{{"reservedFor":[{{"$patch":"delete","uid":"{}"}}]}}}})",
        item.object->uid(),
        job.uid);
    static_cast<void>(client::Patch<ResourceClaim>(client,
                                                   job.ns,
                                                   item.object->name(),
                                                   client::PatchType::kStrategicMerge,
                                                   patch,
                                                   "status",
                                                   Chained(0)));
  }
  if (!outcome.extended_name.empty()) {
    static_cast<void>(
        client::Delete<ResourceClaim>(client, job.ns, outcome.extended_name, Chained(0)));
  }
}

}  // namespace allot::scheduler
