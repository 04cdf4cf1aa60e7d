#include "storage/files/process_identity.hpp"

#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace depthgrid {
namespace process_identity_test {

TEST(ProcessIdentity, OfThisProcessIsAliveAndSurvivesJson) {
  const ProcessIdentity mine = this_process();

  const auto again = identity_from_json(to_json(mine));

  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->uuid, mine.uuid);
  EXPECT_EQ(again->pid, getpid());
  EXPECT_EQ(again->start_time, mine.start_time);
  EXPECT_GT(mine.start_time, 0);
  EXPECT_EQ(mine.boot_id.size(), 36U);
  EXPECT_FALSE(surely_dead(mine));
}

TEST(ProcessIdentity, AProcessNumberInUseAgainIsDead) {
  ProcessIdentity other = this_process();
  other.start_time -= 1;

  EXPECT_TRUE(surely_dead(other));
}

TEST(ProcessIdentity, OfOtherMachinesBootsAndContainersNothingIsKnown) {
  ProcessIdentity other = this_process();
  other.pid = 999999999;  // there is no such process here
  ASSERT_TRUE(surely_dead(other));
  for (std::string ProcessIdentity::* field :
       {&ProcessIdentity::host, &ProcessIdentity::boot_id, &ProcessIdentity::pid_namespace}) {
    ProcessIdentity elsewhere = other;
    elsewhere.*field = "another";
    EXPECT_FALSE(surely_dead(elsewhere));
  }
}

TEST(ProcessIdentity, AKilledChildIsDeadEvenBeforeItIsReaped) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    const std::string text = to_json(this_process());
    if (write(pipe_ends[1], text.data(), text.size()) < 0) _exit(1);
    pause();
    _exit(0);
  }
  char text[1024] = {};
  ASSERT_GT(read(pipe_ends[0], text, sizeof text - 1), 0);
  const auto child = identity_from_json(text);
  ASSERT_TRUE(child.has_value());
  EXPECT_FALSE(surely_dead(*child));
  kill(pid, SIGSTOP);
  EXPECT_FALSE(surely_dead(*child));

  kill(pid, SIGKILL);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);

  EXPECT_TRUE(surely_dead(*child));
  waitpid(pid, nullptr, 0);
  EXPECT_TRUE(surely_dead(*child));
}

TEST(ProcessIdentity, GarbageIsNoIdentity) {
  for (const char* text : {"", "{", "[]", "{}", "{\"uuid\": 3}", "null"}) {
    EXPECT_FALSE(identity_from_json(text).has_value()) << text;
  }
}

TEST(ProcessIdentity, UuidsAreWellFormedAndDiffer) {
  const std::string uuid = random_uuid();

  EXPECT_EQ(uuid.size(), 36U);
  EXPECT_EQ(uuid[14], '4');
  EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos);
  EXPECT_NE(uuid, random_uuid());
}

}  // namespace process_identity_test
}  // namespace depthgrid
