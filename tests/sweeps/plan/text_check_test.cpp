#include "sweeps/plan/text_check.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "core/base/digest.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace text_check_test {

std::string written(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text;
  return file.string();
}

TEST(RefusedTexts, AreThoseThatTheStoreHasPinnedOtherwise) {
  const TemporaryFolder folder;
  const std::string text = written(folder.path() / "a.txt", "first\n");
  const Sweep sweep = synthetic_sweep(
      {1e-4, 1e-3}, 1, {{"data.corpus", "file"}, {"data.path", text}, {"data.seq_len", 4}});
  const Store store = Store::open_or_create(folder.path() / "s");
  EXPECT_TRUE(refused_texts(sweep, store).empty()) << "nothing is pinned yet";
  store.pin_corpus("file", hex(sha256(std::string_view("first\n"))));
  publish_plan(store, sweep);
  finish_cell(store, read_plan(store), 0, 5);
  EXPECT_TRUE(refused_texts(sweep, store).empty());

  written(folder.path() / "a.txt", "second\n");

  const std::vector<std::string> refused = refused_texts(sweep, store);
  ASSERT_EQ(refused.size(), 1U) << "both cells read one text";
  EXPECT_NE(refused[0].find("corpus 'file' has changed"), std::string::npos) << refused[0];
  EXPECT_NE(refused[0].find("corpora/file.json that is damaged"), std::string::npos) << refused[0];

  finish_cell(store, read_plan(store), 1, 5);
  EXPECT_TRUE(refused_texts(sweep, store).empty()) << "nothing is left to train";
}

TEST(RefusedTexts, OfSeveralFilesAreComparedAsTheyArePinned) {
  const TemporaryFolder folder;
  const std::string train = written(folder.path() / "a.txt", "first\n");
  const std::string valid = written(folder.path() / "b.txt", "valid\n");
  const Sweep sweep = synthetic_sweep(
      {1e-4}, 1,
      {{"data.corpus", "file"}, {"data.path", train}, {"data.seq_len", 4}, {"data.valid", valid}});
  const Store store = Store::open_or_create(folder.path() / "s");
  const auto digest = [](std::string_view text) { return hex(sha256(text)); };
  store.pin_corpus("file", digest(digest("first\n") + "\n" + digest("valid\n") + "\n"));
  EXPECT_TRUE(refused_texts(sweep, store).empty());
  written(folder.path() / "b.txt", "other\n");
  EXPECT_EQ(refused_texts(sweep, store).size(), 1U);
}

}  // namespace text_check_test
}  // namespace depthgrid
