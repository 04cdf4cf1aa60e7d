#include "storage/hdf5/checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/columns/table_writer.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace checkpoint_test {

const std::vector<float> kWeights = {0.1F, -0.0F, 1e-42F, 3.0F, 4.0F, 5.0F};
const std::vector<float> kNone = {};

CheckpointData sample(std::int64_t step) {
  CheckpointData data;
  data.step = step;
  data.config_digest = "cafe";
  data.numbers = {{"epoch", 2}, {"best_loss", 0.1}};
  data.texts = {{"rng", "philox"}, {"empty", ""}};
  data.tensors = {{"layers.0.weight", {2, 3}, kWeights},
                  {"scale", {}, std::span(kWeights).first(1)},
                  {"empty", {0, 4}, kNone}};
  return data;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& e : std::filesystem::directory_iterator(folder))
    names.push_back(e.path().filename());
  std::ranges::sort(names);
  return names;
}

TEST(Checkpoint, GivesBackEveryBit) {
  TemporaryFolder cell;
  publish_checkpoint(cell.path(), 3, sample(1200));

  const auto found = newest_checkpoint(cell.path(), "cafe").found;

  EXPECT_EQ(names_in(cell.path()), std::vector<std::string>{"ckpt-00001200-000003.h5"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->step, 1200);
  EXPECT_EQ(found->generation, 3);
  EXPECT_EQ(found->numbers, sample(0).numbers);
  EXPECT_EQ(found->texts, sample(0).texts);
  ASSERT_EQ(found->tensors.size(), 3U);
  EXPECT_EQ(found->tensors[0].name, "layers.0.weight");
  EXPECT_EQ(found->tensors[0].shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(std::memcmp(found->tensors[0].data.data(), kWeights.data(), 24), 0);
  EXPECT_TRUE(found->tensors[1].shape.empty());
  EXPECT_EQ(found->tensors[1].data, std::vector<float>{0.1F});
  EXPECT_TRUE(found->tensors[2].data.empty());
}

const std::filesystem::path kStored =
    std::filesystem::path(DEPTHGRID_SOURCE_DIR) / "tests/golden/checkpoint";

TEST(Checkpoint, OneOfAnEarlierBuildIsRead) {
  TemporaryFolder cell;
  std::filesystem::copy(kStored, cell.path());

  const CheckpointSearch search = newest_checkpoint(cell.path(), "cafe");

  ASSERT_TRUE(search.found.has_value()) << search.rejected.at(0);
  EXPECT_EQ(search.found->step, 1200);
  EXPECT_EQ(search.found->generation, 3);
  EXPECT_EQ(search.found->numbers, sample(0).numbers);
  EXPECT_EQ(search.found->texts, sample(0).texts);
  ASSERT_EQ(search.found->tensors.size(), 3U);
  EXPECT_EQ(search.found->tensors[0].name, "layers.0.weight");
  EXPECT_EQ(std::memcmp(search.found->tensors[0].data.data(), kWeights.data(), 24), 0);
}

TEST(Checkpoint, HasTheBytesThatAnEarlierBuildWrote) {
  if (hdf5_version() != "1.10.8") GTEST_SKIP() << "another HDF5 lays its files out in another way";
  TemporaryFolder cell;

  const auto file = publish_checkpoint(cell.path(), 3, sample(1200));

  EXPECT_EQ(read_file(file), read_file(kStored / "ckpt-00001200-000003.h5"));
}

TEST(Checkpoint, KeepsTheNewestTwoAndTheStepsThatAreWanted) {
  TemporaryFolder cell;
  const std::vector<std::int64_t> kept = {200};

  for (const std::int64_t step : {100, 200, 300, 400, 500}) {
    publish_checkpoint(cell.path(), 1, sample(step), 1, kept);  // fewer than two are never kept
  }

  std::vector<std::int64_t> steps;
  for (const CheckpointFile& f : list_checkpoints(cell.path())) steps.push_back(f.step);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{500, 400, 200}));
  EXPECT_TRUE(checkpoint_at(cell.path(), "cafe", 200).has_value());
  EXPECT_FALSE(checkpoint_at(cell.path(), "cafe", 300).has_value());
}

TEST(Checkpoint, OfAStepTheNewestGenerationStays) {
  TemporaryFolder cell;
  publish_checkpoint(cell.path(), 1, sample(100));
  publish_checkpoint(cell.path(), 1, sample(200));

  publish_checkpoint(cell.path(), 2, sample(200));

  EXPECT_EQ(names_in(cell.path()),
            (std::vector<std::string>{"ckpt-00000100-000001.h5", "ckpt-00000200-000002.h5"}));
}

TEST(Checkpoint, ADamagedOneIsQuarantinedAndTheOlderOneServes) {
  TemporaryFolder cell;
  publish_checkpoint(cell.path(), 1, sample(100));
  const auto newest = publish_checkpoint(cell.path(), 1, sample(200));
  auto image = read_file(newest);
  image[image.size() / 2] ^= std::byte{1};
  publish_replace(newest, image);

  const CheckpointSearch search = newest_checkpoint(cell.path(), "cafe");

  ASSERT_TRUE(search.found.has_value());
  EXPECT_EQ(search.found->step, 100);
  ASSERT_EQ(search.rejected.size(), 1U);
  EXPECT_NE(search.rejected[0].find("SHA-256"), std::string::npos) << search.rejected[0];
  EXPECT_EQ(
      names_in(cell.path() / "corrupt"),
      (std::vector<std::string>{"ckpt-00000200-000001.h5", "ckpt-00000200-000001.h5.reason.txt"}));
}

TEST(Checkpoint, EveryKindOfDamageIsFoundAndNothingIsLeftToLoad) {
  TemporaryFolder cell;
  const auto file = publish_checkpoint(cell.path(), 1, sample(100));
  const auto sound = read_file(file);
  std::mt19937 random(3);

  for (int round = 0; round < 60; ++round) {
    auto image = sound;
    const std::size_t at = random() % image.size();
    if (round % 3 == 0) image.resize(at);
    if (round % 3 == 1) image[at] ^= static_cast<std::byte>(1 + random() % 255);
    if (round % 3 == 2)
      std::fill(image.begin() + static_cast<std::ptrdiff_t>(at), image.end(), std::byte{7});
    if (image == sound) continue;
    overwrite(file, image);
    const CheckpointSearch search = newest_checkpoint(cell.path(), "cafe");
    EXPECT_FALSE(search.found.has_value()) << round;
    EXPECT_EQ(search.rejected.size(), 1U);
  }
  publish_replace(file, sound);
  EXPECT_TRUE(newest_checkpoint(cell.path(), "cafe").found.has_value());
}

TEST(Checkpoint, AWrongTensorUnderASoundSealIsFound) {
  TemporaryFolder cell;
  const auto file = publish_checkpoint(cell.path(), 1, sample(100));
  auto image = read_file(file);
  const auto weights = std::as_bytes(std::span(kWeights));
  const auto at = std::ranges::search(image, weights).begin();  // neither chunked nor filtered
  ASSERT_NE(at, image.end());
  *at ^= std::byte{1};
  seal_image(image, 1);
  overwrite(file, image);

  const CheckpointSearch search = newest_checkpoint(cell.path(), "cafe");

  EXPECT_FALSE(search.found.has_value());
  ASSERT_EQ(search.rejected.size(), 1U);
  EXPECT_NE(search.rejected[0].find("differs from its digest"), std::string::npos)
      << search.rejected[0];
}

TEST(Checkpoint, OfAnotherConfigurationIsNeverLoaded) {
  TemporaryFolder cell;
  publish_checkpoint(cell.path(), 1, sample(100));

  const CheckpointSearch search = newest_checkpoint(cell.path(), "beef");

  EXPECT_FALSE(search.found.has_value());
  ASSERT_EQ(search.rejected.size(), 1U);
  EXPECT_NE(search.rejected[0].find("configuration cafe"), std::string::npos);
}

TEST(Checkpoint, ARenamedFileDoesNotPassForAnotherStep) {
  TemporaryFolder cell;
  const auto file = publish_checkpoint(cell.path(), 1, sample(100));
  std::filesystem::rename(file, cell.path() / "ckpt-00000900-000001.h5");

  EXPECT_FALSE(newest_checkpoint(cell.path(), "cafe").found.has_value());
}

TEST(Checkpoint, IsAbsentWhereThereIsNone) {
  TemporaryFolder cell;
  publish_replace(cell.path() / "ckpt-x-000001.h5", "not one");

  EXPECT_FALSE(newest_checkpoint(cell.path(), "cafe").found.has_value());
  EXPECT_TRUE(newest_checkpoint(cell.path(), "cafe").rejected.empty());
  EXPECT_TRUE(list_checkpoints(cell.path() / "absent").empty());
}

TEST(Checkpoint, RefusesNamesThatWouldBeGroupsAndShapesThatDoNotFit) {
  TemporaryFolder cell;
  CheckpointData data = sample(1);
  data.tensors[0].name = "a/b";

  EXPECT_THROW(publish_checkpoint(cell.path(), 1, data), Error);

  data = sample(1);
  data.tensors[0].shape = {2, 4};
  EXPECT_THROW(publish_checkpoint(cell.path(), 1, data), Error);
  EXPECT_TRUE(list_checkpoints(cell.path()).empty());
}

TEST(Checkpoint, ASealAroundSomethingElseIsBadData) {
  TemporaryFolder cell;
  std::vector<std::byte> image(2000, std::byte{65});
  seal_image(image, 1);
  publish_replace(cell.path() / "ckpt-00000100-000001.h5", image);

  const CheckpointSearch search = newest_checkpoint(cell.path(), "cafe");

  ASSERT_EQ(search.rejected.size(), 1U);
  EXPECT_NE(search.rejected[0].find("H5Fopen"), std::string::npos) << search.rejected[0];
}

TEST(Checkpoint, OfSixtyMegabytesReadsBackAsWritten) {
  TemporaryFolder cell;
  std::vector<float> values(5U << 20U);  // 20 MiB
  std::iota(values.begin(), values.end(), 0.0F);
  CheckpointData data;
  data.step = 1;
  data.config_digest = "cafe";
  for (const char* name : {"w", "m", "v"}) data.tensors.push_back({name, {5, 1 << 20}, values});
  publish_checkpoint(cell.path(), 1, data);

  const auto found = newest_checkpoint(cell.path(), "cafe").found;
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->tensors[2].data, values);
}

}  // namespace checkpoint_test
}  // namespace depthgrid
