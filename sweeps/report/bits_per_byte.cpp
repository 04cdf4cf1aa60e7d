#include "sweeps/report/bits_per_byte.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/config/axis_labels.hpp"

namespace depthgrid {
namespace {

constexpr std::array<std::string_view, 2> kStems = {"eval_", "final_"};

std::string tokenizer_of(const Listing& listing, std::size_t row) {
  const Value* word = listing.leaves.find(row, "data.tokenizer");
  return word == nullptr ? std::string() : plain_text(*word);
}

/// Whether the ids come from the user's own token files, whose side-car has said how many bytes
/// they stand for, or else there would be no figure.
bool reads_bin(const Listing& listing, std::size_t row) {
  const Value* path = listing.leaves.find(row, "data.path");
  if (path == nullptr) return false;
  const auto* list = path->get_if<ValueList>();
  return plain_text(list != nullptr && !list->empty() ? list->front() : *path).ends_with(".bin");
}

/// For a result that does not say whether its tokens keep the text: whether its tokeniser does, or
/// its figures are of a text with one byte for each token.
bool kept_by_all_that_is_known(const Listing& listing, std::size_t row, double loss, double bits) {
  const std::string tokenizer = tokenizer_of(listing, row);
  if (tokenizer.empty() || tokenizer == "byte" || tokenizer == "gpt2") return true;
  if (tokenizer != "char256") return false;
  if (reads_bin(listing, row)) return true;  // the default of the leaf, which says nothing there
  constexpr double kRounding = 5e-7;         // of two float32
  const double bytes_per_token = loss / (bits * std::numbers::ln2);
  return std::abs(bytes_per_token - 1) < kRounding;
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
        const bool told = cell.facts.contains(fmt::format("split_digest.{}", split));
        const bool kept =
            bits != cell.metrics.end() &&
            (told ? cell.facts.contains(fmt::format("split_bytes.{}", split))
                  : kept_by_all_that_is_known(listing, row, loss->second, bits->second));
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
  std::size_t lacking = 0;
  for (const std::size_t row : cells) {
    if (row >= listing.withheld.size()) continue;
    const auto& withheld = listing.withheld[row];
    if (std::ranges::none_of(withheld, [&names](const std::string& name) {
          return std::ranges::find(names, name) != names.end();
        })) {
      continue;
    }
    tokenizers.insert(tokenizer_of(listing, row));
    ++lacking;
  }
  if (lacking == 0) return {};
  return fmt::format(
      "no bits per byte of {} cell{}: tokens of {} do not keep every byte of this text, or are not "
      "known to (docs/comparing.md)\n",
      lacking, lacking == 1 ? "" : "s", fmt::join(tokenizers, ", "));
}

}  // namespace depthgrid
