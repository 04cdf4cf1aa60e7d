#include "sweeps/report/bits_per_byte.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/config/axis_labels.hpp"
#include "storage/cells/former_bits.hpp"

namespace depthgrid {
namespace {

constexpr std::array<std::string_view, 2> kStems = {"eval_", "final_"};

std::string tokenizer_of(const Listing& listing, std::size_t row) {
  const Value* word = listing.leaves.find(row, "data.tokenizer");
  return word == nullptr ? std::string() : plain_text(*word);
}

}  // namespace

bool is_per_byte(std::string_view metric) {
  return metric.find("_bits_per_byte.") != metric.npos;
}

void withhold_bits_per_byte(Listing& listing) {
  listing.withheld.assign(listing.cells.size(), {});
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    CellSummary& cell = listing.cells[row];
    for (const std::string_view stem : kStems) {
      for (const std::string_view split : kSplitNames) {
        const std::string name = fmt::format("{}bits_per_byte.{}", stem, split);
        const auto loss = cell.metrics.find(fmt::format("{}loss.{}", stem, split));
        const auto bits = cell.metrics.find(name);
        if (loss == cell.metrics.end() || tokenizer_of(listing, row).empty()) continue;
        const bool recorded = cell.facts.contains(fmt::format("split_digest.{}", split));
        const bool kept = bits != cell.metrics.end() &&
                          (recorded ? cell.facts.contains(fmt::format("split_bytes.{}", split))
                                    : former_tokens_keep_bytes(
                                          tokenizer_of(listing, row),
                                          former_tokenised(listing.leaves.find(row, "data.path")),
                                          loss->second, bits->second));
        if (kept) continue;
        if (bits != cell.metrics.end()) cell.metrics.erase(bits);
        listing.withheld[row].push_back(name);
      }
    }
  }
}

std::vector<std::string> withheld_names(const Listing& listing) {
  std::set<std::string> out;
  for (const auto& names : listing.withheld) out.insert(names.begin(), names.end());
  return {out.begin(), out.end()};
}

std::string bits_per_byte_note(const Listing& listing, const std::vector<std::size_t>& cells,
                               const std::vector<std::string>& names) {
  std::set<std::string> tokenizers;
  bool files = false;  // of tokens
  std::size_t lacking = 0;
  for (const std::size_t row : cells) {
    if (row >= listing.withheld.size()) continue;
    const auto& withheld = listing.withheld[row];
    if (std::ranges::none_of(withheld, [&names](const std::string& name) {
          return std::ranges::find(names, name) != names.end();
        })) {
      continue;
    }
    if (former_tokenised(listing.leaves.find(row, "data.path"))) {
      files = true;
    } else {
      tokenizers.insert(tokenizer_of(listing, row));
    }
    ++lacking;
  }
  if (lacking == 0) return {};
  std::string whose = fmt::format("{}", fmt::join(tokenizers, ", "));
  if (files)
    whose += std::string(whose.empty() ? "" : ", ") + "a file that does not say their bytes";
  return fmt::format(
      "no bits per byte of {} cell{}: tokens of {} do not keep every byte of this text, or are not "
      "known to (docs/comparing.md)\n",
      lacking, lacking == 1 ? "" : "s", whose);
}

}  // namespace depthgrid
