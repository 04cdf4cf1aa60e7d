#include "sweeps/queue/start_permit.hpp"

#include <gtest/gtest.h>

#include "tests/core/config/sweep_files.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace start_permit_test {

TEST(StartPermit, CellsWaitForTheirSourceAndHearOfItsEnd) {
  const SweepFiles files;
  const Sweep sweep = files.load(kPhases);
  const TemporaryFolder folder;
  const Store store = Store::open_or_create(folder.path() / "s");
  const auto row = [&](const char* alias) {
    return static_cast<std::size_t>(cell_named(sweep, alias).row);
  };
  const CellId a = cell_named(sweep, "a,s0").id;
  store.publish_failure(a, 1, CellStatus::Failed, R"({"message": "of an earlier run"})");
  std::vector<std::int64_t> failed_before(sweep.cells.size(), 0);
  failed_before[row("a,s0")] = 1;
  StartPermit permit(sweep, store, failed_before);
  std::string why;
  using Answer = StartPermit::Answer;

  EXPECT_EQ(permit.ask(row("a,s0"), why), Answer::Open);
  EXPECT_EQ(permit.ask(row("c,s1"), why), Answer::Open);
  EXPECT_EQ(permit.ask(row("b,s0"), why), Answer::Wait);  // it is tried again
  EXPECT_EQ(permit.ask(row("b,s1"), why), Answer::Wait);

  store.publish_failure(a, 2, CellStatus::Oom, R"({"message": "too large"})");
  EXPECT_EQ(permit.ask(row("b,s0"), why), Answer::Never);
  EXPECT_EQ(why, "starts from a,s0 (" + a + "), which ended as oom: too large");
  EXPECT_EQ(permit.ask(row("b,s1"), why), Answer::Wait);  // its source is another cell
}

}  // namespace start_permit_test
}  // namespace depthgrid
