#include "telemetry/log.h"

#include <vector>

#include <gmock/gmock.h>

namespace allot::telemetry {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class LogTest : public ::testing::Test {
 protected:
  Logger Make(LogFormat format, Level level = Level::kInfo) {
    LogOptions options{.level = level, .format = format};
    options.sink = [this](std::string_view line) {
      lines_.emplace_back(line);
    };
    return *Logger::Make(options);
  }
  std::vector<std::string> lines_;
};

TEST_F(LogTest, TextQuotesOnlyWhatNeedsIt) {
  Make(LogFormat::kText)
      .Named("store")
      .Info("opened",
            {{"node", "a"}, {"revision", 12}, {"path", "a b"}, {"ok", true}, {"share", 0.5}});
  EXPECT_THAT(
      lines_,
      ElementsAre(EndsWith("Z info    store: opened node=a revision=12 path=\"a b\" ok=true "
                           "share=0.5")));
}

TEST_F(LogTest, JsonEscapes) {
  Make(LogFormat::kJson).Named("net").Error("bad \"x\"", {{"k", "line\n\x01"}, {"n", -3}});
  EXPECT_THAT(lines_,
              ElementsAre(EndsWith(R"("level":"error","component":"net","msg":"bad \"x\"",)"
                                   R"("k":"line\n\u0001","n":-3})")));
}

TEST_F(LogTest, LevelsBelowAreDropped) {
  const Logger logger = Make(LogFormat::kText, Level::kWarning);
  logger.Info("a");
  logger.Debug("b");
  logger.Warning("c", {Field(base::Status(base::Reason::kNotFound, "gone"))});
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("c err=gone")));
}

TEST_F(LogTest, DefaultLoggerDiscards) {
  const Logger logger;
  EXPECT_FALSE(logger.Enabled(Level::kError));
  logger.Error("nothing happens", {{"a", 1}});
  logger.Flush();
}

TEST_F(LogTest, BadFileIsAnError) {
  EXPECT_FALSE(Logger::Make({.file = "/proc/none/x.log"}).has_value());
}

}  // namespace
}  // namespace allot::telemetry
