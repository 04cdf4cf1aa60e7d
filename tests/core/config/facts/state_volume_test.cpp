#include "core/config/facts/state_volume.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/config/cell_config.hpp"
#include "core/config/yaml/diagnostics.hpp"

namespace depthgrid {
namespace state_volume_test {

StateVolume volume_of(const CellConfig& config) {
  return state_volume([&](std::string_view path) -> const Value& { return config.at(path); });
}

/// The study's model, which looks at steps 0, 100 and 200.
ValueMap with(const ValueMap& more) {
  ValueMap out = more;
  for (const auto& [path, value] :
       ValueMap{{"train.steps", 200},
                {"probes.trajectory.schedule", ValueMap{{"every", 100}}},
                {"probes.trajectory.state_sequences", 1}}) {
    const auto same = [&](const auto& entry) { return entry.first == path; };
    if (std::ranges::none_of(more, same)) out.emplace_back(path, value);
  }
  return out;
}

std::string problem(const ValueMap& leaves) {
  try {
    make_config(leaves);
  } catch (const SweepErrors& errors) {
    return errors.what();
  }
  return "";
}

TEST(StateVolume, OfTheStudysSizeIs917504BytesPerLookInSinglePrecision) {
  const StateVolume wide = volume_of(make_config(with({{"probes.trajectory.state_dtype", "f32"}})));
  EXPECT_EQ(wide.measurement_bytes(), 917504);  // 7 x 128 x 256 x 4
  EXPECT_EQ(wide.measurements, 3);
  EXPECT_EQ(wide.bytes(), 3 * 917504);
  EXPECT_EQ(volume_of(make_config(with({}))).measurement_bytes(), 917504 / 2);
}

TEST(StateVolume, IsOfTheChannelsThatAreKept) {
  const auto channels = [](std::int64_t n) {
    return volume_of(make_config(with({{"probes.trajectory.state_channels", n}}))).channels;
  };
  EXPECT_EQ(channels(16), 16);
  EXPECT_EQ(channels(8192), 256) << "a model has no more";
}

TEST(StateVolume, AFlowHasStepsOfItsOwn) {
  const StateVolume flow = volume_of(make_config(with({{"model.family", "hybrid_ode"},
                                                       {"model.replaced_layers", ValueList{1, 4}},
                                                       {"model.solver.steps", 5}})));
  EXPECT_EQ(flow.edges, 6 - 3 + 5 + 1);
}

TEST(StateVolume, IsNothingUnlessStatesAreKept) {
  EXPECT_EQ(volume_of(CellConfig()).bytes(), 0);
  EXPECT_EQ(problem({{"probes.trajectory.max_bytes", 0}}), "");
}

TEST(StateVolume, MoreThanTheLeavesAllowIsRefusedWithWhatToDo) {
  const std::string text = problem(with({{"probes.trajectory.max_bytes", 1000000}}));
  for (const char* part :
       {"raw states take 1376256 bytes per cell",
        "3 measurements x 7 states x 1 sequence x 128 tokens", "256 channels x 2 bytes",
        "expected at most `probes.trajectory.max_bytes: 1000000`", "measure less often",
        "raise `max_bytes`"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(problem(with({{"probes.trajectory.max_bytes", 1376256}})), "") << "to the byte";
  EXPECT_EQ(
      problem(with({{"probes.trajectory.max_bytes", 0}, {"probes.trajectory.schedule", "off"}})),
      "")
      << "nothing looks";
  EXPECT_EQ(problem(with({})), "") << "the default has room";
  EXPECT_NE(problem(with({{"train.steps", 20000}})), "") << "but not for 201 measurements";
}

TEST(StateVolume, MoreSequencesThanTheProbeSetHasAreRefused) {
  const std::string text = problem({{"probes.trajectory.state_sequences", 12}, {"train.steps", 1}});
  EXPECT_NE(text.find("`probes.set.sequences`"), std::string::npos) << text;
  EXPECT_EQ(problem({{"probes.trajectory.state_sequences", 12},
                     {"probes.set.sequences", 12},
                     {"train.steps", 1}}),
            "");
}

}  // namespace state_volume_test
}  // namespace depthgrid
