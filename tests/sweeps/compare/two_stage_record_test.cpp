// What a store keeps of the decision of `--until-ci`: written once, whole or not at all.
#include "sweeps/compare/two_stage_record.hpp"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/files/sealed_file.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace two_stage_record_test {

TwoStageRecord some_record() {
  TwoStageRecord out;
  out.metric = "final_loss.valid";
  out.baseline = "base";
  out.asked = "1%";
  out.half_width = 0.1;
  out.max_seeds = 9;
  out.first_seeds = {0, 1, 2, 3, 4};
  out.seeds = {0, 1, 2, 3, 4, 5, 6};
  out.contrasts = {{"wide", 0.09, 0.0944}, {"near", 3.25e-8, 1e-8}};
  out.met = true;
  return out;
}

std::string damage_of(const TemporaryFolder& store) {
  try {
    read_two_stage(store.path());
  } catch (const StorageError& error) {
    EXPECT_EQ(error.code(), ExitCode::BadData);
    return error.what();
  }
  return {};
}

TEST(TwoStageRecord, IsKeptOnceAndReadAsItWas) {
  const TemporaryFolder store;
  EXPECT_FALSE(read_two_stage(store.path()));
  const TwoStageRecord record = some_record();
  publish_two_stage(store.path(), record);
  TwoStageRecord other = some_record();
  other.asked = "2%";
  publish_two_stage(store.path(), other);  // another command that decided at the same time
  const TwoStageRecord read = read_two_stage(store.path()).value();
  EXPECT_EQ(read.metric, record.metric);
  EXPECT_EQ(read.baseline, "base");
  EXPECT_EQ(read.asked, "1%");
  EXPECT_EQ(read.half_width, record.half_width);
  EXPECT_EQ(read.max_seeds, 9);
  EXPECT_EQ(read.first_seeds, record.first_seeds);
  EXPECT_EQ(read.seeds, record.seeds);
  EXPECT_EQ(read.added(), 2U);
  ASSERT_EQ(read.contrasts.size(), 2U);
  EXPECT_EQ(read.contrasts[1].arm, "near");
  EXPECT_EQ(read.contrasts[1].sd, record.contrasts[1].sd) << "to the bit";
  EXPECT_TRUE(read.met);
}

/// max(5, ⌈(t s / W)²⌉) with t = 2.776 of 4 degrees: (2.776 · .09 / .1)² = 6.24.
TEST(TwoStageRecord, SaysWhatTheRuleAsksForWhateverTheCapIs) {
  TwoStageRecord record = some_record();
  EXPECT_EQ(seeds_asked_for(record), 7);
  EXPECT_EQ(widest_of(record), 0.0944);
  record.contrasts[0].sd = 0.3;  // 69.37
  EXPECT_EQ(seeds_asked_for(record), 70);
  record.contrasts[0].sd = 0;
  EXPECT_EQ(seeds_asked_for(record), 5);
}

/// A process that was killed while it wrote leaves a part under another name.
TEST(TwoStageRecord, APartOfOneIsNone) {
  const TemporaryFolder store;
  publish_two_stage(store.path(), some_record());
  const std::string whole = read_text_file(store.path() / kTwoStageFile);
  std::filesystem::remove(store.path() / kTwoStageFile);
  store.write(".tmp-1-2", whole.substr(0, whole.size() / 2));
  EXPECT_FALSE(read_two_stage(store.path()));
  publish_two_stage(store.path(), some_record());
  EXPECT_EQ(read_text_file(store.path() / kTwoStageFile), whole) << "decided anew, the same";
}

TEST(TwoStageRecord, AnyOtherByteIsDamage) {
  const TemporaryFolder store;
  publish_two_stage(store.path(), some_record());
  const std::filesystem::path file = store.path() / kTwoStageFile;
  const std::string whole = read_text_file(file);
  for (std::size_t at = 0; at + 1 < whole.size(); ++at) {
    std::string text = whole;
    text[at] = static_cast<char>(text[at] ^ 1);
    std::ofstream(file) << text;
    EXPECT_FALSE(damage_of(store).empty()) << at << ": " << text;
  }
  for (const char* const text : {"", "{", "[]", "{\"version\": 1}", "{\"version\": 2}"}) {
    std::ofstream(file) << text;
    EXPECT_FALSE(damage_of(store).empty()) << text;
  }
  EXPECT_NE(damage_of(store).find("version 2, 1 was expected"), std::string::npos);
}

/// The message names the file, the damage, and a way out that works: the file is moved away.
TEST(TwoStageRecord, DamageIsSaidWithAWayOut) {
  const TemporaryFolder store;
  const std::string file = (store.path() / kTwoStageFile).string();
  store.write(kTwoStageFile, "{");
  store.write(std::string(kTwoStageFile) + ".damaged-1", "an older one");
  const std::string said = damage_of(store);
  EXPECT_EQ(said.find(file + ": is damaged (["), 0U) << said;
  EXPECT_NE(said.find("mv " + file + " " + file + ".damaged-2"), std::string::npos) << said;
}

}  // namespace two_stage_record_test
}  // namespace depthgrid
