#include "testing/fault_vfs.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

#include <sqlite3.h>

namespace allot::testing {

// One open file. SQLite allocates szOsFile bytes for it and calls xClose at the end.
struct FaultFile {
  sqlite3_file base;
  FaultDisk* disk;
  std::shared_ptr<FaultDisk::Content>* content;
  std::vector<std::unique_ptr<std::string>>* shared_memory;

  static FaultFile& Of(sqlite3_file* file) { return *reinterpret_cast<FaultFile*>(file); }

  static int Close(sqlite3_file* file) {
    delete Of(file).content;
    delete Of(file).shared_memory;
    return SQLITE_OK;
  }
  static int Read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
    const std::string& now = (*Of(file).content)->now;
    const auto at = static_cast<std::size_t>(offset);
    const std::size_t have =
        at < now.size() ? std::min(now.size() - at, static_cast<std::size_t>(size)) : 0;
    std::memcpy(to, now.data() + std::min(at, now.size()), have);
    std::memset(static_cast<char*>(to) + have, 0, static_cast<std::size_t>(size) - have);
    return have == static_cast<std::size_t>(size) ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
  }
  static int Write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
    FaultDisk& disk = *Of(file).disk;
    FaultDisk::Content& content = **Of(file).content;
    const std::uint64_t end = static_cast<std::uint64_t>(offset) + static_cast<std::uint64_t>(size);
    const std::uint64_t grown = end > content.now.size() ? end - content.now.size() : 0;
    if (disk.space && grown > 0 && disk.Used() + grown > *disk.space) {
      return SQLITE_FULL;
    }
    disk.extended_ += grown;
    FaultDisk::Write write{
        .offset = static_cast<std::uint64_t>(offset),
        .bytes = std::string(static_cast<const char*>(from), static_cast<std::size_t>(size))};
    FaultDisk::Apply(content.now, write);
    content.unsynced.push_back(std::move(write));
    return SQLITE_OK;
  }
  static int Truncate(sqlite3_file* file, sqlite3_int64 size) {
    FaultDisk::Content& content = **Of(file).content;
    FaultDisk::Write write{
        .offset = static_cast<std::uint64_t>(size), .bytes = {}, .truncate = true};
    FaultDisk::Apply(content.now, write);
    content.unsynced.push_back(std::move(write));
    return SQLITE_OK;
  }
  static int Sync(sqlite3_file* file, int) {
    FaultDisk& disk = *Of(file).disk;
    if (disk.on_sync) {
      disk.on_sync(false);
    }
    if (std::exchange(disk.fail_next_sync, false)) {
      return SQLITE_IOERR_FSYNC;
    }
    FaultDisk::Content& content = **Of(file).content;
    for (const FaultDisk::Write& write : content.unsynced) {
      FaultDisk::Apply(content.synced, write);
    }
    content.unsynced.clear();
    ++disk.syncs_;
    if (disk.on_sync) {
      disk.on_sync(true);
    }
    return SQLITE_OK;
  }
  static int Size(sqlite3_file* file, sqlite3_int64* size) {
    *size = static_cast<sqlite3_int64>((*Of(file).content)->now.size());
    return SQLITE_OK;
  }
  static int Lock(sqlite3_file*, int) { return SQLITE_OK; }
  static int CheckLock(sqlite3_file*, int* locked) {
    *locked = 0;
    return SQLITE_OK;
  }
  static int Control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int SectorSize(sqlite3_file*) { return 512; }
  static int Characteristics(sqlite3_file*) { return 0; }
  static int ShmMap(sqlite3_file* file, int region, int size, int extend, volatile void** at) {
    auto& regions = *Of(file).shared_memory;
    const auto index = static_cast<std::size_t>(region);
    *at = nullptr;
    if (index >= regions.size() && extend == 0) {
      return SQLITE_OK;
    }
    while (regions.size() <= index) {
      regions.push_back(std::make_unique<std::string>(static_cast<std::size_t>(size), '\0'));
    }
    *at = regions[index]->data();
    return SQLITE_OK;
  }
  static int ShmLock(sqlite3_file*, int, int, int) { return SQLITE_OK; }
  static void ShmBarrier(sqlite3_file*) {}
  static int ShmUnmap(sqlite3_file* file, int) {
    Of(file).shared_memory->clear();
    return SQLITE_OK;
  }

  static FaultDisk& DiskOf(sqlite3_vfs* vfs) { return *static_cast<FaultDisk*>(vfs->pAppData); }
  static int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out);
  static int Delete(sqlite3_vfs* vfs, const char* name, int) {
    DiskOf(vfs).files_.erase(name);
    return SQLITE_OK;
  }
  static int Access(sqlite3_vfs* vfs, const char* name, int, int* result) {
    *result = DiskOf(vfs).files_.contains(name) ? 1 : 0;
    return SQLITE_OK;
  }
  static int FullPath(sqlite3_vfs*, const char* name, int size, char* out) {
    sqlite3_snprintf(size, out, "%s", name);
    return SQLITE_OK;
  }
};

int FaultFile::Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
  static const sqlite3_io_methods kMethods = {2,
                                              Close,
                                              Read,
                                              Write,
                                              Truncate,
                                              Sync,
                                              Size,
                                              Lock,
                                              Lock,
                                              CheckLock,
                                              Control,
                                              SectorSize,
                                              Characteristics,
                                              ShmMap,
                                              ShmLock,
                                              ShmBarrier,
                                              ShmUnmap,
                                              nullptr,
                                              nullptr};
  auto* const made = ::new (file) FaultFile();
  made->disk = &DiskOf(vfs);
  std::shared_ptr<FaultDisk::Content> content = std::make_shared<FaultDisk::Content>();
  if (name != nullptr) {  // without a name it is a temporary file
    auto& place = DiskOf(vfs).files_[name];
    place = place == nullptr ? content : place;
    content = place;
  }
  made->content = new std::shared_ptr<FaultDisk::Content>(std::move(content));
  made->shared_memory = new std::vector<std::unique_ptr<std::string>>();
  made->base.pMethods = &kMethods;
  if (out != nullptr) {
    *out = flags;
  }
  return SQLITE_OK;
}

FaultDisk::FaultDisk() : vfs_(std::make_unique<sqlite3_vfs>()) {
  static std::atomic<int> count{0};
  name_ = "allot-fault-" + std::to_string(count.fetch_add(1));
  sqlite3_initialize();
  *vfs_ = *sqlite3_vfs_find(nullptr);  // time, randomness and sleep are the system's
  vfs_->szOsFile = sizeof(FaultFile);
  vfs_->zName = name_.c_str();
  vfs_->pAppData = this;
  vfs_->xOpen = FaultFile::Open;
  vfs_->xDelete = FaultFile::Delete;
  vfs_->xAccess = FaultFile::Access;
  vfs_->xFullPathname = FaultFile::FullPath;
  sqlite3_vfs_register(vfs_.get(), 0);
}

FaultDisk::~FaultDisk() {
  sqlite3_vfs_unregister(vfs_.get());
}

void FaultDisk::Apply(std::string& content, const Write& write) {
  if (write.truncate) {
    content.resize(write.offset);
    return;
  }
  if (content.size() < write.offset + write.bytes.size()) {
    content.resize(write.offset + write.bytes.size());
  }
  content.replace(write.offset, write.bytes.size(), write.bytes);
}

std::uint64_t FaultDisk::Used() const {
  std::uint64_t used = 0;
  for (const auto& [name, content] : files_) {
    used += content->now.size();
  }
  return used;
}

std::unique_ptr<FaultDisk> FaultDisk::CrashImage(Crash crash, base::Random& random) const {
  auto image = std::make_unique<FaultDisk>();
  for (const auto& [name, content] : files_) {
    auto copy = std::make_shared<Content>();
    copy->now = content->synced;
    for (const Write& write : content->unsynced) {
      if (crash == Crash::kDropUnsynced || random.Below(2) == 0) {
        continue;
      }
      Write survivor = write;
      if (crash == Crash::kTear && survivor.bytes.size() > 512 && random.Below(2) == 0) {
        survivor.bytes.resize(512 * random.Below(survivor.bytes.size() / 512));
      }
      Apply(copy->now, survivor);
    }
    copy->synced = copy->now;
    image->files_[name] = std::move(copy);
  }
  return image;
}

}  // namespace allot::testing
