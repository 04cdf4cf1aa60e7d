#include "core/base/piped_process.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace piped_process_test {

// More than a pipe holds, on either side.
const std::string kLong(1 << 22, 'x');

PipedCommand shell(const std::string& script) {
  PipedCommand out;
  out.argv = {"sh", "-c", script};
  out.seconds = 120;
  return out;
}

TEST(PipedProcess, AnswersWithWhatItWritesAndItsExitCode) {
  const PipedAnswer answer = piped_answer(shell("cat; echo no >&2; exit 3"), "input");
  EXPECT_EQ(answer.end, PipedEnd::Itself);
  EXPECT_EQ(answer.code, 3);
  EXPECT_EQ(answer.by_signal, 0);
  EXPECT_EQ(answer.out, "input");
  EXPECT_EQ(answer.err, "no\n");
  EXPECT_TRUE(answer.took_input);
}

TEST(PipedProcess, LongInputAndOutputGoBothWaysAtOnce) {
  const PipedAnswer copied = piped_answer(shell("cat"), kLong);
  EXPECT_EQ(copied.end, PipedEnd::Itself);
  EXPECT_TRUE(copied.out == kLong);
  const PipedAnswer turned = piped_answer(shell("head -c 4194304 /dev/zero; cat"), kLong);
  EXPECT_EQ(turned.end, PipedEnd::Itself);
  EXPECT_EQ(turned.out.size(), 2 * kLong.size());
  EXPECT_TRUE(turned.took_input);
}

TEST(PipedProcess, ACommandThatDoesNotReadEndsNeitherUsNorItself) {
  const PipedAnswer ends = piped_answer(shell("exit 0"), kLong);
  EXPECT_EQ(ends.code, 0);
  EXPECT_FALSE(ends.took_input);
  const PipedAnswer closes = piped_answer(shell("exec 0<&-; sleep 0.2; echo done"), kLong);
  EXPECT_EQ(closes.code, 0);
  EXPECT_EQ(closes.out, "done\n");
  EXPECT_FALSE(closes.took_input);
  sigset_t waiting;
  sigemptyset(&waiting);
  sigpending(&waiting);
  EXPECT_EQ(sigismember(&waiting, SIGPIPE), 0);
}

TEST(PipedProcess, KeepsOnlyTheEndOfALongStderr) {
  const PipedAnswer answer =
      piped_answer(shell("head -c 4194304 /dev/zero >&2; echo last >&2"), "");
  EXPECT_LE(answer.err.size(), 2U * 65536);
  EXPECT_TRUE(answer.err.ends_with("last\n"));
}

TEST(PipedProcess, IsEndedAfterItsTimeOrByItsCaller) {
  const auto begin = std::chrono::steady_clock::now();
  PipedCommand late = shell("sleep 600");
  late.seconds = 0.2;
  EXPECT_EQ(piped_answer(late, "").end, PipedEnd::Late);
  PipedCommand stopped = shell("sleep 600");
  stopped.stop = [] { return true; };
  EXPECT_EQ(piped_answer(stopped, "").end, PipedEnd::Stopped);
  PipedCommand endless = shell("yes");
  endless.most_output = 1 << 20;
  EXPECT_EQ(piped_answer(endless, "").end, PipedEnd::TooMuch);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(100));
}

TEST(PipedProcess, ASignalOfItsOwnIsTold) {
  const PipedAnswer answer = piped_answer(shell("kill -TERM $$"), "");
  EXPECT_EQ(answer.end, PipedEnd::Itself);
  EXPECT_EQ(answer.by_signal, SIGTERM);
  EXPECT_EQ(answer.code, 128 + SIGTERM);
}

// A descendant holds the pipe and would go on for ever.
TEST(PipedProcess, TakesItsGroupWithItWhenItEnds) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "alive";
  const PipedAnswer answer = piped_answer(
      shell("(while :; do date +%N >" + file.string() + "; sleep 0.02; done) & while [ ! -e " +
            file.string() + " ]; do sleep 0.02; done; echo started"),
      "");
  EXPECT_EQ(answer.end, PipedEnd::Itself);
  EXPECT_EQ(answer.out, "started\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::filesystem::remove(file);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_FALSE(std::filesystem::exists(file)) << "something of the group still writes";
}

TEST(PipedProcess, AProgramThatIsNotThereIsAnErrorWithItsName) {
  PipedCommand command;
  command.argv = {"no-such-program-here"};
  try {
    piped_answer(command, "");
    FAIL() << "it was started";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("no-such-program-here"), std::string::npos);
  }
}

}  // namespace piped_process_test
}  // namespace depthgrid
