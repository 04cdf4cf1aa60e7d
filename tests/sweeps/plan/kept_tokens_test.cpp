#include "sweeps/plan/kept_tokens.hpp"

#include <gtest/gtest.h>

#include "core/config/identity.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace kept_tokens_test {

TEST(KeptTokens, AreThoseOfTheCardOfACellsText) {
  const TemporaryFolder folder;
  const Store store = Store::open_or_create(folder.path() / "store");
  const CellConfig mine = make_config({{"data.seq_len", 32}});
  const CellConfig longer = make_config({{"data.seq_len", 64}});
  const CellConfig other = make_config({{"data.tokenizer", "char"}, {"model.vocab_size", 30}});
  EXPECT_EQ(KeptTokens(store)(mine, "valid"), 0);
  store.freeze_text(data_card_name(mine),
                    R"({"schema":1,"splits":{"valid":{"file":"f","tokens":123},"dev":7}})");
  store.freeze_text(data_card_name(other), "damaged");
  KeptTokens kept(store);
  EXPECT_EQ(kept(mine, "valid"), 123);
  EXPECT_EQ(kept(longer, "valid"), 123) << "windows are no part of the text";
  EXPECT_EQ(kept(mine, "test"), 0);
  EXPECT_EQ(kept(mine, "dev"), 0);
  EXPECT_EQ(kept(other, "valid"), 0);
}

}  // namespace kept_tokens_test
}  // namespace depthgrid
