#include "core/base/unique_handle.hpp"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace depthgrid {
namespace unique_handle_test {

/// A handle that writes into the test's list when it is released.
struct Noted {
  int number = 0;
  std::vector<int>* released = nullptr;
  bool operator==(const Noted&) const = default;
};

struct NotedTraits {
  using Handle = Noted;
  static Handle null() noexcept { return {}; }
  static void release(Handle h) noexcept { h.released->push_back(h.number); }
};

using Owner = UniqueHandle<NotedTraits>;

TEST(UniqueHandle, ReleasesOnceAtTheEnd) {
  std::vector<int> released;
  {
    const Owner owner(Noted{7, &released});
    EXPECT_TRUE(owner);
    EXPECT_EQ(owner.get().number, 7);
    EXPECT_TRUE(released.empty());
  }
  EXPECT_EQ(released, std::vector{7});
}

TEST(UniqueHandle, ReleasesNothingWhereThereIsNothing) {
  std::vector<int> released;
  {
    Owner owner;
    EXPECT_FALSE(owner);
    owner.reset();
    Owner given(Noted{7, &released});
    EXPECT_EQ(given.detach().number, 7);
    EXPECT_FALSE(given);
  }
  EXPECT_TRUE(released.empty());
}

TEST(UniqueHandle, MovesItsHandleAndReleasesTheOneInItsWay) {
  std::vector<int> released;
  {
    Owner first(Noted{1, &released});
    Owner second(Noted{2, &released});
    second = std::move(first);
    EXPECT_EQ(released, std::vector{2});
    const Owner third(std::move(second));
    EXPECT_EQ(third.get().number, 1);
  }
  EXPECT_EQ(released, (std::vector{2, 1}));
}

TEST(UniqueHandle, ResetReleasesTheOldHandleOnly) {
  std::vector<int> released;
  Owner owner(Noted{1, &released});
  owner.reset(Noted{2, &released});
  EXPECT_EQ(released, std::vector{1});
  EXPECT_EQ(owner.get().number, 2);
}

}  // namespace unique_handle_test
}  // namespace depthgrid
