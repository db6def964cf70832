#include "net/http.h"

#include <string>

#include <gmock/gmock.h>

#include "net/gzip.h"

namespace allot::net {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(HeaderListTest, NamesAreFoundInLowerCase) {
  HeaderList headers = {{"Content-Type", "application/json"}, {"X-A", "1"}, {"x-a", "2"}};
  EXPECT_EQ(headers.Get("content-type"), "application/json");
  EXPECT_EQ(headers.Get("x-a"), "1");
  EXPECT_EQ(headers.Find("accept"), std::nullopt);
  headers.Set("X-a", "3");
  EXPECT_EQ(headers.size(), 2U);
  EXPECT_EQ(headers.Get("x-a"), "3");
}

TEST(QueryParametersTest, Parse) {
  const auto query =
      QueryParameters::Parse("watch=true&labelSelector=a%3Db%2Cc&x=1+2&broken=%zz&empty=&bare&&=v");
  EXPECT_THAT(query.all(),
              ElementsAre(Pair("watch", "true"),
                          Pair("labelSelector", "a=b,c"),
                          Pair("x", "1 2"),
                          Pair("empty", ""),
                          Pair("bare", ""),
                          Pair("", "v")));
  EXPECT_EQ(query.Get("watch"), "true");
  EXPECT_EQ(query.Find("none"), std::nullopt);
}

TEST(SplitTargetTest, Cases) {
  struct Case {
    const char* target;
    bool fine;
    const char* path;
    const char* query;
  };
  const Case cases[] = {
      {"/api/v1/pods?limit=5", true, "/api/v1/pods", "limit=5"},
      {"/a%20b/%2F", true, "/a b//", ""},
      {"/?", true, "/", ""},
      {"*", true, "*", ""},
      {"https://host:1/x?y=1", true, "/x", "y=1"},
      {"http://host", true, "/", ""},
      {"http://host?y", true, "/", "y"},
      {"/a#fragment", true, "/a", ""},
      {"", false, "", ""},
      {"api", false, "", ""},
      {"?a=b", true, "/", "a=b"},
      {"/%", false, "", ""},
      {"/%1", false, "", ""},
      {"/%zz", false, "", ""},
      {"/%00", false, "", ""},
      {"/a b", false, "", ""},
      {"/a\x7f", false, "", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.target);
    Request request;
    ASSERT_EQ(SplitTarget(c.target, request), c.fine);
    if (c.fine) {
      EXPECT_EQ(request.path, c.path);
      EXPECT_EQ(request.raw_query, c.query);
      EXPECT_EQ(request.target, c.target);
    }
  }
}

TEST(PercentTest, RoundTrip) {
  std::string all;
  for (int i = 1; i < 256; ++i) {
    all.push_back(static_cast<char>(i));
  }
  EXPECT_EQ(PercentDecode(PercentEncode(all)), all);
  EXPECT_EQ(PercentEncode("a b/c"), "a%20b%2Fc");
  EXPECT_EQ(PercentDecode("%4"), std::nullopt);
}

TEST(HasTokenTest, Cases) {
  struct Case {
    const char* value;
    bool has;
  };
  const Case cases[] = {{"gzip", true},
                        {"deflate, GZIP;q=0.5", true},
                        {"gzip;q=0", false},
                        {"gzip; q=0.000", false},
                        {"br, gzip2", false},
                        {"", false},
                        {" gzip ,identity", true}};
  for (const Case& c : cases) {
    EXPECT_EQ(HasToken(c.value, "gzip"), c.has) << c.value;
  }
}

TEST(GzipTest, RoundTripAndLimits) {
  for (const std::size_t size : {0UL, 1UL, 1000UL, 3'000'000UL}) {
    std::string text;
    for (std::size_t i = 0; text.size() < size; ++i) {
      text += std::to_string(i * 2654435761U);
    }
    text.resize(size);
    const std::string packed = GzipLevel1(text);
    const auto unpacked = Gunzip(packed, size + 1);
    ASSERT_TRUE(unpacked) << unpacked.error().ToString();
    EXPECT_EQ(*unpacked, text);
    if (size > 1) {
      EXPECT_FALSE(Gunzip(packed, size / 2));
      EXPECT_FALSE(Gunzip(std::string_view(packed).substr(0, packed.size() - 3), size + 1));
    }
  }
  EXPECT_FALSE(Gunzip("not gzip at all", 1000));
  EXPECT_FALSE(Gunzip("", 1000));
}

}  // namespace
}  // namespace allot::net
