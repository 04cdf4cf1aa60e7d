#include "storage/cells/token_mask.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "tests/storage/probed_cell.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace token_mask_test {

/// Three looks (the last of another probe) at two layers, of which the first never skips, with two
/// sequences of ten tokens.
ProbedCell masked_cell() {
  ProbedCell out;
  out.axis("probe_step", {0, 10, 20}).axis("layer", {0, 1}).axis("sequence_sample", {0, 1});
  out.axis("mask_byte", {0, 1});
  const std::vector<double> unseen(4, kNaN);
  std::vector<double> bytes;
  for (const std::vector<double>& second :
       {std::vector<double>{1, 0, 0, 0}, {0b101, 0b10, 0, 0b1}, unseen}) {
    bytes.insert(bytes.end(), unseen.begin(), unseen.end());
    bytes.insert(bytes.end(), second.begin(), second.end());
  }
  out.numbers("routing_mask", bytes).numbers("n_position", {10});
  return out.text("probe_set_sha256", "feed");
}

std::string marks(const TokenMask& mask) {
  std::string out;
  for (const std::uint8_t one : mask.executed) out += one != 0 ? 'x' : '.';
  return out;
}

TEST(TokenMask, IsThatOfTheLastLookThatHasOne) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "result.h5";
  masked_cell().publish(file);
  const auto first = read_token_mask(file, "a", "routing_mask", 0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->variable, "routing_mask");
  EXPECT_EQ(first->step, 10);
  EXPECT_EQ(first->layers, std::vector<std::int64_t>{1}) << "the layer that may skip";
  EXPECT_EQ(first->positions, 10U) << "of sixteen bits";
  EXPECT_EQ(marks(*first), "x.x......x");
  EXPECT_EQ(first->set_sha256, "feed");
  EXPECT_EQ(marks(read_token_mask(file, "a", "routing_mask", 1).value()), "........x.");
}

TEST(TokenMask, OfWhatIsNotThereIsNothing) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "result.h5";
  masked_cell().publish(file);
  EXPECT_FALSE(read_token_mask(file, "a", "routing_capacity_mask", 0));
  EXPECT_FALSE(read_token_mask(file, "a", "routing_mask", 2)) << "two sequences are kept";
  EXPECT_FALSE(read_token_mask(file, "a", "n_position", 0)) << "no mask";
  EXPECT_THROW(read_token_mask(file, "b", "routing_mask", 0), StorageError);
  EXPECT_THROW(read_token_mask(folder.path() / "x", "a", "routing_mask", 0), StorageError);
  ProbedCell unseen;
  unseen.axis("probe_step", {0}).axis("layer", {0}).axis("sequence_sample", {0});
  unseen.axis("mask_byte", {0}).numbers("routing_mask", {kNaN}).publish(file);
  EXPECT_FALSE(read_token_mask(file, "a", "routing_mask", 0));
}

}  // namespace token_mask_test
}  // namespace depthgrid
