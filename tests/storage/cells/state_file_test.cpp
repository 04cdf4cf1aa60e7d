#include "storage/cells/state_file.hpp"

#include <cstdint>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/base/version.hpp"
#include "storage/files/sealed_file.hpp"
#include "tests/storage/h5dump.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace state_file_test {

namespace fs = std::filesystem;

/// States of given sizes; the numbers are those of a small generator, so that nothing compresses.
struct Look {
  Look(std::size_t edges, std::int64_t sequences, std::size_t tokens, std::size_t width, bool half)
      : times(edges), channels(width), ids(static_cast<std::size_t>(sequences) * tokens) {
    std::iota(channels.begin(), channels.end(), 0);
    std::iota(ids.begin(), ids.end(), 100);
    for (std::size_t i = 0; i < edges; ++i) {
      times[i] = static_cast<double>(i) / static_cast<double>(edges - 1);
    }
    bytes.resize(edges * ids.size() * width * (half ? 2 : 4));
    std::uint64_t state = 1;
    for (std::byte& one : bytes) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      one = static_cast<std::byte>(state >> 56U);
    }
    input = {.cell = "0123456789ab",
             .step = 40,
             .half = half,
             .sequences = sequences,
             .edge_times = times,
             .channels = channels,
             .token_ids = ids,
             .states = bytes};
  }
  Look(const Look&) = delete;
  Look& operator=(const Look&) = delete;

  std::vector<double> times;
  std::vector<std::int64_t> channels;
  std::vector<std::int32_t> ids;
  std::vector<std::byte> bytes;
  StateFileInput input;
};

void put_halves(Look& look, const std::vector<std::uint16_t>& halves) {
  for (std::size_t i = 0; i < halves.size(); ++i) {
    look.bytes[2 * i] = static_cast<std::byte>(halves[i] & 0xffU);
    look.bytes[2 * i + 1] = static_cast<std::byte>(halves[i] >> 8U);
  }
}

TEST(StateFile, OfTheStudysSizeTakes917504BytesAndItsHead) {
  const TemporaryFolder folder;
  const Look look(7, 1, 128, 256, false);
  const fs::path file = publish_states(folder.path(), look.input);

  EXPECT_EQ(file.filename(), "states-00000040.h5");
  EXPECT_EQ(look.bytes.size(), 917504U);
  EXPECT_GE(fs::file_size(file), 917504U) << "random bytes do not compress";
  EXPECT_LE(fs::file_size(file), 917504U + 32768U);
  EXPECT_NO_THROW(verify_sealed_file(file));
  const std::string head = h5dump("-p -H -d state " + file.string());
  for (const char* part : {"H5T_IEEE_F32LE", "( 7, 1, 128, 256 )", "CHUNKED ( 1, 1, 128, 256 )",
                           "SHUFFLE", "DEFLATE", "DIMENSION_LIST"}) {
    EXPECT_NE(head.find(part), std::string::npos) << part << head;
  }
}

TEST(StateFile, HalvesAreReadAsTheirNumbers) {
  const TemporaryFolder folder;
  Look look(2, 1, 2, 2, true);
  put_halves(look, {0x3c00, 0xc000, 0x7bff, 0x0001, 0x3555, 0x8000, 0x7c00, 0xfc00});
  const std::string file = publish_states(folder.path(), look.input).string();

  const std::string data = h5dump("-y -d state " + file);
  for (const char* part : {"1, -2", "65504, 5.96046e-08", "0.333252, -0", "inf, -inf"}) {
    EXPECT_NE(data.find(part), std::string::npos) << part << data;
  }
  EXPECT_NE(h5dump("-a state/beyond_f16 " + file).find("(0): 2"), std::string::npos);
  EXPECT_NE(h5dump("-a state/significant_bits " + file).find("(0): 11"), std::string::npos);
  EXPECT_NE(h5dump("-H -d state " + file).find("H5T_IEEE_F32LE"), std::string::npos);
}

TEST(StateFile, SaysWhoseStatesTheyAreAndWhere) {
  const TemporaryFolder folder;
  Look look(3, 2, 4, 2, false);
  look.channels = {5, 9};
  look.input.channels = look.channels;
  const std::string file = publish_states(folder.path(), look.input).string();

  EXPECT_NE(h5dump("-a cell " + file).find("0123456789ab"), std::string::npos);
  EXPECT_NE(h5dump("-a step " + file).find("(0): 40"), std::string::npos);
  EXPECT_NE(h5dump("-a code_version " + file).find("\"" + std::string(code_version()) + "\""),
            std::string::npos);
  EXPECT_NE(h5dump("-y -d channel_sample " + file).find("5, 9"), std::string::npos);
  EXPECT_NE(h5dump("-y -d depth_edge_time " + file).find("0, 0.5, 1"), std::string::npos);
  EXPECT_NE(h5dump("-y -d state_token " + file).find("104, 105, 106, 107"), std::string::npos);
}

TEST(StateFile, TheSameStatesGiveTheSameBytesAndAFileThatIsThereStays) {
  const TemporaryFolder one, other;
  Look look(3, 2, 16, 8, true);
  const fs::path file = publish_states(one.path(), look.input);
  EXPECT_EQ(read_file(file), read_file(publish_states(other.path(), look.input)));

  const std::vector<std::byte> before = read_file(file);
  look.bytes[0] ^= std::byte{1};  // by another number of ranks, say
  EXPECT_EQ(publish_states(one.path(), look.input), file);
  EXPECT_EQ(read_file(file), before);
}

TEST(StateFile, OtherStatesOfTheStepHaveAFileOfTheirOwn) {
  const TemporaryFolder folder;
  const Look first(3, 1, 8, 4, true), wide(3, 1, 8, 4, false), longer(3, 2, 8, 4, true);
  EXPECT_EQ(publish_states(folder.path(), first.input).filename(), "states-00000040.h5");
  EXPECT_EQ(publish_states(folder.path(), wide.input).filename(), "states-00000040-2.h5");
  EXPECT_EQ(publish_states(folder.path(), longer.input).filename(), "states-00000040-3.h5");
  EXPECT_EQ(publish_states(folder.path(), wide.input).filename(), "states-00000040-2.h5");
}

TEST(StateFile, StatesUnderAnotherSignalAreOthers) {
  const TemporaryFolder folder;
  Look look(3, 1, 8, 4, true);
  const std::vector<double> up = {1, 0}, down = {-1, 0.5};
  EXPECT_EQ(publish_states(folder.path(), look.input).filename(), "states-00000040.h5");
  look.input.control = up;
  EXPECT_EQ(publish_states(folder.path(), look.input).filename(), "states-00000040-2.h5");
  look.input.control = down;
  const fs::path file = publish_states(folder.path(), look.input);
  EXPECT_EQ(file.filename(), "states-00000040-3.h5");
  EXPECT_NE(h5dump("-a control " + file.string()).find("[-1, 0.5]"), std::string::npos);
  look.input.control = up;
  EXPECT_EQ(publish_states(folder.path(), look.input).filename(), "states-00000040-2.h5");
}

TEST(StateFile, WhatIsDamagedIsQuarantinedAndWrittenAgain) {
  const TemporaryFolder folder;
  const Look look(3, 1, 8, 4, true);
  const fs::path file = publish_states(folder.path(), look.input);
  const std::vector<std::byte> sound = read_file(file);
  std::vector<std::byte> broken = sound;
  broken[broken.size() / 2] ^= std::byte{1};
  overwrite(file, broken);

  EXPECT_EQ(publish_states(folder.path(), look.input), file);
  EXPECT_EQ(read_file(file), sound);
  EXPECT_TRUE(fs::exists(file.string() + ".damaged-1"));
}

TEST(StateFile, NumbersThatDoNotFitTheAxesAreABug) {
  const TemporaryFolder folder;
  Look look(3, 2, 8, 4, true);
  look.input.states = look.input.states.first(look.bytes.size() - 2);
  EXPECT_THROW(publish_states(folder.path(), look.input), Error);
  EXPECT_FALSE(fs::exists(folder.path() / "states-00000040.h5"));
}

}  // namespace state_file_test
}  // namespace depthgrid
