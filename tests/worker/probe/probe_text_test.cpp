#include "worker/probe/probe_text.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/data/tokenizers/tokenizer.hpp"
#include "tests/support/cell_identity.hpp"
#include "worker/session/probe_tokens.hpp"

namespace depthgrid {
namespace probe_text_test {

/// A text of bytes, all of the probe set's split the same line.
Dataset lines(const std::string& line, bool tokenizer) {
  Dataset data;
  data.vocab_size = 256;
  std::vector<std::uint32_t> ids;
  while (ids.size() < 4000) {
    for (const char c : line) ids.push_back(static_cast<unsigned char>(c));
  }
  data.streams[static_cast<std::size_t>(Split::Train)] = TokenStream::from_ids(ids, 256, 0);
  data.streams[static_cast<std::size_t>(Split::Dev)] = TokenStream::from_ids(ids, 256, 0);
  TokenizerOptions bytes;
  bytes.kind = "byte";
  if (tokenizer) data.tokenizer = make_tokenizer(bytes, "");
  return data;
}

CellConfig config() {
  return make_config({{"data.seq_len", 8}, {"model.d_model", 16}, {"model.n_heads", 2}});
}

std::string joined(const nlohmann::json& sequence) {
  std::string out;
  for (const auto& token : sequence) out += token.get<std::string>();
  return out;
}

TEST(ProbeText, IsThatOfTheFirstSequencesOfTheProbeSet) {
  const Dataset data = lines("abc ", true);
  const auto answer = parse_json(probe_text(config(), data, 2));
  EXPECT_EQ(answer.at("schema"), 1);
  EXPECT_EQ(answer.at("probe_set_sha256"), probe_set_digest(config(), data));
  ASSERT_EQ(answer.at("sequences").size(), 2U);
  const ProbeSet set = probe_tokens(config(), data);
  for (std::size_t s = 0; s < 2; ++s) {
    const auto& sequence = answer.at("sequences")[s];
    ASSERT_EQ(sequence.size(), 8U) << "the inputs, not the last target";
    const auto first = set.windows[static_cast<std::int64_t>(s)][0].item<std::int64_t>();
    EXPECT_EQ(sequence[0], std::string(1, static_cast<char>(first)));
    EXPECT_NE(std::string("abc abc abc abc ").find(joined(sequence)), std::string::npos);
  }
  const auto all = parse_json(probe_text(config(), data, 1'000'000));
  EXPECT_EQ(all.at("sequences").size(), static_cast<std::size_t>(set.sequences()));
}

TEST(ProbeText, BytesThatAreNoTextAreVisible) {
  const auto answer = parse_json(probe_text(config(), lines("\xFF\x01", true), 1));
  const std::string text = joined(answer.at("sequences")[0]);
  EXPECT_NE(text.find("\\xff"), std::string::npos);
  EXPECT_NE(text.find("\\x01"), std::string::npos);
}

TEST(ProbeText, WithoutATokeniserTokensAreTheirIds) {
  const auto answer = parse_json(probe_text(config(), lines("a", false), 1));
  EXPECT_EQ(joined(answer.at("sequences")[0]), "9797979797979797");
}

}  // namespace probe_text_test
}  // namespace depthgrid
