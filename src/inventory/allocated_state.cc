#include "inventory/allocated_state.h"

#include <algorithm>
#include <array>

#include "quantity/saturating.h"

namespace allot::inventory {

namespace {
constexpr std::uint32_t kLeafBits = 6;  // devices a leaf: 64
constexpr std::uint32_t kPageBits = 6;  // leaves a page: 64
constexpr std::uint32_t kLeafMask = (1U << kLeafBits) - 1;
constexpr std::uint32_t kPageMask = (1U << kPageBits) - 1;

// Changes kept for readers that come back.

constexpr std::uint64_t BitOf(DeviceId id) {
  return std::uint64_t{1} << (Value(id) & kLeafMask);
}
}  // namespace

// 64 devices: two masks that answer most questions, and who holds what for the rest.
struct AllocatedState::Leaf {
  struct Entry {
    DeviceId id{};
    std::shared_ptr<const ClaimUse> claim;
    std::uint32_t use = 0;
  };
  std::uint64_t exclusive = 0;
  std::uint64_t shared = 0;
  std::vector<Entry> entries;

  void Recount(DeviceId id) {
    exclusive &= ~BitOf(id);
    shared &= ~BitOf(id);
    for (const Entry& entry : entries) {
      if (entry.id == id) {
        (entry.claim->devices[entry.use].shared ? shared : exclusive) |= BitOf(id);
      }
    }
  }
};

// A fork copies the references to pages (one for 4,096 devices) and shares everything below; what
// is shared is copied when it is written.
struct AllocatedState::Core {
  using LeafPtr = std::shared_ptr<Leaf>;
  using Page = std::array<LeafPtr, std::size_t{1} << kPageBits>;
  std::vector<std::shared_ptr<Page>> pages;
  std::uint64_t version = 0;
  std::size_t held = 0;
  base::ChangeLog<DeviceChange> changes;

  void Note(const ClaimUse& use, bool given_back) {
    for (const DeviceUse& device : use.devices) {
      changes.Add({device.device, given_back});
    }
  }

  [[nodiscard]] const Leaf* Find(DeviceId id) const {
    const std::uint32_t leaf = Value(id) >> kLeafBits;
    const std::uint32_t page = leaf >> kPageBits;
    return page < pages.size() && pages[page] != nullptr ? (*pages[page])[leaf & kPageMask].get()
                                                         : nullptr;
  }

  Leaf& Writable(DeviceId id) {
    const std::uint32_t leaf_number = Value(id) >> kLeafBits;
    const std::uint32_t page_number = leaf_number >> kPageBits;
    if (page_number >= pages.size()) {
      pages.resize(page_number + 1);
    }
    std::shared_ptr<Page>& page = pages[page_number];
    if (page == nullptr) {
      page = std::make_shared<Page>();
    } else if (page.use_count() > 1) {
      page = std::make_shared<Page>(*page);
    }
    LeafPtr& leaf = (*page)[leaf_number & kPageMask];
    if (leaf == nullptr) {
      leaf = std::make_shared<Leaf>();
    } else if (leaf.use_count() > 1) {
      leaf = std::make_shared<Leaf>(*leaf);
    }
    return *leaf;
  }

  void Take(const std::shared_ptr<const ClaimUse>& use) {
    for (std::uint32_t i = 0; i < use->devices.size(); ++i) {
      const DeviceUse& device = use->devices[i];
      Leaf& leaf = Writable(device.device);
      leaf.entries.push_back({device.device, use, i});
      (device.shared ? leaf.shared : leaf.exclusive) |= BitOf(device.device);
    }
    held += use->devices.size();
    ++version;
    Note(*use, /*given_back=*/false);
  }

  void Return(const std::shared_ptr<const ClaimUse>& use) {
    for (std::uint32_t i = 0; i < use->devices.size(); ++i) {
      const DeviceId id = use->devices[i].device;
      Leaf& leaf = Writable(id);
      std::erase_if(leaf.entries,
                    [&](const Leaf::Entry& entry) { return entry.claim == use && entry.use == i; });
      leaf.Recount(id);
    }
    held -= use->devices.size();
    ++version;
    Note(*use, /*given_back=*/true);
  }
};

AllocatedState::AllocatedState() : core_(std::make_shared<Core>()) {}

AllocatedState::Handle& AllocatedState::Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    GiveBack();
    core_ = std::move(other.core_);
    use_ = std::move(other.use_);
  }
  return *this;
}

void AllocatedState::Handle::GiveBack() {
  if (use_ != nullptr) {
    core_->Return(use_);
    Release();
  }
}

void AllocatedState::Handle::Release() {
  use_.reset();
  core_.reset();
}

AllocatedState AllocatedState::Fork() const {
  return AllocatedState(std::make_shared<Core>(*core_));
}

AllocatedState::Handle AllocatedState::Commit(ClaimUse use) {
  Handle handle;
  handle.core_ = core_;
  handle.use_ = std::make_shared<const ClaimUse>(std::move(use));
  core_->Take(handle.use_);
  return handle;
}

bool AllocatedState::IsExclusive(DeviceId id) const {
  const Leaf* const leaf = core_->Find(id);
  return leaf != nullptr && (leaf->exclusive & BitOf(id)) != 0;
}

bool AllocatedState::IsShared(DeviceId id) const {
  const Leaf* const leaf = core_->Find(id);
  return leaf != nullptr && (leaf->shared & BitOf(id)) != 0;
}

quantity::Quantity AllocatedState::Consumed(DeviceId id, std::string_view name) const {
  quantity::Quantity sum;
  const Leaf* const leaf = core_->Find(id);
  if (leaf == nullptr || (leaf->shared & BitOf(id)) == 0) {
    return sum;
  }
  for (const Leaf::Entry& entry : leaf->entries) {
    if (entry.id != id) {
      continue;
    }
    for (const CapacityUse& use : entry.claim->devices[entry.use].consumed) {
      if (use.name == name) {
        quantity::AddTo(sum, use.amount);
      }
    }
  }
  return sum;
}

std::vector<Holder> AllocatedState::Holders(DeviceId id) const {
  std::vector<Holder> holders;
  if (const Leaf* const leaf = core_->Find(id)) {
    for (const Leaf::Entry& entry : leaf->entries) {
      if (entry.id == id) {
        holders.push_back({entry.claim.get(), &entry.claim->devices[entry.use]});
      }
    }
  }
  return holders;
}

std::uint64_t AllocatedState::version() const {
  return core_->version;
}

std::size_t AllocatedState::held_count() const {
  return core_->held;
}

const base::ChangeLog<DeviceChange>& AllocatedState::changes() const {
  return core_->changes;
}

}  // namespace allot::inventory
