#include "server/api_keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

namespace lockstep {
namespace {

class KeyFile : public ::testing::Test {
 protected:
  void write(const char* text, mode_t mode = 0600) {
    std::ofstream(path_) << text;
    chmod(path_.c_str(), mode);
  }
  // Tests may run at the same time.
  std::filesystem::path path_ = ::testing::TempDir() + "lockstep_keys_" +
                                ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(KeyFile, EveryKeyHasASaltOfItsOwn) {
  write("# of the team\nalpha\n\n  beta \n");
  const ApiKeys keys = ApiKeys::make({"gamma"}, path_).value();
  EXPECT_TRUE(keys.required());
  const auto alpha = keys.salt_of("Bearer alpha");
  const auto beta = keys.salt_of("bearer beta");
  const auto gamma = keys.salt_of("Bearer gamma");
  ASSERT_TRUE(alpha && beta && gamma);
  EXPECT_NE(*alpha, *beta);
  EXPECT_NE(*beta, *gamma);
  EXPECT_EQ(alpha->find("alpha"), std::string::npos);
  for (const char* wrong : {"", "alpha", "Bearer", "Bearer ", "Bearer alph", "Bearer # of the team",
                            "Basic alpha", "Bearer alpha beta"}) {
    EXPECT_FALSE(keys.salt_of(wrong).has_value()) << wrong;
  }
}

TEST_F(KeyFile, ReloadTakesNewKeysAndKeepsTheOldOnesOnAnError) {
  write("alpha\n");
  ApiKeys keys = ApiKeys::make({}, path_).value();
  write("beta\n");
  ASSERT_TRUE(keys.reload().ok());
  EXPECT_FALSE(keys.salt_of("Bearer alpha").has_value());
  EXPECT_TRUE(keys.salt_of("Bearer beta").has_value());
  write("gamma\n", 0644);
  EXPECT_NE(keys.reload().error().message.find("chmod 600"), std::string::npos);
  EXPECT_TRUE(keys.salt_of("Bearer beta").has_value());
}

TEST_F(KeyFile, AFileWithoutKeysLetsNobodyIn) {
  write("# nothing\n");
  EXPECT_NE(ApiKeys::make({}, path_).error().message.find("holds no key"), std::string::npos);
  EXPECT_FALSE(ApiKeys::make({}, path_.string() + ".missing").ok());
}

TEST(ApiKeys, WithoutKeysEverybodyMayAsk) {
  const ApiKeys keys = ApiKeys::make({}, {}).value();
  EXPECT_FALSE(keys.required());
  EXPECT_EQ(keys.salt_of("").value(), "");
}

}  // namespace
}  // namespace lockstep
