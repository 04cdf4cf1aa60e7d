#include "storage/cells/former_bits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "core/config/axis_labels.hpp"

namespace depthgrid {
namespace {

std::string tokenizer_of(const StoredPlan& plan, const StoredCell& cell) {
  const Value* corpus = leaf_of(plan, cell, "data.corpus");
  if (corpus != nullptr && plain_text(*corpus).starts_with("synthetic:")) return {};
  const Value* word = leaf_of(plan, cell, "data.tokenizer");
  return word == nullptr ? std::string() : plain_text(*word);
}

}  // namespace

bool former_tokens_keep_bytes(std::string_view tokenizer, bool tokenised, double loss,
                              double bits) {
  if (tokenizer.empty() || tokenizer == "byte" || tokenizer == "gpt2") return true;
  if (tokenizer != "char256") return false;
  if (tokenised) return true;         // the default of the leaf, which says nothing there
  constexpr double kRounding = 5e-7;  // of two float32
  const double bytes_per_token = loss / (bits * std::numbers::ln2);
  return std::abs(bytes_per_token - 1) < kRounding;
}

bool former_tokenised(const Value* path) {
  if (path == nullptr) return false;
  const auto* list = path->get_if<ValueList>();
  return plain_text(list != nullptr && !list->empty() ? list->front() : *path).ends_with(".bin");
}

bool may_have_former_bits(const StoredPlan& plan, const StoredCell& cell) {
  return !former_tokens_keep_bytes(tokenizer_of(plan, cell),
                                   former_tokenised(leaf_of(plan, cell, "data.path")), 1, 0);
}

bool has_kept_bytes(const ColumnTable& table) {
  return table.find("split_digest") != nullptr;
}

void withhold_former_bits(ColumnTable& table, const StoredPlan& plan, const StoredCell& cell) {
  const VariableColumn* digests = table.find("split_digest");
  const VariableColumn* bytes = table.find("split_bytes");
  const std::string tokenizer = tokenizer_of(plan, cell);
  const bool tokenised = former_tokenised(leaf_of(plan, cell, "data.path"));
  for (VariableColumn& column : table.columns) {
    const bool final = column.name == "final_bits_per_byte";
    if (!final && column.name != "eval_bits_per_byte") continue;
    const VariableColumn* loss = table.find(final ? "final_loss" : "eval_loss");
    const std::vector<std::byte> absent = fill_item(column.type, column.item_bytes);
    for (std::size_t i = 0; i < column.items(); ++i) {
      const std::size_t split = i % kSplitNames.size();  // the last axis of both
      const bool known = digests != nullptr && digests->integer(split) != -1;
      const bool kept = known ? bytes != nullptr && bytes->integer(split) != -1
                              : loss != nullptr && loss->items() == column.items() &&
                                    former_tokens_keep_bytes(tokenizer, tokenised, loss->number(i),
                                                             column.number(i));
      if (kept) continue;
      std::ranges::copy(absent,
                        column.bytes.begin() + static_cast<std::ptrdiff_t>(i * column.item_bytes));
    }
  }
}

}  // namespace depthgrid
