#include "core/base/command.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "core/base/processes.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace command_test {

// More than a pipe holds, on either side.
const std::string kLong(1 << 22, 'x');

CommandQuestion shell(const std::string& script) {
  CommandQuestion out;
  out.child.command = {"sh", "-c", script};
  out.child.err = {.kind = ChildStream::Kind::Pipe};
  out.seconds = 120;
  return out;
}

bool ended_itself(const CommandAnswer& answer) {
  return !answer.late && !answer.too_much && !answer.stopped;
}

TEST(Ask, AnswersWithWhatItWritesAndItsExitCode) {
  const CommandAnswer answer = ask(shell("cat; echo no >&2; exit 3"), "input");
  EXPECT_TRUE(ended_itself(answer));
  EXPECT_EQ(answer.code, 3);
  EXPECT_EQ(answer.by_signal, 0);
  EXPECT_EQ(answer.out, "input");
  EXPECT_EQ(answer.err, "no\n");
  EXPECT_TRUE(answer.took_input);
}

TEST(Ask, LongInputAndOutputGoBothWaysAtOnce) {
  std::string input = kLong;
  input[12345] = '\0';
  const CommandAnswer copied = ask(shell("cat"), input);
  EXPECT_TRUE(ended_itself(copied));
  EXPECT_TRUE(copied.out == input);
  const CommandAnswer turned = ask(shell("head -c 4194304 /dev/zero; cat"), kLong);
  EXPECT_TRUE(ended_itself(turned));
  EXPECT_EQ(turned.out.size(), 2 * kLong.size());
  EXPECT_TRUE(turned.took_input);
}

TEST(Ask, ACommandThatDoesNotReadEndsNeitherUsNorItself) {
  const CommandAnswer ends = ask(shell("exit 0"), kLong);
  EXPECT_EQ(ends.code, 0);
  EXPECT_FALSE(ends.took_input);
  const CommandAnswer closes = ask(shell("exec 0<&-; sleep 0.2; echo done; exit 7"), kLong);
  EXPECT_EQ(closes.code, 7);
  EXPECT_EQ(closes.out, "done\n");
  EXPECT_FALSE(closes.took_input);
  sigset_t waiting;
  sigemptyset(&waiting);
  sigpending(&waiting);
  EXPECT_EQ(sigismember(&waiting, SIGPIPE), 0);
}

TEST(Ask, KeepsOnlyTheEndOfALongStderr) {
  const CommandAnswer answer = ask(shell("head -c 4194304 /dev/zero >&2; echo last >&2"), "");
  EXPECT_LE(answer.err.size(), 2U * 65536);
  EXPECT_TRUE(answer.err.ends_with("last\n"));
}

TEST(Ask, IsEndedAfterItsTimeOrByItsCaller) {
  const auto begin = std::chrono::steady_clock::now();
  CommandQuestion late = shell("sleep 600");
  late.seconds = 0.2;
  EXPECT_TRUE(ask(late, "").late);
  CommandQuestion stopped = shell("sleep 600");
  stopped.stop = [] { return true; };
  EXPECT_TRUE(ask(stopped, "").stopped);
  CommandQuestion endless = shell("yes");
  endless.most_output = 1 << 20;
  EXPECT_TRUE(ask(endless, "").too_much);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(100));
}

TEST(Ask, ASignalOfItsOwnIsTold) {
  const CommandAnswer answer = ask(shell("kill -TERM $$"), "");
  EXPECT_TRUE(ended_itself(answer));
  EXPECT_EQ(answer.by_signal, SIGTERM);
  EXPECT_EQ(answer.code, 128 + SIGTERM);
}

// A descendant holds the pipe and would go on for ever.
TEST(Ask, TakesItsGroupWithItWhenItEnds) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "alive";
  const CommandAnswer answer =
      ask(shell("(while :; do date +%N >" + file.string() + "; sleep 0.02; done) & while [ ! -e " +
                file.string() + " ]; do sleep 0.02; done; echo started"),
          "");
  EXPECT_TRUE(ended_itself(answer));
  EXPECT_EQ(answer.out, "started\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::filesystem::remove(file);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_FALSE(std::filesystem::exists(file)) << "something of the group still writes";
}

TEST(Ask, AProgramThatIsNotThereIsAnErrorWithItsName) {
  CommandQuestion question;
  question.child.command = {"no-such-program-here"};
  try {
    ask(question, "");
    FAIL() << "it was started";
  } catch (const StartError& e) {
    EXPECT_EQ(e.program(), "no-such-program-here");
    EXPECT_EQ(e.code(), ExitCode::BadConfig);
  }
}

TEST(OwnQuestion, SharesOurStderrAndOurGroup) {
  ::testing::internal::CaptureStderr();
  const CommandAnswer answer =
      ask(own_question({"/bin/sh", "-c",
                        "read -r pid name state parent group rest </proc/self/stat; echo $group; "
                        "echo said >&2"}),
          "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "said\n");
  EXPECT_EQ(answer.out, std::to_string(getpgrp()) + "\n");
  EXPECT_EQ(answer.err, "");
}

TEST(Answer, IsWhatACommandWritesInTheLanguageOfPrograms) {
  const CommandAnswer answer =
      real_processes().answer({"sh", "-c", "cat; echo $LC_ALL; exit 3"}, 60, "input ");
  EXPECT_EQ(answer.code, 3);
  EXPECT_EQ(answer.out, "input C\n");
  EXPECT_FALSE(answer.late);
}

TEST(Answer, ACommandThatTakesTooLongIsEnded) {
  const auto begin = std::chrono::steady_clock::now();
  const CommandAnswer answer = real_processes().answer({"sleep", "60"}, 0.2);
  EXPECT_TRUE(answer.late);
  EXPECT_EQ(answer.code, 128 + SIGKILL);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(Answer, DoesNotWaitForWhatACommandLeavesBehind) {
  const CommandAnswer answer = real_processes().answer({"sh", "-c", "sleep 600 & echo done"}, 120);
  EXPECT_FALSE(answer.late);
  EXPECT_EQ(answer.out, "done\n");
}

TEST(Answer, AnAbsentCommandIs127) {
  const CommandAnswer answer = real_commands()({"no-such-program-here"}, 60);
  EXPECT_EQ(answer.code, 127);
  EXPECT_TRUE(answer.err.starts_with("no-such-program-here")) << answer.err;
}

}  // namespace command_test
}  // namespace depthgrid
