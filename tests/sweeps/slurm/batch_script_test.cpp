#include "sweeps/slurm/batch_script.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/config/cell_config.hpp"
#include "core/config/text_form.hpp"

namespace depthgrid {
namespace batch_script_test {

BatchArray array() {
  return {.name = "depthgrid:tiny",
          .comment = "depthgrid:0a1b:0",
          .tasks = 12,
          .offset = 1000,
          .parallel = 4,
          .dependency = "",
          .program = "/opt/depthgrid",
          .sweep = "/data/s/sweep.yaml",
          .store = "/data/s",
          .task_file = "/data/s/submissions/0a1b/tasks.txt",
          .log_folder = "/data/s/submissions/0a1b/logs"};
}

TEST(BatchScript, IsThisToTheLetter) {
  const CellConfig run = make_config({{"slurm.partition", Value("gpu")},
                                      {"slurm.account", Value("lab_7")},
                                      {"resources.device", Value("cuda")},
                                      {"resources.gpus", Value(std::int64_t{2})},
                                      {"resources.cpus_per_gpu", Value(std::int64_t{4})},
                                      {"resources.mem", Value("64G")},
                                      {"resources.time", Value("2:00:00")}});
  EXPECT_EQ(batch_script(task_request(run, {"n7"}), array()), R"(#!/bin/bash
#SBATCH --job-name=depthgrid:tiny
#SBATCH --comment=depthgrid:0a1b:0
#SBATCH --array=0-11%4
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=64G
#SBATCH --time=2:00:00
#SBATCH --partition=gpu
#SBATCH --account=lab_7
#SBATCH --gres=gpu:2
#SBATCH --exclude=n7
#SBATCH --requeue
#SBATCH --signal=B:USR1@240
#SBATCH --open-mode=append
#SBATCH --chdir='/data/s'
#SBATCH --output='/data/s/submissions/0a1b/logs/%A_%a.out'
# Written by depthgrid submit. The cells of each task stand in the file of tasks.
set -u
# What asks for a stop before depthgrid listens is kept until it does.
asked=
trap 'asked=USR1' USR1; trap 'asked=USR2' USR2; trap 'asked=TERM' TERM
# Slurm starts a script whose folder is missing in /tmp.
cd '/data/s' || exit 73
export DEPTHGRID_TASK_OFFSET=1000
export SRUN_CPUS_PER_TASK="${SLURM_CPUS_PER_TASK:-1}"
keep=(env "--default-signal=USR1,USR2,TERM" "--block-signal=USR1,USR2,TERM")
"${keep[@]}" true 2>/dev/null || keep=(env)
trap '' USR1 USR2 TERM
exec "${keep[@]}" DEPTHGRID_ASKED="$asked" '/opt/depthgrid' supervise '/data/s/sweep.yaml' --store '/data/s' --yes -j 2 --tasks '/data/s/submissions/0a1b/tasks.txt' --requeue
)");
}

TEST(BatchScript, APerCentSignInTheStoresPathIsOne) {
  BatchArray there = array();
  there.store = "/data/50%A";
  there.log_folder = there.store + "/logs";
  const std::string script = batch_script(task_request(make_config({}), {}), there);
  EXPECT_NE(script.find("--output='/data/50%%A/logs/%A_%a.out'\n"), std::string::npos) << script;
  EXPECT_NE(script.find("--chdir='/data/50%A'\n"), std::string::npos) << script;
}

TEST(BatchScript, ANodeThatIsLeftOutTwiceIsNamedOnce) {
  const CellConfig run = make_config({{"slurm.exclude", Value(ValueList{Value("n7")})}});
  const std::string script = batch_script(task_request(run, {"n7", "n8"}), array());
  EXPECT_NE(script.find("--exclude=n7,n8\n"), std::string::npos) << script;
}

TEST(BatchScript, EveryLeafOfTheClusterHasAnEffect) {
  const auto script = [](const ValueMap& leaves) {
    return batch_script(task_request(make_config(leaves), {}), array());
  };
  const std::string plain = script({});
  for (const char* leaf :
       {"slurm.partition", "slurm.account", "slurm.qos", "slurm.constraint", "slurm.reservation",
        "slurm.nodelist", "slurm.gres", "slurm.mail_type", "slurm.mail_user"}) {
    EXPECT_NE(script({{leaf, Value("word")}}), plain) << leaf;
  }
  EXPECT_NE(script({{"slurm.nice", Value(std::int64_t{5})}}), plain);
  EXPECT_NE(script({{"slurm.requeue", Value(false)}}), plain);
  EXPECT_NE(script({{"slurm.signal_delay", Value(std::int64_t{30})}}), plain);
  EXPECT_NE(script({{"slurm.exclude", Value(ValueList{Value("n1")})}}), plain);
  EXPECT_NE(script({{"slurm.extra", Value(ValueList{Value("--exclusive")})}}), plain);
  EXPECT_NE(script({{"resources.nodes", Value(std::int64_t{2})}}), plain);
  EXPECT_NE(script({{"resources.mem", Value("4G")}}), plain);
  EXPECT_NE(script({{"resources.time", Value("1:00:00")}}), plain);
  EXPECT_NE(script({{"resources.threads", Value(std::int64_t{4})}}), plain);
  EXPECT_NE(script({{"resources.ranks_per_job", Value(std::int64_t{2})}}), plain);
}

TEST(BatchScript, TheSignalComesNotBeforeHalfOfTheTime) {
  const auto signal = [](const char* time) {
    return task_request(make_config({{"resources.time", Value(time)}}), {}).signal_seconds;
  };
  EXPECT_EQ(signal("4:00:00"), 240);
  EXPECT_EQ(signal("8"), 240);
  EXPECT_EQ(signal("1"), 30);
}

TEST(BatchScript, TheSignalIsThatOfTheTimeThatWins) {
  const CellConfig run = make_config({{"resources.time", Value("4:00:00")}});
  const auto script = [&](std::optional<std::int64_t> seconds) {
    return batch_script(task_request(run, {}, 0, seconds), array());
  };
  EXPECT_NE(script({}).find("--signal=B:USR1@240\n"), std::string::npos);
  EXPECT_NE(script(120).find("--signal=B:USR1@60\n"), std::string::npos) << script(120);
  EXPECT_NE(script(0).find("--signal=B:USR1@240\n"), std::string::npos) << "no limit";
}

TEST(BatchScript, TeamsAskForCoresAndCardsOfAllTheirRanks) {
  const auto request = [](const ValueMap& leaves, std::int64_t ranks) {
    return task_request(make_config(leaves), {}, ranks);
  };
  EXPECT_EQ(request({}, 4).cores, 4);
  EXPECT_EQ(request({}, 4).slots, 4);
  const ValueMap cuda = {{"resources.device", Value("cuda")},
                         {"resources.cpus_per_gpu", Value(std::int64_t{3})}};
  EXPECT_EQ(request(cuda, 4).gpus, 4);
  EXPECT_EQ(request(cuda, 4).cores, 12);
  EXPECT_EQ(request(cuda, 1).gpus, 1);
  const ValueMap nodes = {{"resources.device", Value("cuda")},
                          {"resources.nodes", Value(std::int64_t{2})}};
  EXPECT_EQ(request(nodes, 8).gpus, 4) << "of each node";
  EXPECT_EQ(most_ranks(make_config(nodes), 64, 8), 16);
  EXPECT_EQ(most_ranks(make_config({{"resources.threads", Value(std::int64_t{4})}}), 64, 8), 16);
  EXPECT_EQ(most_ranks(make_config({}), 0, 0), 1) << "nothing is known";
}

TEST(BatchScript, LaunchesThatShareACardAreSlotsOfTheTask) {
  const ValueMap shared = {{"packing.cells_per_gpu", Value(std::int64_t{3})},
                           {"resources.device", Value("cuda")},
                           {"resources.gpus", Value(std::int64_t{2})}};
  EXPECT_EQ(task_request(make_config(shared), {}).slots, 6);
  EXPECT_EQ(task_request(make_config(shared), {}).gpus, 2) << "no more cards are asked for";
  const ValueMap alone = {{"packing.cells_per_gpu", Value(std::int64_t{3})},
                          {"resources.device", Value("cpu")}};
  EXPECT_EQ(task_request(make_config(alone), {}).slots, 1) << "without cards";
}

TEST(BatchScript, APathThatAShellWouldReadIsRefused) {
  for (const char* path : {"/a'b", "/a$(rm)", "/a\nb", "/a`b`", "/a\\b"}) {
    BatchArray bad = array();
    bad.store = path;
    EXPECT_THROW(batch_script(task_request(make_config({}), {}), bad), UserError) << path;
  }
  BatchArray blank = array();
  blank.store = "/with blank";
  EXPECT_NE(batch_script(task_request(make_config({}), {}), blank).find("cd '/with blank'"),
            std::string::npos);
}

TEST(TextForm, TimesAreReadAsSbatchReadsThem) {
  EXPECT_EQ(seconds_of("90"), 5400);
  EXPECT_EQ(seconds_of("90:30"), 5430);
  EXPECT_EQ(seconds_of("4:00:00"), 14400);
  EXPECT_EQ(seconds_of("2-12"), 216000);
  EXPECT_EQ(seconds_of("1-00:30:05"), 88205);
  for (const char* wrong : {"", "x", "1:", "1:2:3:4", "-5", "1-", "1.5"}) {
    EXPECT_EQ(seconds_of(wrong), std::nullopt) << wrong;
  }
}

TEST(TextForm, SizesHaveAUnit) {
  EXPECT_EQ(megabytes_of("64G"), 65536);
  EXPECT_EQ(megabytes_of("500M"), 500);
  EXPECT_EQ(megabytes_of("2T"), 2097152);
  for (const char* wrong : {"", "64", "G", "1.5G", "64GB", "-1G"}) {
    EXPECT_EQ(megabytes_of(wrong), std::nullopt) << wrong;
  }
}

TEST(TextForm, WordsOfABatchScriptHoldNothingThatAShellTakesApart) {
  EXPECT_TRUE(is_plain_word("gpu:a100,high@node(1)&x=y"));
  for (const char* wrong : {"", "a b", "a;b", "$(x)", "a'b", "a\"b", "a|b", "a>b", "a\nb", "ä"}) {
    EXPECT_FALSE(is_plain_word(wrong)) << wrong;
  }
}

}  // namespace batch_script_test
}  // namespace depthgrid
