#include "worker/process/end_note.hpp"

#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "core/base/machine.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace end_note_test {

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(EndNote, TheFirstCodeStays) {
  const TemporaryFolder folder;
  note_ends_in(folder.path() / "end");

  note_end(76);
  note_end(137);

  EXPECT_EQ(content(folder.path() / "end"), "076\n" + node_name() + "\n");
  note_ends_in({});
}

TEST(EndNote, AFaultThatMayBeAnothersNamesNoNode) {
  const TemporaryFolder folder;
  note_ends_in(folder.path() / "end");

  note_end(71, false);
  note_end(71);

  EXPECT_EQ(content(folder.path() / "end"), "071\n");
  note_ends_in({});
}

TEST(EndNote, SaysWhatIsWrongWithTheNode) {
  const TemporaryFolder folder;
  note_ends_in(folder.path() / "end");

  note_end(71, true, "card");

  EXPECT_EQ(content(folder.path() / "end"), "071\n" + node_name() + "\ncard\n");
  note_ends_in({});
}

TEST(EndNote, WithoutAPlaceNothingIsNoted) {
  const TemporaryFolder folder;
  note_ends_in(folder.path() / "end");
  note_ends_in({});

  note_end(1);

  EXPECT_FALSE(std::filesystem::exists(folder.path() / "end"));
}

}  // namespace end_note_test
}  // namespace depthgrid
