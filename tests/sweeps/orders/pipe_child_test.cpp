#include "sweeps/orders/pipe_child.hpp"

#include <csignal>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace pipe_child_test {

TEST(PipeChild, ReturnsCodeAndOutput) {
  const ChildOutput got = pipe_child({"/bin/sh", "-c", "echo heard; exit 3"}, "");
  EXPECT_EQ(got.code, 3);
  EXPECT_EQ(got.output, "heard\n");
}

TEST(PipeChild, PassesMoreThanAPipeHoldsBothWays) {
  const std::string text(std::size_t{1} << 20U, 'x');  // a pipe of Linux holds 64 KiB
  const ChildOutput got = pipe_child({"/bin/cat"}, text);
  EXPECT_EQ(got.code, 0);
  EXPECT_TRUE(got.output == text) << got.output.size();
}

TEST(PipeChild, SurvivesAChildThatDoesNotRead) {
  const ChildOutput got =
      pipe_child({"/bin/sh", "-c", "exit 4"}, std::string(std::size_t{1} << 20U, 'x'));
  EXPECT_EQ(got.code, 4);
}

TEST(PipeChild, ReturnsTheSignalThatEndedTheChild) {
  EXPECT_EQ(pipe_child({"/bin/sh", "-c", "kill -KILL $$"}, "").code, 128 + SIGKILL);
}

TEST(PipeChild, SaysThatAProgramIsNotThere) {
  EXPECT_THROW(pipe_child({"/no/such/program"}, ""), Error);
}

}  // namespace pipe_child_test
}  // namespace depthgrid
