#include "sweeps/slurm/sbatch_options.hpp"

#include <map>

#include <gtest/gtest.h>

namespace depthgrid {
namespace sbatch_options_test {

using Words = std::vector<std::string>;

EnvironmentLookup environment(std::map<std::string, std::string> variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto at = variables.find(name);
    return at == variables.end() ? std::nullopt : std::optional<std::string>(at->second);
  };
}

TEST(SbatchOptions, OptionsThatSubmitNeedsForItselfAreNamed) {
  for (const char* word : {"--comment=mine",
                           "--comm=mine",
                           "--array=0-9",
                           "-a0-9",
                           "--wrap=true",
                           "--signal=TERM@60",
                           "-o",
                           "-D",
                           "--test-only",
                           "--dependency=afterany:7",
                           "-d",
                           "--wait",
                           "-W",
                           "-M",
                           "--clusters=other",
                           "--kill-on-invalid-dep=no",
                           "--nodes=3",
                           "-N3",
                           "-n",
                           "--ntasks=4",
                           "--ntasks-per-gpu=2",
                           "-c8",
                           "--no-kill",
                           "-k",
                           "--quiet",
                           "-Q",
                           "--exclude=n1",
                           "-x",
                           "--error=log",
                           "-e"}) {
    EXPECT_TRUE(own_option(word)) << word;
  }
  for (const char* word :
       {"--account=a", "-A", "-p", "high", "--exclusive", "--no-requeue", "--requeue",
        "--gres=gpu:1", "--hold", "-t", "-C", "--wait-all-nodes=1"}) {
    EXPECT_FALSE(own_option(word)) << word;
  }
}

TEST(SbatchOptions, VariablesThatWouldWinAreNamed) {
  for (const char* name :
       {"SBATCH_ARRAY_INX", "SBATCH_SIGNAL", "SBATCH_WAIT", "SBATCH_CLUSTERS", "SBATCH_REQUEUE",
        "SBATCH_NO_REQUEUE", "SBATCH_NO_KILL", "SBATCH_ERROR"}) {
    const auto why = own_variable(environment({{name, ""}}));
    ASSERT_TRUE(why) << name;
    EXPECT_NE(why->find(name), std::string::npos);
  }
  EXPECT_FALSE(own_variable(environment({{"SBATCH_ACCOUNT", "a"}, {"SBATCH_TIMELIMIT", "2"}})));
}

TEST(SbatchOptions, TheCommandLineWinsThenTheEnvironmentThenTheScript) {
  const CellConfig plain = make_config({{"resources.time", Value("4:00:00")}});
  const CellConfig extra = make_config(
      {{"resources.time", Value("4:00:00")},
       {"slurm.extra", Value(ValueList{Value("--time=30"), Value("--partition=long")})}});
  const auto time = [](const CellConfig& run, const Words& words, const char* variable) {
    const SbatchRequest sbatch{
        .run = run,
        .words = words,
        .environment = environment({{"SBATCH_TIMELIMIT", variable == nullptr ? "" : variable}})};
    const auto [text, from] = sbatch.value(kTimeOption);
    return text + " of " + from;
  };
  EXPECT_EQ(time(plain, {}, nullptr), "4:00:00 of resources.time");
  EXPECT_EQ(time(extra, {}, nullptr), "30 of --time of slurm.extra");
  EXPECT_EQ(time(extra, {}, "5"), "5 of SBATCH_TIMELIMIT");
  EXPECT_EQ(time(extra, {"--hold", "-t", "2"}, "5"), "2 of --time after --");
  EXPECT_EQ(time(plain, {"-t3", "--time", "7", "--time=2"}, nullptr), "2 of --time after --");
  const SbatchRequest sbatch{
      .run = extra, .words = {"--part=high"}, .environment = environment({})};
  EXPECT_EQ(sbatch.value(kPartitionOption).text, "high");
  EXPECT_EQ(sbatch.value(kQosOption).text, "");
}

TEST(SbatchOptions, ATaskHasTheTimeThatWinsOrTheLeastOneThatItAllows) {
  const CellConfig run = make_config({{"resources.time", Value("4:00:00")}});
  const auto seconds = [&](const Words& words) {
    return SbatchRequest{.run = run, .words = words, .environment = environment({})}.time_seconds();
  };
  EXPECT_EQ(seconds({}), 4 * 3600);
  EXPECT_EQ(seconds({"-t", "2"}), 120);
  EXPECT_EQ(seconds({"--time-min=30"}), 1800);
  EXPECT_EQ(seconds({"-t2", "--time-min", "1:00:00"}), 120);
  EXPECT_EQ(seconds({"--time=UNLIMITED"}), 0) << "no limit is known";
}

}  // namespace sbatch_options_test
}  // namespace depthgrid
