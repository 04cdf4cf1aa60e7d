#include "core/base/child_process.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

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

ChildSpec shell(const std::string& script) {
  ChildSpec out;
  out.command = {"sh", "-c", script};
  return out;
}

/// True once it is there, which may take a while on a machine with much to do.
bool appears(const std::filesystem::path& file) {
  for (int i = 0; i < 2000 && !std::filesystem::exists(file); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return std::filesystem::exists(file);
}

TEST(ChildProcess, EndsWithItsCodeOrItsSignal) {
  for (const int code : {0, 7, 75, 127, 255}) {
    ChildProcess child(shell("exit " + std::to_string(code)));
    EXPECT_EQ(end_code(child), code);
    EXPECT_EQ(child.by_signal(), 0);
  }
  ChildProcess killed(shell("sleep 60"));
  EXPECT_EQ(killed.poll(), std::nullopt);
  killed.kill_group();
  EXPECT_EQ(end_code(killed), 128 + SIGKILL);
  EXPECT_EQ(killed.by_signal(), SIGKILL);
}

TEST(ChildProcess, IsWaitedForForALimitedTime) {
  ChildProcess soon(shell("sleep 0.1; exit 3"));
  EXPECT_EQ(soon.wait(60), 3);
  ChildProcess late(shell("sleep 60"));
  EXPECT_EQ(late.wait(0.05), std::nullopt);
  EXPECT_EQ(late.end(), 128 + SIGKILL);
  EXPECT_EQ(late.wait(60), 128 + SIGKILL) << "it has been waited for already";
}

TEST(ChildProcess, WritesToItsFileAndFindsItsVariables) {
  const TemporaryFolder folder;
  ChildSpec spec = shell("echo \"$GREETING\"; echo loud >&2");
  spec.variables = {{"GREETING", "hello"}};
  spec.out = spec.err = {.kind = ChildStream::Kind::File, .file = folder.path() / "log"};
  for (int i = 0; i < 2; ++i) {
    ChildProcess child(spec);
    EXPECT_EQ(end_code(child), 0);
  }
  std::ifstream in(folder.path() / "log");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "hello\nloud\nhello\nloud\n");
  spec.out.file = folder.path() / "absent" / "log";
  EXPECT_THROW(ChildProcess{spec}, StorageError);
}

TEST(ChildProcess, ReadsNothingWhereThereIsNothing) {
  ChildSpec spec = shell("cat; exit 4");
  spec.in = spec.out = {.kind = ChildStream::Kind::Nothing};
  ChildProcess child(spec);
  EXPECT_EQ(end_code(child), 4);
}

// Else the reader of a pipe waits for all children that were started after it.
TEST(ChildProcess, HasNoPipeOfAnotherChild) {
  ChildSpec reads = shell("cat >/dev/null; exit 2");
  reads.in = {.kind = ChildStream::Kind::Pipe};
  ChildProcess reader(reads);
  ChildProcess other(shell("sleep 60"));
  EXPECT_EQ(reader.wait(0.05), std::nullopt);
  reader.pipe(STDIN_FILENO).reset();
  EXPECT_EQ(end_code(reader), 2);
  EXPECT_EQ(other.poll(), std::nullopt);
}

TEST(ChildProcess, ASignalReachesItsGroup) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "said").string();
  ChildProcess child(shell("trap 'wait; exit 6' TERM; (trap 'echo inner >" + file +
                           "; exit' TERM; : >" + file +
                           ".ready; while :; do sleep 0.02; done) & while :; do sleep 0.02; done"));
  ASSERT_TRUE(appears(file + ".ready"));
  child.signal_group(SIGTERM);
  EXPECT_EQ(end_code(child), 6);
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(ChildProcess, LeadsAGroupOrStaysInOurs) {
  ChildSpec spec = shell("read -r pid name state parent group rest </proc/self/stat; [ $group = " +
                         std::to_string(getpgrp()) + " ]");
  ChildProcess leads(spec);
  EXPECT_EQ(end_code(leads), 1);
  spec.own_group = false;
  ChildProcess stays(spec);
  EXPECT_EQ(end_code(stays), 0);
}

TEST(ChildProcess, ReachesTheProcessesThatItsChildHasStarted) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "said";
  ChildProcess child(shell("sh -c 'trap \"echo quit >" + file.string() + "; exit 5\" QUIT; echo >" +
                           file.string() + ".ready; while :; do sleep 0.02; done'; exit 6"));
  ASSERT_TRUE(appears(file.string() + ".ready"));
  child.signal_children(SIGQUIT);
  EXPECT_EQ(end_code(child), 6) << "the child itself got no signal";
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(ChildProcess, AChildThatCannotStopHoldsUpNoSuspension) {
  if (std::getenv("DEPTHGRID_TEST_VFORK") !=
      nullptr) {  // the child: waits for one that has stopped
    const pid_t child = vfork();
    if (child == 0) {
      raise(SIGSTOP);
      _exit(0);
    }
    return;
  }
  ChildSpec spec;
  spec.command = {"/proc/self/exe", "--gtest_filter=ChildProcess.AChildThatCannotStop*"};
  spec.out = {.kind = ChildStream::Kind::Nothing};
  spec.variables = {{"DEPTHGRID_TEST_VFORK", "1"}};
  ChildProcess child(spec);
  const auto stopped_one = [&] {
    std::ifstream list(fmt::format("/proc/{0}/task/{0}/children", child.id()));
    std::string id, state;
    std::ifstream stat(list >> id ? "/proc/" + id + "/stat" : "");
    return stat >> id >> state >> state && state == "T";
  };
  for (int i = 0; i < 2000 && !stopped_one(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_TRUE(stopped_one());

  child.suspend();

  EXPECT_EQ(child.poll(), std::nullopt);
  child.signal_group(SIGCONT);
  EXPECT_EQ(child.wait(60), 0);
}

TEST(ChildProcess, TakesItsWholeGroupWithIt) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "alive";
  {
    ChildProcess child(
        shell("(while :; do date +%N >" + file.string() + "; sleep 0.02; done) & wait"));
    ASSERT_TRUE(appears(file));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::filesystem::remove(file);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_FALSE(std::filesystem::exists(file)) << "something of the group still writes";
}

// However the parent ends: nobody would stop it any more, or look at what it does.
TEST(ChildProcess, EndsWithItsParent) {
  const TemporaryFolder folder;
  const auto said = folder.path() / "said", ready = folder.path() / "ready";
  const pid_t parent = fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    const ChildProcess child(shell("trap ': >" + said.string() + "; exit' TERM; : >" +
                                   ready.string() + "; while :; do sleep 0.02; done"));
    appears(ready);
    kill(getpid(), SIGKILL);
  }
  waitpid(parent, nullptr, 0);
  EXPECT_TRUE(std::filesystem::exists(ready));
  EXPECT_TRUE(appears(said));
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

TEST(ChildProcess, IgnoresWhatItsParentIgnoresOnlyIfItIsTo) {
  ChildSpec spec = shell("kill -HUP $$; exit 5");
  const auto before = std::signal(SIGHUP, SIG_IGN);
  ChildProcess ends(spec);
  EXPECT_EQ(end_code(ends), 128 + SIGHUP);
  spec.keeps_ignored = true;
  ChildProcess stays(spec);
  std::signal(SIGHUP, before);
  EXPECT_EQ(end_code(stays), 5) << "as behind nohup";
}

TEST(ChildProcess, IsBoundToTheCoresThatItIsGiven) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "out";
  const std::vector<int> all = allowed_cores();
  ASSERT_FALSE(all.empty());
  ChildSpec spec = shell("grep Cpus_allowed_list /proc/self/status");
  spec.out = {.kind = ChildStream::Kind::File, .file = file};
  spec.cores = {all.back()};
  ChildProcess child(spec);
  ASSERT_EQ(end_code(child), 0);
  std::ifstream in(file);
  std::string name, cores;
  in >> name >> cores;
  EXPECT_EQ(cores, std::to_string(all.back()));
}

TEST(ChildProcess, AProgramThatIsNotThereIsAnErrorWithItsName) {
  for (const char* program : {"no-such-program-here", "/no/such/program", "/etc/passwd"}) {
    ChildSpec spec;
    spec.command = {program, "word"};
    spec.in = {.kind = ChildStream::Kind::Pipe};
    try {
      ChildProcess{spec};
      FAIL() << program << " was started";
    } catch (const StartError& e) {
      EXPECT_EQ(e.code(), ExitCode::BadConfig);
      EXPECT_EQ(e.program(), program);
      EXPECT_TRUE(std::string(e.what()).starts_with(program)) << e.what();
      EXPECT_FALSE(e.reason().empty());
    }
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "nothing of it is left to be waited for";
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
