#include "device/cpu_info.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>
#include <string_view>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// A file system root of its own, removed at the end.
class CpuInfo : public testing::Test {
 protected:
  CpuInfo() {
    std::string pattern = (fs::temp_directory_path() / "lockstep_cpu_info_XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  ~CpuInfo() override { fs::remove_all(root_); }

  void write(const char* path, std::string_view text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  void write_v2() {
    write("proc/self/cgroup", "0::/user.slice/job.scope\n");
    write("proc/self/mountinfo",
          "22 21 0:20 / /proc rw,nosuid - proc proc rw\n"
          "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  }

  fs::path root_;
};

TEST_F(CpuInfo, NothingKnownIsNoLimit) {
  const CgroupLimits limits = read_cgroup_limits(root_);
  EXPECT_FALSE(limits.cpus.has_value());
  EXPECT_FALSE(limits.memory_available.has_value());
  EXPECT_FALSE(available_memory(root_).has_value());
  EXPECT_EQ(cpu_name(root_), "");
}

TEST_F(CpuInfo, V2TakesTheTightestGroupOfTheChain) {
  write_v2();
  write("sys/fs/cgroup/user.slice/job.scope/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n");
  write("sys/fs/cgroup/user.slice/job.scope/memory.max", "max\n");
  write("sys/fs/cgroup/user.slice/job.scope/memory.current", "1000\n");
  write("sys/fs/cgroup/user.slice/memory.max", "1000000\n");
  write("sys/fs/cgroup/user.slice/memory.current", "400000\n");
  write("sys/fs/cgroup/user.slice/memory.stat",
        "anon 100000\ninactive_file 150000\nfile 250000\nactive_file 100000\n");
  const CgroupLimits limits = read_cgroup_limits(root_);
  EXPECT_DOUBLE_EQ(limits.cpus.value(), 1.5);
  EXPECT_EQ(limits.memory_bytes.value(), 1000000u);
  EXPECT_EQ(limits.memory_available.value(), 850000u);
}

TEST_F(CpuInfo, AFullGroupLeavesNothing) {
  write_v2();
  write("sys/fs/cgroup/user.slice/memory.max", "1000\n");
  write("sys/fs/cgroup/user.slice/memory.current", "5000\n");
  EXPECT_EQ(read_cgroup_limits(root_).memory_available.value(), 0u);
}

TEST_F(CpuInfo, V1ReadsEachControllersTree) {
  write("proc/self/cgroup", "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n1:name=x:/\n");
  write("proc/self/mountinfo",
        "40 30 0:30 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n"
        "41 30 0:31 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "500000\n");
  write("sys/fs/cgroup/memory/memory.stat",
        "cache 9\ninactive_file 7\ntotal_inactive_file 40000\ntotal_active_file 60000\n");
  const CgroupLimits limits = read_cgroup_limits(root_);
  EXPECT_DOUBLE_EQ(limits.cpus.value(), 2.0);
  EXPECT_EQ(limits.memory_available.value(), 1600000u);
}

TEST_F(CpuInfo, V1SaysNoneByMinusOneAndByAHugeNumber) {
  write("proc/self/cgroup", "5:memory:/\n4:cpu:/\n");
  write("proc/self/mountinfo",
        "40 30 0:30 / /cg/cpu ro - cgroup cgroup rw,cpu\n"
        "41 30 0:31 / /cg/memory ro - cgroup cgroup rw,memory\n");
  write("cg/cpu/cpu.cfs_quota_us", "-1\n");
  write("cg/cpu/cpu.cfs_period_us", "100000\n");
  write("cg/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("cg/memory/memory.usage_in_bytes", "500000\n");
  const CgroupLimits limits = read_cgroup_limits(root_);
  EXPECT_FALSE(limits.cpus.has_value());
  EXPECT_FALSE(limits.memory_available.has_value());
}

// In a container without a cgroup namespace the path is the host's and its folders are not there.
TEST_F(CpuInfo, AHostPathInAContainerFallsBackToTheMount) {
  write("proc/self/cgroup", "0::/../../machine/x\n");
  write("proc/self/mountinfo", "30 25 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_DOUBLE_EQ(read_cgroup_limits(root_).cpus.value(), 0.5);
}

TEST_F(CpuInfo, AvailableMemoryIsTheLesserOfSystemAndGroups) {
  write("proc/meminfo", "MemTotal:  100 kB\nMemFree:  10 kB\nMemAvailable:    2000 kB\n");
  EXPECT_EQ(available_memory(root_).value(), 2000u * 1024);
  write_v2();
  write("sys/fs/cgroup/user.slice/memory.max", "1000000\n");
  write("sys/fs/cgroup/user.slice/memory.current", "400000\n");
  EXPECT_EQ(available_memory(root_).value(), 600000u);
}

TEST_F(CpuInfo, CpuNameIsWhatFollowsTheColon) {
  write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n");
  EXPECT_EQ(cpu_name(root_), "Some CPU @ 2 GHz");
}

TEST(UsableCpus, IsAtLeastOne) { EXPECT_GE(usable_cpus(), 1); }

}  // namespace
}  // namespace lockstep
