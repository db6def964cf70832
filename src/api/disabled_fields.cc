#include "api/disabled_fields.h"

#include <algorithm>
#include <cstring>

#include "api/layout.h"
#include "api/registry.h"
#include "base/check.h"
#include "schema/types.h"

namespace allot::api {
namespace {

using schema::FieldDesc;
using schema::Shape;
using schema::TypeDesc;
using schema::ValueKind;
using RawList = schema::List<char>;

template <typename T>
const T& At(const char* at) {
  return *reinterpret_cast<const T*>(at);
}

bool AllZero(const char* at, std::size_t size) {
  return std::all_of(at, at + size, [](char c) { return c == 0; });
}

/// Whether the member holds anything.
bool IsSet(const FieldDesc& field, const char* member) {
  switch (field.shape) {
    case Shape::kPointer: return At<const void*>(member) != nullptr;
    case Shape::kList:
    case Shape::kMap: return At<RawList>(member).items != nullptr;
    case Shape::kValue: break;
  }
  if (field.kind == ValueKind::kString || field.kind == ValueKind::kBytes) {
    return !At<schema::Str>(member).empty();
  }
  return !AllZero(member, MemberSize(field));
}

}  // namespace

DisabledFields::DisabledFields(const GateSet& gates) {
  for (const KindInfo& kind : Kinds()) {
    Plan(gates, *kind.type);
  }
}

DisabledFields::Mask DisabledFields::BitOf(const GateSet& gates, const FieldDesc& field) {
  Mask mask = 0;
  for (const std::string_view gate : field.gates) {
    if (gates.Enabled(gate)) {
      continue;
    }
    const auto [at, added] = bits_.try_emplace(gate, Mask{1} << bits_.size());
    ALLOT_CHECK(!added || bits_.size() <= 64);
    mask |= at->second;
  }
  return mask;
}

const DisabledFields::Steps* DisabledFields::Plan(const GateSet& gates, const TypeDesc& type) {
  const auto [at, added] = plans_.try_emplace(&type);
  if (!added) {
    return at->second.empty() ? nullptr : &at->second;
  }
  Steps steps;
  for (const FieldDesc& field : type.fields) {
    if (const Mask mask = BitOf(gates, field); mask != 0) {
      steps.push_back({.field = &field, .gates = mask, .inside = nullptr});
    } else if (field.kind == ValueKind::kMessage && field.message != &type) {
      if (const Steps* const inside = Plan(gates, *field.message); inside != nullptr) {
        steps.push_back({.field = &field, .gates = 0, .inside = inside});
      }
    }
  }
  Steps& kept = plans_[&type];  // Plan of a nested type may have moved the table
  kept = std::move(steps);
  return kept.empty() ? nullptr : &kept;
}

DisabledFields::Mask DisabledFields::InUse(const Steps& steps, const char* root) {
  Mask used = 0;
  for (const Step& step : steps) {
    const FieldDesc& field = *step.field;
    const char* const member = root + field.offset;
    if (step.inside == nullptr) {
      used |= IsSet(field, member) ? step.gates : 0;
      continue;
    }
    if (field.shape == Shape::kValue) {
      used |= InUse(*step.inside, member);
    } else if (field.shape == Shape::kPointer) {
      const char* const target = At<const char*>(member);
      used |= target != nullptr ? InUse(*step.inside, target) : 0;
    } else {
      const auto& list = At<RawList>(member);
      const ElementLayout layout = ElementLayoutOf(field);
      for (std::uint32_t i = 0; i < list.count; ++i) {
        used |= InUse(*step.inside, list.items + (i * layout.stride) + layout.value_at);
      }
    }
  }
  return used;
}

bool DisabledFields::ClearElements(const Step& step, char* member, Mask off, base::Arena& arena) {
  auto& list = *reinterpret_cast<RawList*>(member);
  const ElementLayout layout = ElementLayoutOf(*step.field);
  bool any = false;
  for (std::uint32_t i = 0; i < list.count && !any; ++i) {
    any = (InUse(*step.inside, list.items + (i * layout.stride) + layout.value_at) & off) != 0;
  }
  if (!any) {
    return false;
  }
  const std::size_t size = list.count * layout.stride;
  char* const copy = static_cast<char*>(arena.Allocate(size, layout.alignment));
  std::memcpy(copy, list.items, size);
  list.items = copy;
  for (std::uint32_t i = 0; i < list.count; ++i) {
    Clear(*step.inside, copy + (i * layout.stride) + layout.value_at, off, arena);
  }
  return true;
}

bool DisabledFields::ClearInside(const Step& step, char* member, Mask off, base::Arena& arena) {
  const FieldDesc& field = *step.field;
  if (field.shape == Shape::kValue) {
    return Clear(*step.inside, member, off, arena);
  }
  if (field.shape != Shape::kPointer) {
    return ClearElements(step, member, off, arena);
  }
  const char* const target = At<const char*>(member);
  if (target == nullptr || (InUse(*step.inside, target) & off) == 0) {
    return false;
  }
  char* const copy =
      static_cast<char*>(arena.Allocate(field.message->size, field.message->alignment));
  std::memcpy(copy, target, field.message->size);
  *reinterpret_cast<const char**>(member) = copy;
  return Clear(*step.inside, copy, off, arena);
}

bool DisabledFields::Clear(const Steps& steps, char* root, Mask off, base::Arena& arena) {
  bool changed = false;
  for (const Step& step : steps) {
    char* const member = root + step.field->offset;
    if (step.inside != nullptr) {
      changed |= ClearInside(step, member, off, arena);
    } else if ((step.gates & off) != 0 && IsSet(*step.field, member)) {
      std::memset(member, 0, MemberSize(*step.field));
      changed = true;
    }
  }
  return changed;
}

void DisabledFields::Drop(const TypeDesc& type,
                          void* root,
                          const void* old,
                          base::Arena& arena) const {
  const auto plan = plans_.find(&type);
  if (plan == plans_.end() || plan->second.empty()) {
    return;
  }
  const Mask used = InUse(plan->second, static_cast<const char*>(root));
  if (used == 0) {
    return;
  }
  const Mask kept = old != nullptr ? InUse(plan->second, static_cast<const char*>(old)) : 0;
  if (const Mask off = used & ~kept; off != 0) {
    Clear(plan->second, static_cast<char*>(root), off, arena);
  }
}

}  // namespace allot::api
