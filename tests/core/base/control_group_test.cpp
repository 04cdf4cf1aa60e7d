#include "core/base/control_group.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace control_group_test {

namespace fs = std::filesystem;

TEST(ControlGroup, AreThoseOfTheProcessAndAboveItInnermostFirst) {
  const TemporaryFolder folder;
  const fs::path root = folder.path() / "cgroup", own = folder.path() / "own";
  fs::create_directories(root / "system.slice/job_7/step_0");
  std::ofstream(own) << "12:memory:/other\n0::/system.slice/job_7/step_0\n";

  EXPECT_EQ(control_groups(own, root),
            (std::vector<fs::path>{root / "system.slice/job_7/step_0", root / "system.slice/job_7",
                                   root / "system.slice", root}));
}

TEST(ControlGroup, OfAContainerIsTheRootThatItSees) {
  const TemporaryFolder folder;
  const fs::path root = folder.path() / "cgroup", own = folder.path() / "own";
  fs::create_directories(root);
  std::ofstream(own) << "0::/docker/ab12\n";

  EXPECT_EQ(control_groups(own, root), std::vector<fs::path>{root});
  EXPECT_EQ(control_groups(folder.path() / "absent", folder.path() / "none"),
            std::vector<fs::path>{});
}

TEST(ControlGroup, CountsWhatTheSystemHasKilledWhereItIsCounted) {
  const TemporaryFolder folder;
  folder.write("outer/memory.events", "low 0\nhigh 3\nmax 2\noom 5\noom_kill 4\n");
  folder.write("inner/memory.events", "low 0\noom_kill 1\n");
  folder.write("other/cgroup.procs", "1\n");
  const auto group = [&](const char* name) { return folder.path() / name; };
  EXPECT_EQ(oom_kills_in({group("inner"), group("outer")}), 1);
  EXPECT_EQ(oom_kills_in({group("other"), group("outer")}), 4);
  EXPECT_EQ(oom_kills_in({group("other"), group("absent")}), 0);
}

}  // namespace control_group_test
}  // namespace depthgrid
