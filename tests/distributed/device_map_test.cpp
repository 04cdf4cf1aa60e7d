#include "distributed/device_map.hpp"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <sched.h>

#include "core/base/error.hpp"
#include "tests/distributed/rank_env.hpp"

namespace depthgrid {
namespace device_map_test {

/// An environment variable that is put back at the end of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    const char* const before = std::getenv(name);
    if (before != nullptr) before_ = before;
    if (value == nullptr) {
      unsetenv(name);
    } else {
      setenv(name, value, 1);
    }
  }
  ~Variable() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(DeviceMap, ALoneDeviceIsTheRanksOwnElseTheLocalRankDecides) {
  EXPECT_EQ(device_for(1, 3), 0);
  EXPECT_EQ(device_for(4, 3), 3);
  EXPECT_EQ(device_for(8, 3), 3);
}

TEST(DeviceMap, WithFewerGpusThanRanksNeighboursShareLast) {
  EXPECT_EQ(device_for(2, 0), 0);
  EXPECT_EQ(device_for(2, 1), 1);
  EXPECT_EQ(device_for(2, 2), 0);
  EXPECT_EQ(device_for(2, 3), 1);
}

/// The message with which trains_on_gpus() refuses.
std::string refusal(std::string_view wanted, const std::vector<RankGpus>& ranks) {
  try {
    trains_on_gpus(wanted, ranks);
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::BadConfig);
    return error.what();
  }
  return "";
}

TEST(DeviceMap, AllRanksTrainOnGpusOrNone) {
  const RankGpus with{2, ""};
  const RankGpus without{0, "no driver here"};
  EXPECT_TRUE(trains_on_gpus("auto", {with, with}));
  EXPECT_TRUE(trains_on_gpus("cuda", {with}));
  EXPECT_FALSE(trains_on_gpus("auto", {without, without}));
  EXPECT_FALSE(trains_on_gpus("cpu", {with, with}));
}

TEST(DeviceMap, ARefusalNamesTheRankItsReasonAndTheEnvironment) {
  const Variable visible("CUDA_VISIBLE_DEVICES", "0,1");
  const RankGpus with{2, ""};
  const RankGpus without{0, "no driver here"};
  const std::string none = refusal("cuda", {without});
  EXPECT_NE(none.find("resources.device is cuda"), std::string::npos) << none;
  EXPECT_NE(none.find("no driver here"), std::string::npos) << none;
  EXPECT_NE(none.find("--set resources.device=cpu"), std::string::npos) << none;
  const std::string mixed = refusal("auto", {with, without});
  EXPECT_NE(mixed.find("rank 1: no driver here"), std::string::npos) << mixed;
  EXPECT_NE(mixed.find("CUDA_VISIBLE_DEVICES=0,1"), std::string::npos) << mixed;
  EXPECT_NE(refusal("cuda", {with, without}).find("rank 1"), std::string::npos);
}

TEST(DeviceMap, AutoTrainsOnTheCpuOnlyWhereNoGpuWasMeant) {
  const RankGpus without{0, "no driver here"}, meant{0, "its driver is too old", true};
  EXPECT_FALSE(trains_on_gpus("auto", {without, without}));
  EXPECT_FALSE(trains_on_gpus("cpu", {meant}));
  const std::string text = refusal("auto", {without, meant});
  EXPECT_NE(text.find("a GPU is meant for this run"), std::string::npos) << text;
  EXPECT_NE(text.find("rank 1: its driver is too old"), std::string::npos) << text;
  EXPECT_NE(text.find("--set resources.device=cpu"), std::string::npos) << text;
}

TEST(DeviceMap, ADeviceThatWasGivenAndCannotBeUsedIsTheNodesFault) {
  const RankGpus with{2, ""}, without{0, "no driver here"}, meant{0, "too old", true};
  EXPECT_THROW(trains_on_gpus("auto", {meant}), NodeError);
  EXPECT_THROW(trains_on_gpus("cuda", {with, without}), NodeError);
  try {
    trains_on_gpus("cuda", {without});
    FAIL();
  } catch (const NodeError&) {
    FAIL() << "nobody gave it one: the configuration is wrong";
  } catch (const UserError&) {
  }
}

TEST(DeviceMap, AGpuIsMeantByItsNameByAnAllocationOrByBeingThere) {
  const Variable visible("CUDA_VISIBLE_DEVICES", nullptr), step("SLURM_STEP_GPUS", nullptr),
      job("SLURM_JOB_GPUS", nullptr);
  EXPECT_FALSE(gpu_is_meant(false));
  EXPECT_TRUE(gpu_is_meant(true));
  {
    const Variable given("SLURM_JOB_GPUS", "2,3");
    EXPECT_TRUE(gpu_is_meant(false));
  }
  for (const char* names : {"0", "1,2", "GPU-5fd3f1a2", "MIG-1"}) {
    const Variable named("CUDA_VISIBLE_DEVICES", names);
    EXPECT_TRUE(gpu_is_meant(false)) << names;
  }
  const Variable given("SLURM_STEP_GPUS", "0");
  for (const char* none : {"", "-1", "NoDevFiles"}) {
    const Variable hidden("CUDA_VISIBLE_DEVICES", none);
    EXPECT_FALSE(gpu_is_meant(true)) << none;
  }
}

using Place = CardMap::Place;

TEST(CardMap, EqualBusIdsOnTwoHostsAreTwoCards) {
  const std::string bus = "0000:3b:00.0";
  EXPECT_TRUE(CardMap({{"a", {bus, ""}}, {"b", {bus, ""}}}).distinct());
  EXPECT_TRUE(CardMap({{"a", {bus, "GPU-1"}}, {"b", {bus, "GPU-2"}}}).distinct());
  EXPECT_FALSE(CardMap({{"a", {bus, ""}}, {"a", {bus, ""}}}).distinct());
}

TEST(CardMap, TheUuidTellsSlicesOfACardApartAndContainersTogether) {
  const std::string bus = "0000:3b:00.0";
  EXPECT_TRUE(CardMap({{"a", {bus, "GPU-1"}}, {"a", {bus, "GPU-2"}}}).distinct());
  EXPECT_FALSE(CardMap({{"pod1", {bus, "GPU-1"}}, {"pod2", {bus, "GPU-1"}}}).distinct());
}

TEST(CardMap, RanksThatShareACardAreCountedAndNamedOnce) {
  const Place first{"a", {"0000:3b:00.0", "GPU-1"}};
  const Place second{"a", {"0000:af:00.0", "GPU-2"}};
  const CardMap cards({first, second, first, first});
  EXPECT_EQ(cards.sharers(0), 3);
  EXPECT_EQ(cards.sharers(1), 1);
  EXPECT_EQ(cards.sharers(3), 3);
  EXPECT_FALSE(cards.distinct());
  const auto note = cards.sharing_note();
  ASSERT_TRUE(note);
  EXPECT_EQ(note->find("ranks 0, 2, 3 share the GPU a 0000:3b:00.0: each gets 1/3"), 0) << *note;
  EXPECT_EQ(note->find("share", note->find("share") + 1), std::string::npos) << *note;
  EXPECT_EQ(CardMap({first, second}).sharing_note(), std::nullopt);
}

TEST(CardMap, GathersTheCardsOfAllRanks) {
  auto world = rank_env().world();
  const std::string own = "GPU-" + std::to_string(world->rank());
  EXPECT_TRUE(CardMap(*world, {"host", {"0000:3b:00.0", own}}).distinct());
  const CardMap one(*world, {"host", {"0000:3b:00.0", ""}});
  EXPECT_EQ(one.sharers(world->rank()), world->size());
  EXPECT_EQ(one.distinct(), world->size() == 1);
}

TEST(CardMap, TheSharesOfACardFitIntoIt) {
  EXPECT_EQ(memory_share(1), 1);
  for (int ranks = 2; ranks < 9; ++ranks) {
    EXPECT_LT(ranks * memory_share(ranks), 1);
    EXPECT_GT(ranks * memory_share(ranks), 0.8);
  }
}

TEST(DeviceMap, ThreadsMustFitOnTheCpusOfTheRank) {
  EXPECT_EQ(affinity_warning(2, 2), std::nullopt);
  const auto warning = affinity_warning(1, 4);
  ASSERT_TRUE(warning);
  EXPECT_NE(warning->find("resources.threads is 4"), std::string::npos) << *warning;
  EXPECT_NE(warning->find("1 CPU "), std::string::npos) << *warning;
}

TEST(DeviceMap, UsableCpusFollowTheAffinityOfTheProcess) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(usable_cpus(), CPU_COUNT(&before));
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);

  sched_setaffinity(0, sizeof(one), &one);
  const int cpus = usable_cpus();
  sched_setaffinity(0, sizeof(before), &before);

  EXPECT_EQ(cpus, 1);
}

TEST(DeviceMap, AWorldOfOneUnderALauncherOfFourIsAProblem) {
  const Variable mpirun("OMPI_COMM_WORLD_SIZE", nullptr);
  const Variable step("SLURM_STEP_ID", "0");
  const Variable tasks("SLURM_STEP_NUM_TASKS", "4");

  EXPECT_EQ(world_size_problem(4), std::nullopt);
  const auto problem = world_size_problem(1);
  ASSERT_TRUE(problem);
  EXPECT_NE(problem->find("SLURM_STEP_NUM_TASKS is 4"), std::string::npos) << *problem;
  EXPECT_NE(problem->find("--mpi=pmix"), std::string::npos) << *problem;
}

TEST(DeviceMap, ABatchScriptThatStartsNoStepIsNoLauncher) {
  const Variable mpirun("OMPI_COMM_WORLD_SIZE", nullptr);
  const Variable step("SLURM_STEP_ID", nullptr);
  const Variable tasks("SLURM_STEP_NUM_TASKS", "4");

  EXPECT_EQ(world_size_problem(1), std::nullopt);
}

TEST(DeviceMap, TheLauncherOfThisTestAgreesWithMpi) {
  EXPECT_EQ(world_size_problem(rank_env().world()->size()), std::nullopt);
}

}  // namespace device_map_test
}  // namespace depthgrid
