#include "sweeps/launch/launch_process.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/exit_code.hpp"
#include "sweeps/launch/launch_plan.hpp"
#include "tests/storage/pretended_fs.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr int kFailed = static_cast<int>(ExitCode::Failed);
constexpr int kInfrastructure = static_cast<int>(ExitCode::Infrastructure);

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A launch whose launcher is a shell.
struct ShellLaunch {
  TemporaryFolder folder;
  LaunchPlan plan;
  LaunchRequest request{
      .plan = plan, .attempt = 1, .gpus = {}, .cores = {}, .folder = folder.path()};

  LaunchCommand command(LauncherKind kind, const std::string& script, bool elsewhere) {
    return {.kind = kind,
            .words = {"/bin/sh", "-c", script},
            .variables = {{"BOARD", LaunchProcess::channel_of(request).string()}},
            .elsewhere = elsewhere};
  }
  int end_of(LauncherKind kind, const std::string& script, bool elsewhere = false) {
    LaunchProcess launch(request, command(kind, script, elsewhere), 0);
    while (true) {
      if (const auto code = launch.poll()) return *code;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  std::string log() const { return text_of(folder.path() / "attempt-1.log"); }
};

TEST(LaunchProcess, ALauncherThatFailsItselfIsNoFaultOfTheCells) {
  for (const int code : {1, 205, 213}) {  // it could not start; a daemon was lost; ORTE's timeout
    ShellLaunch launch;
    EXPECT_EQ(launch.end_of(LauncherKind::Mpirun, "exit " + std::to_string(code)), kInfrastructure);
    EXPECT_NE(launch.log().find("mpirun ended with " + std::to_string(code)), std::string::npos)
        << launch.log();
  }
  ShellLaunch launch;
  EXPECT_EQ(launch.end_of(LauncherKind::Srun, "echo no step; exit 1"), kInfrastructure);
  EXPECT_TRUE(launch.log().starts_with("no step\ndepthgrid: srun ended with 1")) << launch.log();
}

TEST(LaunchProcess, ALauncherWithoutRoomForItsFilesSaysWhere) {
  const PretendedFs disk;
  disk.state().space = DiskSpace{.bytes = 4096};
  ShellLaunch launch;
  launch.request.disk = &disk;
  EXPECT_EQ(launch.end_of(LauncherKind::Mpirun, "exit 1"), static_cast<int>(ExitCode::CantCreate));
  EXPECT_NE(launch.log().find("No space left on device (4096 bytes are free): mpirun"),
            std::string::npos)
      << launch.log();
  EXPECT_NE(launch.log().find("set TMPDIR"), std::string::npos) << launch.log();
}

TEST(LaunchProcess, WhatARankHasNotedCounts) {
  ShellLaunch failed;  // a rank ended with 1
  EXPECT_EQ(failed.end_of(LauncherKind::Mpirun, "echo 001 >$BOARD/end; exit 1"), kFailed);
  EXPECT_EQ(failed.log(), "");
  ShellLaunch others;  // the first has hung, and srun ended the others by TERM
  EXPECT_EQ(others.end_of(LauncherKind::Srun, "echo 076 >$BOARD/end; exit 143"), 76);
}

TEST(LaunchProcess, CodesAndSignalsOfRanksStay) {
  for (const int code : {0, 2, 70, 75, 77, 78, 127, 128 + 9, 128 + 11, 128 + 15}) {
    ShellLaunch launch;
    EXPECT_EQ(launch.end_of(LauncherKind::Mpirun, "exit " + std::to_string(code)), code);
  }
  ShellLaunch alone;  // a worker without a launcher
  EXPECT_EQ(alone.end_of(LauncherKind::Direct, "exit 1"), kFailed);
}

TEST(LaunchProcess, WhatItToldLastIsReadHoweverShortItWas) {
  ShellLaunch launch;
  const std::string line = event_line({.kind = LiveKind::JobEnd, .job = "j"});
  LaunchProcess process(
      launch.request,
      launch.command(LauncherKind::Direct, "echo '" + line + "' >$BOARD/rank-0.events", false), 3);
  while (!process.poll()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::vector<LiveEvent> news = process.news();
  ASSERT_EQ(news.size(), 1U);
  EXPECT_EQ(news[0].kind, LiveKind::JobEnd);
  EXPECT_EQ(news[0].rank, 3);
}

TEST(LaunchProcess, EachMpirunHasItsOwnFolderOfSessions) {
  const std::string script = "echo $OMPI_MCA_orte_tmpdir_base; mkdir $OMPI_MCA_orte_tmpdir_base/s";
  ShellLaunch a, b;
  a.end_of(LauncherKind::Mpirun, script);
  b.end_of(LauncherKind::Mpirun, script);
  const std::string first = a.log(), second = b.log();
  EXPECT_GT(first.size(), 2U);
  EXPECT_NE(first, second);
  EXPECT_FALSE(fs::exists(first.substr(0, first.find('\n')))) << first;
  // Over several nodes mpirun runs alone, and nobody would remove the folders of the others.
  ShellLaunch direct, spread;
  direct.end_of(LauncherKind::Direct, script);
  EXPECT_EQ(direct.log().find("depthgrid."), std::string::npos) << direct.log();
  spread.end_of(LauncherKind::Mpirun, script, /*elsewhere=*/true);
  EXPECT_EQ(spread.log().find("depthgrid."), std::string::npos) << spread.log();
}

}  // namespace
}  // namespace depthgrid
