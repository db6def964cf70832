// The store contract over its two logs.
#include "testing/store_contract.h"

#include "testing/temp_dir.h"

namespace allot::testing {
namespace {

class MemoryStoreDisk final : public StoreDisk {
 public:
  std::unique_ptr<store::Log> Open() override { return store::MakeMemoryLog(disk_); }

 private:
  std::shared_ptr<store::MemoryDisk> disk_ = std::make_shared<store::MemoryDisk>();
};

class SqliteStoreDisk final : public StoreDisk {
 public:
  std::unique_ptr<store::Log> Open() override {
    auto log = store::OpenSqliteLog({.directory = directory_.path()});
    EXPECT_TRUE(log.has_value()) << log.error().ToString();
    return *std::move(log);
  }

 private:
  TempDir directory_;
};

INSTANTIATE_TEST_SUITE_P(
    Logs,
    StoreContract,
    ::testing::Values(StoreDiskKind{"Memory",
                                    [] {
                                      return std::make_unique<MemoryStoreDisk>();
                                    }},
                      StoreDiskKind{"Sqlite",
                                    [] {
                                      return std::make_unique<SqliteStoreDisk>();
                                    }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace allot::testing
