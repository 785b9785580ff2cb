#include "bench/process_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <vector>

namespace lockstep::bench {
namespace {

TEST(ProcessMemory, GrowsByWhatIsWritten) {
  const auto before = process_memory();
  if (!before) GTEST_SKIP() << "this system does not say";
  constexpr size_t kBytes = size_t{64} << 20;
  const std::vector<char> written(kBytes, 1);
  const auto after = process_memory();
  ASSERT_TRUE(after);
  EXPECT_GE(after->anonymous, before->anonymous + kBytes * 9 / 10 * written.front());
}

TEST(ProcessMemory, IsAbsentWhereTheSystemDoesNotSay) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("status-" + std::to_string(getpid()));
  std::ofstream(path) << "Name:\tx\nRssAnon:\t   12 kB\n";
  EXPECT_FALSE(process_memory(path));
  std::ofstream(path, std::ios::app) << "RssFile:\t    3 kB\n";
  const auto memory = process_memory(path);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->anonymous, 12u * 1024);
  EXPECT_EQ(memory->mapped, 3u * 1024);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace lockstep::bench
