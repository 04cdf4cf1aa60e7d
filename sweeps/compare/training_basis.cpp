#include "sweeps/compare/training_basis.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr std::array<std::string_view, 4> kOrderLeaves = {"data.sampler", "data.first_step",
                                                          "data.seq_len", "train.batch_size"};
constexpr const char* kTrainDigest = "split_digest.train";

bool is_allowed(std::span<const std::string> allowed_leaves, std::string_view what) {
  return std::ranges::find(allowed_leaves, what) != allowed_leaves.end();
}

/// A leaf that both cells read, with other values.
void add_leaf(const Listing& listing, std::size_t mine, std::size_t theirs, std::string_view leaf,
              std::span<const std::string> allowed_leaves, BasisMismatch& out) {
  const Value* const a = listing.leaves.find(mine, leaf);
  const Value* const b = listing.leaves.find(theirs, leaf);
  if (a == nullptr || b == nullptr || *a == *b || is_allowed(allowed_leaves, leaf)) return;
  out.differences.push_back({std::string(leaf), *a, *b});
}

void add_text_fact(const std::string& what, const std::string& a, const std::string& b,
                   BasisMismatch& out) {
  if (a != b) out.differences.push_back({what, Value(a), Value(b)});
}

std::string audit_word(const CellSummary& cell) {
  return cell.audit.empty() ? "passed" : cell.audit;
}

}  // namespace

void check_allowed_words(std::span<const std::string> words) {
  for (const std::string& word : words) {
    if (std::ranges::find(kAllowedWords, word) != std::end(kAllowedWords)) continue;
    throw UserError(ExitCode::Usage, fmt::format("--allow {}: one or more of {} was expected", word,
                                                 fmt::join(kAllowedWords, ", ")));
  }
}

std::vector<std::string> leaves_of_arms(const Listing& listing) {
  struct LeafInStore {
    std::size_t cells = 0;
    std::set<std::string> values;
  };
  std::map<std::string, std::map<std::string, LeafInStore>> leaves;  // by leaf, then store
  std::map<std::string, std::size_t> cells;                          // by store
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    const std::string& store = listing.store_of(row);
    ++cells[store];
    for (const auto& [leaf, value] : listing.cells[row].overrides) {
      LeafInStore& one = leaves[leaf][store];
      ++one.cells;
      one.values.insert(canonical_json(value));
    }
  }
  leaves.erase("seed");
  std::vector<std::string> out;
  for (const auto& [leaf, stores] : leaves) {
    const bool varies = std::ranges::any_of(stores, [&cells](const auto& store) {
      return store.second.values.size() > 1 || store.second.cells < cells.at(store.first);
    });
    if (varies || listing.stores.empty()) out.push_back(leaf);
  }
  return out;
}

BasisMismatch training_mismatch(const Listing& listing, std::size_t mine, std::size_t theirs,
                                std::span<const std::string> allowed_leaves) {
  BasisMismatch out;
  if (mine == theirs) return out;
  const CellSummary& a = listing.cells[mine];
  const CellSummary& b = listing.cells[theirs];
  std::vector<std::string_view> words;  // that would allow it
  const auto close = [&](std::size_t before, std::string_view word) {
    if (out.differences.size() > before) words.push_back(word);
  };
  if (!is_allowed(allowed_leaves, "order")) {
    for (const std::string_view leaf : kOrderLeaves) {
      add_leaf(listing, mine, theirs, leaf, allowed_leaves, out);
    }
    const auto one = a.facts.find(kTrainDigest), other = b.facts.find(kTrainDigest);
    const bool of_text = std::ranges::any_of(
        allowed_leaves, [](const std::string& leaf) { return leaf.starts_with("data."); });
    if (!of_text && one != a.facts.end() && other != b.facts.end() &&
        one->second != other->second) {
      const auto digest = [](double number) {
        return Value(fmt::format("{:012x}", static_cast<std::int64_t>(number)));
      };
      out.differences.push_back(
          {"the digest of train's tokens", digest(one->second), digest(other->second)});
    }
    close(0, "order");
  }
  std::size_t before = out.differences.size();
  if (!is_allowed(allowed_leaves, "clip"))
    add_leaf(listing, mine, theirs, "train.clip", allowed_leaves, out);
  close(before, "clip");
  before = out.differences.size();
  if (!is_allowed(allowed_leaves, "code") && !a.code.empty() && !b.code.empty()) {
    add_text_fact("the program", a.code, b.code, out);
  }
  close(before, "code");
  before = out.differences.size();
  if (!is_allowed(allowed_leaves, "audit") && !a.code.empty() && !b.code.empty()) {
    add_text_fact("the audit", audit_word(a), audit_word(b), out);
  }
  close(before, "audit");
  if (out) out.advice = fmt::format("--allow {} compares them all the same", fmt::join(words, ","));
  return out;
}

}  // namespace depthgrid
