#include "worker/session/session_service.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace depthgrid {
namespace session_service_test {

/// Acts at multiples of `every` and notes all that it hears.
class Note final : public SessionService {
 public:
  Note(std::string name, std::int64_t every, std::vector<std::string>& received)
      : name_(std::move(name)), every_(every), received_(received) {}

  void begin(std::int64_t step) override { note("begin", step); }
  bool due(std::int64_t step) const override { return step % every_ == 0; }
  void act(const StepEvent& event) override { note("act", event.step); }
  void end(std::int64_t step) override { note("end", step); }

 private:
  void note(const char* what, std::int64_t step) {
    received_.push_back(name_ + " " + what + " " + std::to_string(step));
  }

  std::string name_;
  std::int64_t every_;
  std::vector<std::string>& received_;
};

using Received = std::vector<std::string>;

TEST(SessionServices, ActInTheirOrderOnTheStepsForWhichTheyAreDue) {
  Received received;
  Note each("a", 1, received), third("b", 3, received), second("c", 2, received);
  SessionServices services;
  for (Note* note : {&each, &third, &second}) services.add(*note);
  const StepReport report;

  for (std::int64_t step = 1; step <= 6; ++step) services.stepped({step, report, 0.5});

  EXPECT_EQ(received, (Received{"a act 1", "a act 2", "c act 2", "a act 3", "b act 3", "a act 4",
                                "c act 4", "a act 5", "a act 6", "b act 6", "c act 6"}));
}

TEST(SessionServices, NothingIsCalledWhenNothingIsDue) {
  Received received;
  Note rare("a", 100, received);
  SessionServices services;
  services.stepped({1, StepReport{}, 0});
  services.add(rare);

  for (std::int64_t step = 1; step < 100; ++step) services.stepped({step, StepReport{}, 0});

  EXPECT_EQ(received, Received{});
}

TEST(SessionServices, AllHearOfBeginAndEnd) {
  Received received;
  Note first("a", 100, received), second("b", 100, received);
  SessionServices services;
  services.add(first);
  services.add(second);

  services.begin(7);
  services.end(9);

  EXPECT_EQ(received, (Received{"a begin 7", "b begin 7", "a end 9", "b end 9"}));
}

/// Is due as soon as another service has seen something.
class Follower final : public SessionService {
 public:
  explicit Follower(const Received& received) : received_(received) {}
  bool due(std::int64_t /*step*/) const override { return !received_.empty(); }
  void act(const StepEvent& event) override { acted_at = event.step; }
  std::int64_t acted_at = 0;

 private:
  const Received& received_;
};

TEST(SessionServices, AreAskedAfterThoseBeforeThemHaveActed) {
  Received received;
  Note fifth("a", 5, received);
  Follower follower(received);
  SessionServices services;
  services.add(fifth);
  services.add(follower);

  for (std::int64_t step = 1; step <= 5; ++step) services.stepped({step, StepReport{}, 0});

  EXPECT_EQ(follower.acted_at, 5);
}

}  // namespace session_service_test
}  // namespace depthgrid
