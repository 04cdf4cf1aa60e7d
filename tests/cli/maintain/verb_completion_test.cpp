#include "cli/maintain/verb_completion.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace verb_completion_test {

std::string candidates(const std::vector<std::string>& words) {
  testing::internal::CaptureStdout();
  print_completions(kVerbs, words);
  return "\n" + testing::internal::GetCapturedStdout();
}

bool offers(const std::vector<std::string>& words, const std::string& candidate) {
  return candidates(words).find("\n" + candidate + "\n") != std::string::npos;
}

TEST(Completion, OffersEveryVerb) {
  for (const Verb& verb : kVerbs) EXPECT_TRUE(offers({""}, verb.name)) << verb.name;
  EXPECT_TRUE(offers({"help", "re"}, "results"));
}

TEST(Completion, OffersTheOptionsOfEachVerb) {
  for (const Verb& verb : kVerbs) EXPECT_TRUE(offers({verb.name, "-"}, "--help")) << verb.name;
  EXPECT_TRUE(offers({"results", "store", "--"}, "--baseline"));
  EXPECT_FALSE(offers({"status", "--"}, "--baseline"));
}

TEST(Completion, OffersLeavesAndTheirWords) {
  EXPECT_TRUE(offers({"run", "f.yaml", "--set", "tr"}, "train.lr="));
  EXPECT_TRUE(offers({"run", "f.yaml", "--set", "train.optimizer="}, "train.optimizer=adamw"));
  EXPECT_TRUE(offers({"schema", "tr"}, "train.lr"));
}

TEST(Completion, LeavesFilesToTheShell) {
  EXPECT_EQ(candidates({"run", "conf"}), "\n");
  EXPECT_EQ(candidates({"nothing", ""}), "\n");
  EXPECT_EQ(candidates({}), "\n");
}

}  // namespace verb_completion_test
}  // namespace depthgrid
