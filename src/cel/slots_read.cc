// Which slots an expression reads that only the exact interpreter can evaluate.
#include <algorithm>

#include "cel/cel.h"
#include "cel/program.h"
#include "cel/slots.h"

namespace allot::cel {
namespace {

class Reader {
 public:
  explicit Reader(std::vector<SlotKey>& out) : out_(out) {}

  // False: something reads more than single values.
  bool Walk(const Step* step) {
    if (step == nullptr) {
      return true;
    }
    if (step->kind == StepKind::kPath) {
      return WalkPath(*step->path);
    }
    if (step->kind == StepKind::kLoop) {
      const LoopPlan& loop = *step->loop;
      return Walk(loop.range) && Walk(loop.init) && Walk(loop.condition) && Walk(loop.step) &&
             Walk(loop.result);
    }
    return std::ranges::all_of(step->args, [this](const Step* arg) { return Walk(arg); });
  }

 private:
  static bool HasName(const Qualifier& qualifier) {
    return qualifier.kind == Qualifier::Kind::kConstant && qualifier.key.Is(ValueKind::kString);
  }

  bool WalkPath(const Path& path) {
    for (const Qualifier& qualifier : path.qualifiers) {
      const bool fine = qualifier.kind == Qualifier::Kind::kPath   ? WalkPath(*qualifier.path)
                        : qualifier.kind == Qualifier::Kind::kStep ? Walk(qualifier.step)
                                                                   : true;
      if (!fine) {
        return false;
      }
    }
    switch (path.kind) {
      case Path::Kind::kConditional:
        return Walk(path.operand) && WalkPath(*path.truthy) && WalkPath(*path.falsy);
      case Path::Kind::kRelative: return Walk(path.operand);
      case Path::Kind::kVariable: break;
    }
    // A loop variable of that name only makes us read too much.
    return path.name != "device" || AddDevicePath(path);
  }

  bool AddDevicePath(const Path& path) {
    const auto& qualifiers = path.qualifiers;
    if (qualifiers.empty() || !HasName(qualifiers[0])) {
      return false;
    }
    const std::string_view field = qualifiers[0].key.text();
    if (field == "driver" || field == "allowMultipleAllocations") {
      Add({field == "driver" ? SlotKey::Kind::kDriver : SlotKey::Kind::kMultiple, {}, {}});
      return true;
    }
    if (qualifiers.size() < 3 || !HasName(qualifiers[1]) || !HasName(qualifiers[2]) ||
        (field != "attributes" && field != "capacity")) {
      return false;
    }
    Add({field == "capacity" ? SlotKey::Kind::kCapacity : SlotKey::Kind::kAttribute,
         qualifiers[1].key.text(),
         qualifiers[2].key.text()});
    return true;
  }

  void Add(const SlotKey& key) {
    if (std::ranges::find(out_, key) == out_.end()) {
      out_.push_back(key);
    }
  }

  std::vector<SlotKey>& out_;
};

}  // namespace

bool SlotsRead(const Plan& plan, std::vector<SlotKey>& out) {
  return Reader(out).Walk(plan.root);
}

std::optional<std::vector<std::string_view>> Program::NamesRead() const {
  std::vector<SlotKey> keys;
  if (!SlotsRead(impl_->plan, keys)) {
    return std::nullopt;
  }
  std::vector<std::string_view> names;
  for (const SlotKey& key : keys) {
    if (key.kind == SlotKey::Kind::kAttribute || key.kind == SlotKey::Kind::kCapacity) {
      names.push_back(key.name);
    }
  }
  return names;
}

}  // namespace allot::cel
