#include "core/base/child_process.hpp"

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/base/machine.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace child_process_test {

int end_code(ChildProcess& child) {
  for (int i = 0; i < 2000; ++i) {
    if (const auto code = child.poll()) return *code;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return -1;
}

ChildOptions shell(const std::string& script) {
  ChildOptions out;
  out.command = {"sh", "-c", script};
  return out;
}

TEST(ChildProcess, EndsWithItsCodeOrItsSignal) {
  ChildProcess seven(shell("exit 7"));
  EXPECT_EQ(end_code(seven), 7);
  ChildProcess killed(shell("sleep 60"));
  EXPECT_EQ(killed.poll(), std::nullopt);
  killed.kill_group();
  EXPECT_EQ(end_code(killed), 128 + SIGKILL);
}

TEST(ChildProcess, WritesToItsFileAndFindsItsVariables) {
  const TemporaryFolder folder;
  ChildOptions options = shell("echo \"$GREETING\"; echo loud >&2");
  options.variables = {{"GREETING", "hello"}};
  options.output = folder.path() / "log";
  ChildProcess child(options);
  EXPECT_EQ(end_code(child), 0);
  std::ifstream in(folder.path() / "log");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "hello\nloud\n");
}

TEST(ChildProcess, ReachesTheProcessesThatItsChildHasStarted) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "said";
  ChildProcess child(shell("sh -c 'trap \"echo quit >" + file.string() + "; exit 5\" QUIT; echo >" +
                           file.string() + ".ready; while :; do sleep 0.02; done'; exit 6"));
  for (int i = 0; i < 500 && !std::filesystem::exists(file.string() + ".ready"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  child.signal_children(SIGQUIT);
  EXPECT_EQ(end_code(child), 6) << "the child itself got no signal";
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(ChildProcess, TakesItsWholeGroupWithIt) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "alive";
  {
    ChildProcess child(
        shell("(while :; do date +%N >" + file.string() + "; sleep 0.02; done) & wait"));
    for (int i = 0; i < 500 && !std::filesystem::exists(file); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_TRUE(std::filesystem::exists(file));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::filesystem::remove(file);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_FALSE(std::filesystem::exists(file)) << "something of the group still writes";
}

TEST(ChildProcess, HasNoSignalBlockedThatItsParentBlocks) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  ChildProcess child(shell("sleep 60"));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  child.signal(SIGTERM);
  EXPECT_EQ(end_code(child), 128 + SIGTERM);
}

TEST(ChildProcess, IsBoundToTheCoresThatItIsGiven) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "out";
  const std::vector<int> all = allowed_cores();
  ASSERT_FALSE(all.empty());
  ChildOptions options = shell("grep Cpus_allowed_list /proc/self/status");
  options.output = file;
  options.cores = {all.back()};
  ChildProcess child(options);
  ASSERT_EQ(end_code(child), 0);
  std::ifstream in(file);
  std::string name, cores;
  in >> name >> cores;
  EXPECT_EQ(cores, std::to_string(all.back()));
}

TEST(ChildProcess, AProgramThatIsNotThereIsAnErrorWithItsName) {
  try {
    ChildProcess child({.command = {"no-such-program-here"},
                        .variables = {},
                        .keeps_launcher = false,
                        .output = {}});
    FAIL() << "it was started";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("no-such-program-here"), std::string::npos);
  }
}

TEST(AnswerOf, IsWhatACommandWrites) {
  const CommandAnswer answer = answer_of({"sh", "-c", "cat; echo no >&2; exit 3"}, 10, "input");
  EXPECT_EQ(answer.code, 3);
  EXPECT_EQ(answer.out, "input");
  EXPECT_EQ(answer.err, "no\n");
  EXPECT_FALSE(answer.late);
}

TEST(AnswerOf, ACommandThatTakesTooLongIsEnded) {
  const auto begin = std::chrono::steady_clock::now();
  const CommandAnswer answer = answer_of({"sleep", "60"}, 0.2);
  EXPECT_TRUE(answer.late);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(AnswerOf, AnAbsentCommandIs127) {
  EXPECT_EQ(answer_of({"no-such-program-here"}, 1).code, 127);
}

TEST(Machine, CardsAreReadAsCudaReadsThem) {
  EXPECT_EQ(cards_of("0,2"), (std::vector<std::string>{"0", "2"}));
  EXPECT_EQ(cards_of("1,-1,0"), std::vector<std::string>{"1"});
  EXPECT_TRUE(cards_of("").empty());
  EXPECT_TRUE(cards_of("NoDevFiles").empty());
  EXPECT_EQ(cards_of("GPU-1f,GPU-2e").size(), 2U);
}

TEST(Machine, HasACoreAndMemory) {
  const Machine machine = this_machine();
  EXPECT_GE(machine.cores, 1);
  EXPECT_GT(machine.memory_bytes, 1e8);
  EXPECT_FALSE(machine.host.empty());
}

}  // namespace child_process_test
}  // namespace depthgrid
