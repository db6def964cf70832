// Registry: deleting (finalizers, propagation, grace of pods, phases of namespaces) and binding
// pods.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "apiserver/edit.h"
#include "apiserver/errors.h"
#include "apiserver/registry.h"

namespace allot::apiserver {
namespace {

using base::Reason;
using base::Result;
using base::Status;

constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";
constexpr int kMaxAttempts = 64;
constexpr std::int64_t kDefaultGraceSeconds = 30;

bool HasFinalizer(const api::meta::ObjectMeta& metadata, std::string_view name) {
  return std::ranges::find(metadata.finalizers, name) != metadata.finalizers.end();
}

/// Which of the two garbage collection finalizers the object must have from now on.
struct GcFinalizers {
  bool orphan = false;
  bool foreground = false;
};

GcFinalizers WantedFinalizers(const api::meta::ObjectMeta& metadata, const Deletion& deletion) {
  if (!deletion.propagation.empty()) {
    return {deletion.propagation == "Orphan", deletion.propagation == "Foreground"};
  }
  return {HasFinalizer(metadata, kOrphan), HasFinalizer(metadata, kForeground)};
}

/// Adds and removes them; false when nothing had to change.
bool ApplyFinalizers(base::Arena& arena, api::meta::ObjectMeta& metadata, GcFinalizers wanted) {
  if (HasFinalizer(metadata, kOrphan) == wanted.orphan &&
      HasFinalizer(metadata, kForeground) == wanted.foreground) {
    return false;
  }
  FilterList(arena, metadata.finalizers, [](schema::Str name) {
    return name != kOrphan && name != kForeground;
  });
  if (wanted.orphan) {
    Append(arena, metadata.finalizers, schema::Str(kOrphan));
  }
  if (wanted.foreground) {
    Append(arena, metadata.finalizers, schema::Str(kForeground));
  }
  return true;
}

/// The grace a pod gets: its own or the one asked for; none when nothing runs.
std::int64_t PodGrace(const api::core::Pod& pod, const Deletion& deletion) {
  std::int64_t grace = kDefaultGraceSeconds;
  if (deletion.grace_seconds) {
    grace = *deletion.grace_seconds;
  } else if (pod.spec.termination_grace_period_seconds != nullptr) {
    grace = *pod.spec.termination_grace_period_seconds;
  }
  if (pod.spec.node_name.empty() || pod.status.phase == "Failed" ||
      pod.status.phase == "Succeeded") {
    return 0;
  }
  return grace < 0 ? 1 : grace;
}

/// What the first steps of a deletion decided.
struct GraceDecision {
  bool graceful = false;         ///< the object stays until its grace is over
  bool already_pending = false;  ///< it is being deleted, and not later than asked for now
  bool marked = false;           ///< the draft tells when the grace ends, also when it ends now
};

/// Marks a pod as terminating, or shortens a grace that runs already.
GraceDecision BeginPodDeletion(AnyDraft& draft, const Deletion& deletion, quantity::Time now) {
  auto& pod = draft.As<api::core::Pod>();
  api::meta::ObjectMeta& metadata = pod.metadata;
  base::Arena& arena = draft.arena();
  if (metadata.deletion_timestamp != nullptr) {
    const std::int64_t* const running = metadata.deletion_grace_period_seconds;
    if (running == nullptr || !deletion.grace_seconds || *deletion.grace_seconds >= *running) {
      // Nothing left of the grace: the object goes as soon as nothing holds it.
      return {.graceful = false, .already_pending = running != nullptr && *running > 0};
    }
    const std::int64_t grace = *deletion.grace_seconds < 0 ? 1 : *deletion.grace_seconds;
    quantity::Time at = *metadata.deletion_timestamp;
    at.seconds += grace - *running;
    SetValue(arena, metadata.deletion_timestamp, at);
    SetValue(arena, metadata.deletion_grace_period_seconds, grace);
    return {.graceful = grace > 0, .already_pending = false, .marked = true};
  }
  const std::int64_t grace = PodGrace(pod, deletion);
  quantity::Time at = now;
  at.seconds += grace;
  SetValue(arena, metadata.deletion_timestamp, at);
  SetValue(arena, metadata.deletion_grace_period_seconds, grace);
  if (metadata.generation > 0) {
    ++metadata.generation;
  }
  return {.graceful = grace > 0, .already_pending = false, .marked = true};
}

void MarkDeleting(AnyDraft& draft, api::meta::ObjectMeta& metadata, quantity::Time now) {
  if (metadata.deletion_timestamp == nullptr) {
    SetValue(draft.arena(), metadata.deletion_timestamp, now);
  }
  SetValue(draft.arena(), metadata.deletion_grace_period_seconds, std::int64_t{0});
}

bool IsImmortal(std::string_view ns) {
  return ns == "default" || ns == "kube-system" || ns == "kube-public";
}

/// Sets PodScheduled to True.
void SetScheduled(base::Arena& arena, api::core::PodStatus& status, quantity::Time now) {
  api::core::PodCondition wanted;
  wanted.type = "PodScheduled";
  wanted.status = "True";
  wanted.last_transition_time = now;
  api::core::PodCondition* const items = MutableList(arena, status.conditions);
  for (std::size_t i = 0; i < status.conditions.size(); ++i) {
    if (items[i].type == wanted.type) {
      if (items[i].status == "True") {
        wanted.last_transition_time = items[i].last_transition_time;
      }
      items[i] = wanted;
      return;
    }
  }
  Append(arena, status.conditions, wanted);
}

Result<void> CheckBindable(const api::core::Pod& pod) {
  const auto conflict = [&](std::string why) -> Result<void> {
    base::StatusDetails details;
    details.name = pod.metadata.name;
    details.kind = "pods/binding";
    return base::Error(Status(
        Reason::kConflict,
        fmt::format(
            "Operation cannot be fulfilled on pods/binding \"{}\": {}", pod.metadata.name, why),
        std::move(details)));
  };
  if (pod.metadata.deletion_timestamp != nullptr) {
    return conflict(
        fmt::format("pod {} is being deleted, cannot be assigned to a host", pod.metadata.name));
  }
  if (!pod.spec.node_name.empty()) {
    return conflict(fmt::format(
        "pod {} is already assigned to node \"{}\"", pod.metadata.name, pod.spec.node_name));
  }
  if (!pod.spec.scheduling_gates.empty()) {
    return conflict(fmt::format("pod {} has non-empty .spec.schedulingGates", pod.metadata.name));
  }
  return {};
}

/// Whether the binding means the pod as it is. Errors: kConflict.
Result<void> CheckBinding(const Resource& pods,
                          const api::core::Pod& pod,
                          store::Revision revision,
                          const api::core::Binding& binding) {
  const api::meta::ObjectMeta& wanted = binding.metadata;
  const api::meta::ObjectMeta& found = pod.metadata;
  if (!wanted.uid.empty() && wanted.uid != found.uid) {
    return base::Error(
        PreconditionError(pods, found.namespace_, found.name, "UID", wanted.uid, found.uid));
  }
  const std::string version = fmt::format_int(revision).str();
  if (!wanted.resource_version.empty() && wanted.resource_version != version) {
    return base::Error(PreconditionError(
        pods, found.namespace_, found.name, "ResourceVersion", wanted.resource_version, version));
  }
  return {};
}

/// Faults of a binding as upstream tells them: the texts alone, and no reason.
Status PlainError(const api::FieldErrors& errors) {
  std::string text;
  for (const api::FieldError& error : errors.list()) {
    text += (text.empty() ? "" : ", ") + error.ToString();
  }
  return {Reason::kUnknown, errors.list().size() > 1 ? fmt::format("[{}]", text) : text};
}

bool IsStoreRace(const Status& status) {
  return (status.reason() == Reason::kConflict || status.reason() == Reason::kNotFound) &&
         status.details() == nullptr;
}

}  // namespace

Result<void> CheckPreconditions(const api::KindInfo& info,
                                const api::meta::ObjectMeta& metadata,
                                store::Revision revision,
                                const Deletion& deletion) {
  if (deletion.uid && *deletion.uid != metadata.uid) {
    return base::Error(KindConflictError(
        info,
        metadata.name,
        fmt::format("the UID in the precondition ({}) does not match the UID in record ({}). The "
                    "object might have been deleted and then recreated",
                    *deletion.uid,
                    metadata.uid)));
  }
  if (deletion.resource_version && *deletion.resource_version != fmt::format("{}", revision)) {
    return base::Error(KindConflictError(
        info,
        metadata.name,
        fmt::format("the ResourceVersion in the precondition ({}) does not match the "
                    "ResourceVersion in record ({}). The object might have been modified",
                    *deletion.resource_version,
                    revision)));
  }
  return {};
}

Result<Written> Registry::Delete(const WriteContext& context,
                                 const Resource& resource,
                                 std::string_view ns,
                                 std::string_view name,
                                 const Deletion& deletion) {
  const std::string key = resource.KeyOf(ns, name);
  for (int attempt = 1;; ++attempt) {
    const base::Ref<const store::Entry> entry = store_.ReadHead({resource.store_id, key});
    if (!entry) {
      return base::Error(NotFoundError(*resource.info, name));
    }
    Result<Written> written = DeleteOnce(context, resource, *entry, deletion);
    if (written || !IsStoreRace(written.error())) {
      return written;
    }
    if (attempt == kMaxAttempts) {
      return base::Error(StaleError(*resource.info, name));
    }
  }
}

Result<Written> Registry::DeleteOnce(const WriteContext& context,
                                     const Resource& resource,
                                     const store::Entry& entry,
                                     const Deletion& deletion) {
  const schema::TypeDesc& type = resource.stored_type();
  ALLOT_ASSIGN_OR_RETURN(const AnyView old, ViewOf(entry));
  AnyDraft draft(type, old);
  api::meta::ObjectMeta& metadata = MetadataOf(type, draft.root());
  metadata.resource_version = {};
  ALLOT_RETURN_IF_ERROR(CheckPreconditions(*resource.info, metadata, entry.revision(), deletion));
  const quantity::Time now = NowSeconds(clock_);
  const bool had_timestamp = metadata.deletion_timestamp != nullptr;
  bool stays = false;
  bool marked = false;
  if (&type == &api::Desc<api::core::Namespace>()) {
    if (IsImmortal(metadata.name)) {
      return base::Error(
          ForbiddenError(*resource.info, metadata.name, "this namespace may not be deleted"));
    }
    auto& ns = draft.As<api::core::Namespace>();
    if (!had_timestamp) {
      SetValue(draft.arena(), metadata.deletion_timestamp, now);
    }
    ns.status.phase = "Terminating";
    stays = !had_timestamp || !ns.spec.finalizers.empty();
  } else if (&type == &api::Desc<api::core::Pod>()) {
    const GraceDecision grace = BeginPodDeletion(draft, deletion, now);
    if (grace.already_pending) {
      AnyDraft unchanged(type, old);
      MetadataOf(type, unchanged.root()).resource_version = {};
      return CommitUpdate(context, resource, entry, unchanged, /*remove=*/false);
    }
    stays = grace.graceful;
    marked = grace.marked;
  }
  ApplyFinalizers(draft.arena(), metadata, WantedFinalizers(metadata, deletion));
  if (!metadata.finalizers.empty()) {
    if (!stays && &type != &api::Desc<api::core::Namespace>()) {
      MarkDeleting(draft, metadata, now);
    }
    stays = true;
  }
  if (stays) {
    return CommitUpdate(context, resource, entry, draft, /*remove=*/false);
  }
  if (marked) {
    return MarkAndRemove(context, resource, entry, draft);
  }
  // The last state is shown as it was stored.
  AnyDraft last(type, old);
  MetadataOf(type, last.root()).resource_version = {};
  return CommitUpdate(context, resource, entry, last, /*remove=*/true);
}

Result<Written> Registry::MarkAndRemove(const WriteContext& context,
                                        const Resource& resource,
                                        const store::Entry& entry,
                                        AnyDraft& draft) {
  // Watchers see that the grace has ended before they see the end, as upstream's do.
  WriteContext first = context;
  first.sink = nullptr;
  Result<Written> marked = CommitUpdate(first, resource, entry, draft, /*remove=*/false);
  if (!marked || !marked->entry) {
    if (marked) {
      marked->removed = true;
    }
    return marked;
  }
  AnyDraft last(draft.type(), marked->view);
  MetadataOf(draft.type(), last.root()).resource_version = {};
  return CommitUpdate(context, resource, *marked->entry, last, /*remove=*/true);
}

Result<Written> Registry::Bind(const WriteContext& context,
                               std::string_view ns,
                               std::string_view name,
                               const api::core::Binding& binding) {
  const Resource* const pods = resources_.Find("", "v1", "pods");
  if (pods == nullptr) {
    return base::Error(NoSuchResourceError());
  }
  api::FieldErrors errors;
  api::ValidateBinding(&binding, errors);
  if (!errors.empty()) {
    return base::Error(PlainError(errors));
  }
  const std::string key = pods->KeyOf(ns, name);
  for (int attempt = 1;; ++attempt) {
    const base::Ref<const store::Entry> entry = store_.ReadHead({pods->store_id, key});
    if (!entry) {
      return base::Error(NotFoundError(*pods->info, name));
    }
    ALLOT_ASSIGN_OR_RETURN(const AnyView old, ViewOf(*entry));
    AnyDraft draft(*pods->info->type, old);
    auto& pod = draft.As<api::core::Pod>();
    ALLOT_RETURN_IF_ERROR(CheckBinding(*pods, pod, entry->revision(), binding));
    ALLOT_RETURN_IF_ERROR(CheckBindable(pod));
    pod.metadata.resource_version = {};
    pod.spec.node_name = draft.Copy(binding.target.name);
    pod.status.nominated_node_name = {};
    for (const auto& label : binding.metadata.labels) {
      Put(draft.arena(), pod.metadata.labels, draft.Copy(label.key), draft.Copy(label.value));
    }
    for (const auto& annotation : binding.metadata.annotations) {
      Put(draft.arena(),
          pod.metadata.annotations,
          draft.Copy(annotation.key),
          draft.Copy(annotation.value));
    }
    SetScheduled(draft.arena(), pod.status, NowSeconds(clock_));
    Result<Written> written = CommitUpdate(context, *pods, *entry, draft, /*remove=*/false);
    if (written || !IsStoreRace(written.error()) || attempt == kMaxAttempts) {
      return written;
    }
  }
}

}  // namespace allot::apiserver
