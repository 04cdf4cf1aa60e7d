#include "core/base/ticker.hpp"

#include <atomic>
#include <csignal>
#include <fstream>
#include <future>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace ticker_test {

/// Keeps what a ticker has called, and waits for the n-th call.
class Calls {
 public:
  explicit Calls(std::size_t wanted) : wanted_(wanted) {}
  void add(double now) {
    at_.push_back(now);
    if (at_.size() == wanted_) reached_.set_value();
  }
  void wait() { reached_.get_future().wait(); }
  const std::vector<double>& at() const { return at_; }  // once the ticker has stopped

 private:
  std::size_t wanted_;
  std::vector<double> at_;
  std::promise<void> reached_;
};

TEST(Ticker, APeriodLiesBeforeEachCallHoweverLongTheLastOneTook) {
  constexpr double kPeriod = 0.02, kWork = 0.05;
  Calls calls(3);
  const double begun = real_clock().now();
  Ticker ticker("test", kPeriod, [&](double now) {
    calls.add(now);
    real_clock().wait(kWork);
  });
  calls.wait();
  ticker.stop();
  EXPECT_GE(calls.at()[0] - begun, kPeriod);
  EXPECT_GE(calls.at()[1] - calls.at()[0], kWork + kPeriod);
  EXPECT_GE(calls.at()[2] - calls.at()[1], kWork + kPeriod);
}

TEST(Ticker, AStopWaitsForNoPeriod) {
  int calls = 0;
  Ticker ticker("test", 86400, [&](double) { ++calls; });
  ticker.stop();
  EXPECT_EQ(calls, 0);
}

TEST(Ticker, AStopWaitsForTheCallThatRunsAndThenCallsTheLastOnce) {
  std::string order;
  std::promise<void> begun;
  Ticker ticker(
      "test", 0.001,
      [&](double) {
        if (order.empty()) begun.set_value();
        order += 't';
        real_clock().wait(0.05);
        order += '.';
      },
      [&](double) { order += 'l'; });
  begun.get_future().wait();
  ticker.stop();
  EXPECT_TRUE(order.ends_with(".l")) << order;
  const std::string stopped = order;
  ticker.stop();
  EXPECT_EQ(order, stopped) << "nothing is called after the first stop";
}

TEST(Ticker, WhatIsThrownIsLoggedAndEndsNothing) {
  const TemporaryFolder folder;
  log_to_file(folder.path() / "log");
  Calls calls(3);
  bool closed = false;
  {
    const Ticker ticker(
        "the work", 0.001,
        [&](double now) {
          calls.add(now);
          throw std::runtime_error("no disk");
        },
        [&](double) {
          closed = true;
          throw std::runtime_error("no end");
        });
    calls.wait();
  }
  EXPECT_TRUE(closed);
  std::ifstream file(folder.path() / "log");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("warning: the work: no disk\n"), text.npos) << text;
  EXPECT_NE(text.find("warning: the work: no end\n"), text.npos) << text;
  log_to_file("/dev/null");
}

TEST(Ticker, ItsThreadGetsNoSignals) {
  std::atomic<bool> held = false;
  std::promise<void> called;
  bool first = true;
  Ticker ticker("test", 0.001, [&](double) {
    if (!std::exchange(first, false)) return;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    held = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGINT) == 1;
    called.set_value();
  });
  called.get_future().wait();
  ticker.stop();
  EXPECT_TRUE(held);
}

}  // namespace ticker_test
}  // namespace depthgrid
