// What is to blame for a request that lacks devices, as closely as it can be told.
#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "allocator/explainer.h"

namespace allot::allocator {

using inventory::Device;
using inventory::SelectorCache;

namespace {

// Devices of other nodes that are looked at to tell where the wanted ones are.
constexpr std::size_t kMaxElsewhere = 20'000;

std::string_view SectionName(Section section) {
  return section == Section::kAttributes ? "attributes" : "capacity";
}

Section Other(Section section) {
  return section == Section::kAttributes ? Section::kCapacity : Section::kAttributes;
}

std::string DomainOf(const Reference& reference, const Device& device) {
  return reference.domain.empty() ? std::string(device.slice->spec->driver) : reference.domain;
}

// Under the full name, or the bare one of its own driver.
bool Publishes(const Device& device,
               Section section,
               std::string_view domain,
               std::string_view id) {
  const std::string full = fmt::format("{}/{}", domain, id);
  const bool own = domain == device.slice->spec->driver;
  const auto in = [&](const auto& map) {
    return map.Find(full) != nullptr || (own && map.Find(id) != nullptr);
  };
  return section == Section::kAttributes ? in(device.spec->attributes) : in(device.spec->capacity);
}

// Fully qualified names of a section.
void NamesOf(const Device& device, Section section, std::set<std::string>& names) {
  const auto add = [&](std::string_view key) {
    names.insert(key.find('/') != std::string_view::npos
                     ? std::string(key)
                     : fmt::format("{}/{}", device.slice->spec->driver, key));
  };
  if (section == Section::kAttributes) {
    for (const auto& entry : device.spec->attributes) {
      add(entry.key);
    }
  } else {
    for (const auto& entry : device.spec->capacity) {
      add(entry.key);
    }
  }
}

std::string_view IdOf(std::string_view name) {
  const std::size_t slash = name.find('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

// The published name that was probably meant: the same id elsewhere, else a similar one.
std::string Suggestion(const std::string& domain,
                       const std::string& id,
                       const std::set<std::string>& names) {
  std::vector<std::string_view> ids;
  for (const std::string& name : names) {
    if (IdOf(name) == id) {
      return name;
    }
    if (name.starts_with(domain + "/")) {
      ids.push_back(IdOf(name));
    }
  }
  if (const std::string_view alike = LooksLike(id, ids); !alike.empty()) {
    return fmt::format("{}/{}", domain, alike);
  }
  ids.clear();
  for (const std::string& name : names) {
    ids.push_back(IdOf(name));
  }
  const std::string_view alike = LooksLike(id, ids);
  const auto found = std::find_if(
      names.begin(), names.end(), [&](const std::string& name) { return IdOf(name) == alike; });
  return alike.empty() || found == names.end() ? std::string() : *found;
}

}  // namespace

std::vector<std::string_view> Explainer::Expressions(const PreparedRequest& request,
                                                     bool of_class) const {
  std::vector<std::string_view> out;
  const auto add = [&](const auto& selectors) {
    for (const auto& selector : selectors) {
      out.push_back(selector.cel != nullptr ? selector.cel->expression : std::string_view());
    }
  };
  if (of_class) {
    add(request.device_class->spec->selectors);
    return out;
  }
  const auto& from =
      problem_.prepared->claims[request.claim].claim->spec.devices.requests[request.request];
  if (request.subrequest >= 0) {
    add(from.first_available[static_cast<std::size_t>(request.subrequest)].selectors);
  } else if (from.exactly != nullptr) {
    add(from.exactly->selectors);
  }
  return out;
}

bool Explainer::Passes(std::string_view expression, const Device& device) {
  const auto set = search_.cache().Intern({&expression, 1});
  search_.cache().Sync(*set);
  inventory::SelectorFailure failure;
  return search_.cache().Test(*set, device, failure) == SelectorCache::Match::kYes;
}

bool Explainer::ClassPasses(const PreparedRequest& request, const Device& device) {
  const auto set = search_.cache().Intern(Expressions(request, /*of_class=*/true));
  search_.cache().Sync(*set);
  inventory::SelectorFailure failure;
  return search_.cache().Test(*set, device, failure) == SelectorCache::Match::kYes;
}

void Explainer::Blame(const PreparedRequest& request, const RequestFunnel& funnel) {
  if (!has_suspect_) {
    if (funnel.published == 0) {
      if (!BlameOtherNodes(request)) {
        Add({CauseKind::kTooFew, Subject(request), 0, "no usable device is published", ""});
      }
      return;
    }
    return Add({CauseKind::kTooFew,
                Subject(request),
                funnel.wanted,
                fmt::format("{} devices are wanted, {} published", funnel.wanted, funnel.published),
                fmt::format("ask for at most {}", funnel.published)});
  }
  const FunnelStage& stage = suspect_.stage;
  const auto lost = static_cast<std::int64_t>(suspect_.before.size()) - stage.left;
  switch (suspect_.kind) {
    case CauseKind::kClassSelectsNothing: return BlameClass(request, funnel);
    case CauseKind::kSelector: return BlameSelector(request);
    case CauseKind::kConstraint: return BlameAttributes(request);
    default: break;
  }
  Add({suspect_.kind,
       Subject(request),
       lost,
       suspect_.kind == CauseKind::kInUse     ? HoldersText(request)
       : suspect_.kind == CauseKind::kTainted ? TaintsText(request)
                                              : stage.example,
       HintFor(request, funnel)});
}

// Some devices pass the class, but fewer than wanted; or none do, here or anywhere.
void Explainer::BlameClass(const PreparedRequest& request, const RequestFunnel& funnel) {
  const FunnelStage& stage = suspect_.stage;
  if (stage.left > 0) {
    return Add({CauseKind::kTooFew,
                Subject(request),
                funnel.wanted,
                fmt::format("{} devices are wanted, {} are of class {}",
                            funnel.wanted,
                            stage.left,
                            request.device_class->name),
                fmt::format("ask for at most {}", stage.left)});
  }
  if (BlameOtherNodes(request)) {
    return;
  }
  for (const std::string_view expression : Expressions(request, /*of_class=*/true)) {
    if (BlameReferences(request, expression)) {
      return;
    }
  }
  Add({CauseKind::kClassSelectsNothing,
       Subject(request),
       static_cast<std::int64_t>(suspect_.before.size()),
       stage.example,
       fmt::format("check the selectors of class {}", request.device_class->name)});
}

// The node's own pool has them and cannot be used: Pools() says why, and nothing else is amiss.
bool Explainer::InUnusablePool(const PreparedRequest& request) {
  const auto& pools = problem_.view->pools;
  return std::any_of(pools.begin(), pools.end(), [&](const inventory::PoolViewPtr& pool) {
    return pool->state != inventory::PoolState::kComplete &&
           std::any_of(
               pool->other_slices.begin(), pool->other_slices.end(), [&](const auto& slice) {
                 return std::any_of(
                     slice->devices.begin(), slice->devices.end(), [&](const Device& device) {
                       return ClassPasses(request, device);
                     });
               });
  });
}

// The devices exist, only not for this node; or their driver publishes nothing at all.
bool Explainer::BlameOtherNodes(const PreparedRequest& request) {
  if (InUnusablePool(request)) {
    return true;
  }
  std::int64_t found = 0;
  std::size_t looked = 0;
  std::string example;
  std::set<std::string_view> drivers;
  for (const auto& slice : inventory_.Slices()) {
    drivers.insert(slice->spec->driver);
    for (const Device& device : slice->devices) {
      if (++looked <= kMaxElsewhere && ClassPasses(request, device)) {
        if (found++ == 0) {
          example = slice->local
                        ? fmt::format("{} on node {}", DeviceName(device), *slice->spec->node_name)
                        : DeviceName(device);
        }
      }
    }
  }
  if (found > 0) {
    Add({CauseKind::kDriverAbsent,
         Subject(request),
         0,
         fmt::format("class {} selects {} devices of other nodes or unusable pools, such as {}",
                     request.device_class->name,
                     found,
                     example),
         "install the DRA driver on this node, or let the pod go to the nodes that have them"});
    return true;
  }
  for (const std::string_view expression : Expressions(request, /*of_class=*/true)) {
    for (const std::string& driver : DriversOf(expression)) {
      if (!drivers.contains(driver)) {
        Add({CauseKind::kDriverAbsent,
             Subject(request),
             0,
             fmt::format("class {} wants driver {}, which publishes nothing in this cluster",
                         request.device_class->name,
                         driver),
             "install the driver, or correct the driver's name in the class"});
        return true;
      }
    }
  }
  return false;
}

// The selectors that pass too little, the one that passes least first.
void Explainer::BlameSelector(const PreparedRequest& request) {
  const auto own = Expressions(request, /*of_class=*/false);
  std::string text;
  bool missing = false;
  for (std::size_t i = 0; i < own.size(); ++i) {
    std::int64_t passed = 0;
    for (const Candidate& candidate : suspect_.before) {
      passed += Passes(own[i], *candidate.device) ? 1 : 0;
    }
    if (passed == 0) {
      missing = BlameReferences(request, own[i]) || missing;
    }
    text += fmt::format("{}selector #{} passes {} of {} devices of the class",
                        text.empty() ? "" : ", ",
                        i,
                        passed,
                        suspect_.before.size());
    for (const Reference& reference : ReferencesOf(own[i])) {
      const auto have = std::count_if(
          suspect_.before.begin(), suspect_.before.end(), [&](const Candidate& candidate) {
            return Publishes(*candidate.device,
                             reference.section,
                             DomainOf(reference, *candidate.device),
                             reference.id);
          });
      if (have > 0 && have < static_cast<std::int64_t>(suspect_.before.size())) {
        text += fmt::format(" ({} is there on {})", reference.id, have);
      }
    }
  }
  if (missing || failed_) {
    return;  // said already
  }
  Add({CauseKind::kSelector,
       Subject(request),
       static_cast<std::int64_t>(suspect_.before.size()) - suspect_.stage.left,
       fmt::format("{}; {}", text, suspect_.stage.example),
       "relax the request's selectors"});
}

// True when the expression reads something that no candidate has.
bool Explainer::BlameReferences(const PreparedRequest& request, std::string_view expression) {
  bool missing = false;
  for (const Reference& reference : ReferencesOf(expression)) {
    const bool anywhere = std::any_of(
        suspect_.before.begin(), suspect_.before.end(), [&](const Candidate& candidate) {
          return Publishes(*candidate.device,
                           reference.section,
                           DomainOf(reference, *candidate.device),
                           reference.id);
        });
    if (anywhere || suspect_.before.empty()) {
      continue;
    }
    missing = true;
    AddMissing(request,
               reference,
               fmt::format("device.{}[{}].{}",
                           SectionName(reference.section),
                           reference.domain.empty() ? "device.driver"
                                                    : fmt::format("\"{}\"", reference.domain),
                           reference.id));
  }
  return missing;
}

void Explainer::AddMissing(const PreparedRequest& request,
                           const Reference& reference,
                           const std::string& spelled) {
  std::set<std::string> names;
  bool swapped = false;
  std::string domain = reference.domain;
  for (const Candidate& candidate : suspect_.before) {
    const Device& device = *candidate.device;
    domain = DomainOf(reference, device);
    NamesOf(device, reference.section, names);
    swapped = swapped || Publishes(device, Other(reference.section), domain, reference.id);
  }
  const auto count = static_cast<std::int64_t>(suspect_.before.size());
  if (swapped) {
    Add({CauseKind::kWrongSection,
         Subject(request),
         count,
         fmt::format("{}: \"{}\" is published under {}, not under {}",
                     spelled,
                     reference.id,
                     SectionName(Other(reference.section)),
                     SectionName(reference.section)),
         reference.section == Section::kAttributes
             ? fmt::format("use device.capacity[\"{}\"].{}, a quantity", domain, reference.id)
             : fmt::format("use device.attributes[\"{}\"].{}", domain, reference.id)});
    return;
  }
  const std::string meant = Suggestion(domain, reference.id, names);
  Add({CauseKind::kAttributeMissing,
       Subject(request),
       count,
       fmt::format("{}: none of {} devices publishes it", spelled, count),
       meant.empty() ? "have the driver publish it, or drop it from the expression"
                     : fmt::format("did you mean {}?", meant)});
}

// The attribute is another driver's: no name would do for both, so none is proposed.
bool Explainer::NamesDiffer(const PreparedRequest& request,
                            const PreparedConstraint& constraint,
                            const std::string& spelled) {
  const std::string_view mine = suspect_.before.front().device->slice->spec->driver;
  for (const Candidate& candidate : Published()) {
    const std::string_view driver = candidate.device->slice->spec->driver;
    ValueIds values;
    if (driver != mine &&
        search_.ValuesOf(request, constraint, *candidate.device, values) == Search::Tested::kYes &&
        values.present) {
      Add({CauseKind::kAttributeMissing,
           Subject(request),
           static_cast<std::int64_t>(suspect_.before.size()),
           fmt::format("{}: driver {} publishes it, driver {} of this request does not",
                       spelled,
                       driver,
                       mine),
           fmt::format("constrain requests of one driver only, or have {} and {} publish one name",
                       mine,
                       driver)});
      return true;
    }
  }
  return false;
}

// A constraint compares an attribute that too few devices have.
void Explainer::BlameAttributes(const PreparedRequest& request) {
  const PreparedClaim& claim = problem_.prepared->claims[request.claim];
  for (const std::uint16_t ordinal : request.constraints) {
    const PreparedConstraint& constraint = claim.constraints[ordinal];
    std::int64_t have = 0;
    for (const Candidate& candidate : suspect_.before) {
      ValueIds values;
      have += search_.ValuesOf(request, constraint, *candidate.device, values) ==
                          Search::Tested::kYes &&
                      values.present
                  ? 1
                  : 0;
    }
    const std::string spelled = fmt::format(
        "{} {}",
        constraint.kind == ConstraintKind::kMatch ? "matchAttribute" : "distinctAttribute",
        constraint.attribute);
    if (have == 0 && NamesDiffer(request, constraint, spelled)) {
      continue;
    }
    if (have == 0) {
      Reference reference;
      const std::size_t slash = constraint.attribute.find('/');
      reference.domain = constraint.attribute.substr(0, slash);
      reference.id = IdOf(constraint.attribute);
      AddMissing(request, reference, spelled);
    } else if (have < static_cast<std::int64_t>(suspect_.before.size())) {
      Add({CauseKind::kConstraint,
           Subject(request),
           static_cast<std::int64_t>(suspect_.before.size()) - have,
           fmt::format("{}: {} of {} devices have it; {}",
                       spelled,
                       have,
                       suspect_.before.size(),
                       suspect_.stage.example),
           "drop the constraint, or have the driver publish the attribute"});
    }
  }
}

std::string Explainer::HintFor(const PreparedRequest& request, const RequestFunnel& funnel) const {
  const FunnelStage& stage = suspect_.stage;
  switch (suspect_.kind) {
    case CauseKind::kOtherNode: return "let the pod go to the node that the devices are for";
    case CauseKind::kTainted: return "add a toleration to the request, or remove the taint";
    case CauseKind::kInUse:
      if (request.mode == Mode::kAll) {
        return "wait until all devices are free, or ask for a number of them";
      }
      return stage.left > 0 ? fmt::format("ask for at most {}, or wait for {} more",
                                          stage.left,
                                          funnel.wanted - stage.left)
                            : "wait until a claim is given back, or add devices";
    case CauseKind::kNodeFeature: return "update the node, which lacks a feature of the kubelet";
    case CauseKind::kCapacity: return "ask for less of the capacity";
    case CauseKind::kCounters: return "ask for a smaller partition, or wait for one to be freed";
    case CauseKind::kGroups:
      return "ask for a device of a compatible group, or wait for the others to be freed";
    default: return {};
  }
}

}  // namespace allot::allocator
