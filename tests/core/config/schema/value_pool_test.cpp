#include "core/config/schema/value_pool.hpp"

#include <gtest/gtest.h>

#include "core/config/schema.hpp"

namespace depthgrid {
namespace value_pool_test {

TEST(ValuePool, EqualValuesHaveOneAddress) {
  ValuePool pool;
  EXPECT_EQ(pool.intern(3), pool.intern(3));
  EXPECT_EQ(pool.intern(1e-4), pool.intern(0.0001));
  EXPECT_EQ(pool.intern(ValueList{"a", 1}), pool.intern(ValueList{"a", 1}));
  EXPECT_EQ(pool.intern(Value()), pool.null());
}

TEST(ValuePool, EqualTextsOfDifferentTypesAreDifferentValues) {
  ValuePool pool;
  const PooledValue* integer = pool.intern(1);
  const PooledValue* real = pool.intern(1.0);
  EXPECT_EQ(integer->json, real->json);
  EXPECT_NE(integer, real);
  EXPECT_NE(pool.intern("1"), integer);
  EXPECT_NE(pool.intern(ValueList{0, 1}), pool.intern(ValueList{0.0, 1.0}));
  EXPECT_NE(pool.intern("null"), pool.null());
}

TEST(ValuePool, AddressesStay) {
  ValuePool pool;
  const PooledValue* first = pool.intern("first");
  for (int i = 0; i < 1000; ++i) pool.intern(i);
  EXPECT_EQ(pool.intern("first"), first);
  EXPECT_EQ(first->json, R"("first")");
}

TEST(ValuePool, HoldsTheDefaultOfEveryLeaf) {
  const ValuePool pool;
  ASSERT_EQ(pool.defaults().size(), schema().size());
  EXPECT_EQ(pool.defaults()[leaf_index("model.n_layers")]->json, "6");
  EXPECT_EQ(pool.defaults()[leaf_index("model.d_ff")], pool.null());
}

}  // namespace value_pool_test
}  // namespace depthgrid
