#include "core/config/facts/probe_sample.hpp"

#include <gtest/gtest.h>

#include "core/config/cell_config.hpp"
#include "core/config/yaml/diagnostics.hpp"

namespace depthgrid {
namespace probe_sample_test {

std::int64_t taken(const ValueMap& leaves, std::string_view path) {
  const CellConfig config = make_config(leaves);
  return sample_sequences([&](std::string_view of) -> const Value& { return config.at(of); }, path);
}

std::string problem(const ValueMap& leaves) {
  try {
    make_config(leaves);
  } catch (const SweepErrors& errors) {
    return errors.what();
  }
  return "";
}

TEST(ProbeSample, IsOfEightSequencesOrOfAllThatASmallerSetHas) {
  for (const ProbeSampleLeaf& leaf : probe_sample_leaves()) {
    EXPECT_EQ(taken({}, leaf.path), 8);
    EXPECT_EQ(taken({{"probes.set.sequences", 5}}, leaf.path), 5);
    EXPECT_EQ(taken({{"probes.set.sequences", 50}}, leaf.path), 8);
    const ValueMap read = {
        {"model.family", "tdt"}, {std::string(leaf.schedule), "end"}, {std::string(leaf.path), 3}};
    EXPECT_EQ(taken(read, leaf.path), 3);
  }
}

TEST(ProbeSample, MoreThanTheProbeSetHasIsRefusedWithWhatToDo) {
  const std::string text =
      problem({{"probes.lyapunov.schedule", "end"}, {"probes.lyapunov.sequences", 12}});
  EXPECT_NE(text.find("`probes.lyapunov.sequences: 12`"), std::string::npos) << text;
  EXPECT_NE(text.find("`probes.set.sequences`"), std::string::npos) << text;
  EXPECT_EQ(problem({{"probes.lyapunov.schedule", "end"},
                     {"probes.lyapunov.sequences", 12},
                     {"probes.set.sequences", 12}}),
            "");
  const ValueMap tdt = {{"model.family", "tdt"}, {"probes.routing.mask_sequences", 9}};
  EXPECT_NE(problem(tdt).find("`probes.routing.mask_sequences: 9`"), std::string::npos);
}

TEST(ProbeSample, MasksAreOfSequencesThatTheProbeLooksAt) {
  const auto with = [](std::int64_t masks) {
    return problem({{"model.family", "tdt"},
                    {"probes.set.sequences", 64},
                    {"probes.routing.mask_sequences", masks}});
  };
  EXPECT_EQ(with(16), "");
  EXPECT_NE(with(17), "") << "it looks at 16";
}

}  // namespace probe_sample_test
}  // namespace depthgrid
