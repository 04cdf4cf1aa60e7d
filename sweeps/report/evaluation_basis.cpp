#include "sweeps/report/evaluation_basis.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/config/axis_labels.hpp"
#include "sweeps/report/bits_per_byte.hpp"
#include "sweeps/report/evaluation_leaves.hpp"
#include "sweeps/report/evaluation_windows.hpp"

namespace depthgrid {
namespace {

/// Which evaluation gives a metric; the first row whose stem fits counts.
struct MetricRow {
  std::string_view stem;
  unsigned bits;
};
constexpr std::array kMetricRows = {
    MetricRow{"train_loss", seen::kTraining},
    MetricRow{"eval_loss_published", seen::kHowOften},  // its 80 windows are drawn anew each time
    MetricRow{"eval_loss_mode.", seen::kModes},
    MetricRow{"eval_executed_share.", seen::kModes},
    MetricRow{"eval_mismatch_gap", seen::kModes},
    MetricRow{"eval_", seen::kPeriodic},
    MetricRow{"best_",
              seen::kPeriodic | seen::kHowOften},  // of more evaluations, the lowest is lower
    MetricRow{"final_", seen::kFinal},
};

std::optional<double> number_in(const std::map<std::string, double>& numbers,
                                const std::string& name) {
  const auto at = numbers.find(name);
  return at == numbers.end() ? std::nullopt : std::optional(at->second);
}

/// A digest as it is written elsewhere: twelve hexadecimal digits.
Value digest_value(double digest) {
  return Value(fmt::format("{:012x}", static_cast<std::int64_t>(digest)));
}

}  // namespace

std::string BasisMismatch::text_and_advice(std::string_view place) const {
  return text(place) + (advice.empty() ? "" : "; " + advice);
}

std::string BasisMismatch::text(std::string_view place) const {
  constexpr std::size_t kMost = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(kMost, differences.size()); ++i) {
    const auto& [name, mine, theirs] = differences[i];
    out += fmt::format("{}{} is {}, {} {}", i > 0 ? "; " : "", name, plain_text(mine), place,
                       plain_text(theirs));
  }
  if (differences.size() > kMost) out += fmt::format("; and {} more", differences.size() - kMost);
  return out;
}

EvaluationBasis::EvaluationBasis(const Listing& listing, std::string_view metric)
    : listing_(listing), per_byte_(is_per_byte(metric)) {
  const auto fits = [metric](const MetricRow& row) { return metric.starts_with(row.stem); };
  const auto* const row = std::ranges::find_if(kMetricRows, fits);
  if (row == kMetricRows.end()) return;
  bits_ = row->bits;
  drawn_anew_ = metric.starts_with("eval_loss_published");
  const std::string label(metric.substr(std::min(metric.find('.') + 1, metric.size())));
  const bool of_split = label_index(kSplitNames, label) < kSplitNames.size();
  split_ = of_split ? label : bits_ == seen::kTraining ? "train" : "valid";
  digest_ = "split_digest." + split_;
  bytes_ = "split_bytes." + split_;
  if (!of_split && metric.find('.') != metric.npos) noncausal_ = "eval_mode_noncausal." + label;
  if ((bits_ & (seen::kFinal | seen::kPeriodic | seen::kModes)) != 0) {
    counted_ = ((bits_ & seen::kFinal) != 0 ? "final_tokens." : "eval_tokens.") + split_;
  }
}

/// False only where both cells have the fact, and it differs.
bool EvaluationBasis::same_facts(std::size_t mine, std::size_t theirs,
                                 const std::string& fact) const {
  const auto one = number_in(listing_.cells[mine].facts, fact);
  const auto other = number_in(listing_.cells[theirs].facts, fact);
  return !one || !other || *one == *other;
}

/// Whether a cell trains on tokens that are chosen among all of the sequence, later ones included.
bool EvaluationBasis::looks_ahead(std::size_t row) const {
  return number_in(listing_.cells[row].facts, "eval_mode_noncausal.teacher_topk").value_or(0) > 0;
}

/// Leaves with any of these bits, of both cells, whose values differ.
/// @param tokens  whether those count that make tokens of a text.
void EvaluationBasis::add_leaves(std::size_t mine, std::size_t theirs, unsigned bits, bool tokens,
                                 BasisMismatch& out) const {
  const EvaluationLeaves& leaves = listing_.leaves;
  if (leaves.same(mine, theirs)) return;
  std::set<std::string> paths;
  for (const std::size_t row : {mine, theirs}) {
    for (const auto& [path, value] : leaves.sets.at(leaves.of_cell[row])) paths.insert(path);
  }
  for (const std::string& path : paths) {
    if ((seen_by(path) & bits) == 0 || (!tokens && makes_tokens(path))) continue;
    const Value* const one = leaves.find(mine, path);
    const Value* const other = leaves.find(theirs, path);
    const bool unknown = (one == nullptr && listing_.of_table(mine)) ||
                         (other == nullptr && listing_.of_table(theirs));
    if (unknown) continue;
    const Value unread("not read");
    const Value& a = one == nullptr ? unread : *one;
    const Value& b = other == nullptr ? unread : *other;
    if (a != b) out.differences.push_back({path, a, b});
  }
  // What one cell does not read follows from something that both do.
  const auto by_both = [&](const BasisDifference& one) {
    return leaves.find(mine, one.name) != nullptr && leaves.find(theirs, one.name) != nullptr;
  };
  if (std::ranges::none_of(out.differences, by_both)) return;
  std::erase_if(out.differences, [&](const BasisDifference& one) { return !by_both(one); });
}

/// Whether both evaluations are known to have had as many predictions.
bool EvaluationBasis::counted_alike(std::size_t mine, std::size_t theirs) const {
  const auto one = number_in(listing_.cells[mine].metrics, counted_);
  const auto other = number_in(listing_.cells[theirs].metrics, counted_);
  return one && other && *one == *other;
}

/// Numbers of windows are compared by what was seen: of a split with fewer, any more are the same.
void EvaluationBasis::add_windows(std::size_t mine, std::size_t theirs, BasisMismatch& out) const {
  BasisMismatch leaves;
  add_leaves(mine, theirs, bits_, true, leaves);
  const WindowsOf which = (bits_ & seen::kFinal) != 0   ? WindowsOf::Final
                          : (bits_ & seen::kModes) != 0 ? WindowsOf::Modes
                                                        : WindowsOf::Periodic;
  for (BasisDifference& one : leaves.differences) {
    const double ours = windows_seen(listing_, mine, which, counted_);
    const double others = windows_seen(listing_, theirs, which, counted_);
    // As many tokens as in the whole split are the whole split.
    const bool whole = (ours == 0 || others == 0) && counted_alike(mine, theirs);
    const bool as_many = one.name.ends_with("windows") && (ours == others || whole);
    if (!as_many) out.differences.push_back(std::move(one));
  }
  if (drawn_anew_ && listing_.cells[mine].step != listing_.cells[theirs].step) {
    out.differences.push_back(
        {"step", Value(listing_.cells[mine].step), Value(listing_.cells[theirs].step)});
  }
  if ((bits_ & seen::kTraining) != 0 && looks_ahead(mine) != looks_ahead(theirs)) {
    const auto word = [this](std::size_t row) {
      return Value(looks_ahead(row) ? "of tokens chosen over the whole sequence" : "causal");
    };
    out.differences.push_back({"the training pass", word(mine), word(theirs)});
  }
  if (!noncausal_.empty() && !same_facts(mine, theirs, noncausal_)) {
    out.differences.push_back({noncausal_, Value(listing_.cells[mine].facts.at(noncausal_)),
                               Value(listing_.cells[theirs].facts.at(noncausal_))});
  }
}

/// The text and its tokens. Bits per byte may be of other tokens of the same text, if all of it was
/// evaluated: parts of a split are other parts for longer tokens.
/// @return whether the tokens are others, and that is no mismatch.
bool EvaluationBasis::add_text(std::size_t mine, std::size_t theirs, BasisMismatch& out) const {
  const auto& facts = listing_.cells[mine].facts;
  const auto& other = listing_.cells[theirs].facts;
  const bool recorded = facts.contains(digest_) && other.contains(digest_);
  if (recorded && same_facts(mine, theirs, digest_)) return false;  // whatever made these tokens
  const auto at = label_index(kSplitNames, split_);
  unsigned text = (1U << at) & seen::kTexts;
  // The vocabulary is that of the training text: what changes it changes all tokens.
  const auto of_training = [&](std::size_t row) {
    const Value* word = listing_.leaves.find(row, "data.tokenizer");
    return word != nullptr && (plain_text(*word) == "char" || plain_text(*word) == "word");
  };
  if (!recorded && (of_training(mine) || of_training(theirs))) text |= seen::kTrainText;
  BasisMismatch all, of_text;
  add_leaves(mine, theirs, text, true, all);
  if (recorded && all.differences.empty()) {
    all.differences.push_back({"the digest of " + split_ + "'s tokens",
                               digest_value(facts.at(digest_)), digest_value(other.at(digest_))});
  }
  if (all.differences.empty()) return false;
  add_leaves(mine, theirs, text, false, of_text);
  const bool only_tokens = of_text.differences.empty() && same_facts(mine, theirs, bytes_) &&
                           std::ranges::any_of(all.differences, [](const BasisDifference& one) {
                             return makes_tokens(one.name);
                           });
  if (only_tokens && per_byte_) {
    const WindowsOf which = (bits_ & seen::kFinal) != 0 ? WindowsOf::Final : WindowsOf::Periodic;
    const bool whole = windows_seen(listing_, mine, which, counted_) == 0 &&
                       windows_seen(listing_, theirs, which, counted_) == 0;
    if (whole) return true;
    out.advice = fmt::format(
        "some windows of a split are other parts of it for other tokens: compare the whole split, "
        "{}: null",
        which == WindowsOf::Final ? "eval.final_windows" : "eval.windows");
  } else if (only_tokens) {
    const std::string bits = "final_bits_per_byte." + split_;
    const bool both = listing_.cells[mine].metrics.contains(bits) &&
                      listing_.cells[theirs].metrics.contains(bits);
    out.advice = "a token is not the same amount of text: ";
    out.advice += both
                      ? "compare " + bits
                      : "bits per byte of a held-out split, of tokens that keep every byte, can be "
                        "compared; not both of these cells have them";
  }
  std::ranges::move(all.differences, std::back_inserter(out.differences));
  return false;
}

std::optional<std::pair<std::size_t, BasisMismatch>> EvaluationBasis::mismatch_among(
    const std::vector<std::size_t>& rows) const {
  std::vector<std::size_t> with;  // the first, and the first that says what its tokens are
  for (const std::size_t row : rows) {
    for (const std::size_t other : with) {
      if (BasisMismatch found = mismatch(row, other)) return std::pair(other, std::move(found));
    }
    const bool recorded = listing_.cells[row].facts.contains(digest_);
    if (with.empty() ||
        (with.size() == 1 && recorded && !listing_.cells[with.front()].facts.contains(digest_))) {
      with.push_back(row);
    }
  }
  return std::nullopt;
}

BasisMismatch EvaluationBasis::mismatch(std::size_t mine, std::size_t theirs) const {
  BasisMismatch out;
  if (bits_ == 0 || mine == theirs) return out;
  const bool other_tokens = add_text(mine, theirs, out);
  add_windows(mine, theirs, out);
  const bool counted = (bits_ & (seen::kFinal | seen::kPeriodic)) != 0;  // of modes, nothing is
  if (out || !counted || other_tokens) return out;
  const auto one = number_in(listing_.cells[mine].metrics, counted_);
  const auto other = number_in(listing_.cells[theirs].metrics, counted_);
  if (one && other && *one != *other)
    out.differences.push_back({counted_, Value(*one), Value(*other)});
  return out;
}

std::string EvaluationBasis::key() const {
  return fmt::format("{} {} {} {} {} {}", bits_, per_byte_, drawn_anew_, split_, counted_,
                     noncausal_);
}

std::vector<MixedMetrics> mixed_metrics(const Listing& listing,
                                        const std::vector<std::size_t>& cells,
                                        const std::vector<std::string>& names) {
  std::map<std::string, std::vector<std::string>> alike;  // by key
  std::vector<std::string> keys;                          // in the order of the names
  for (const std::string& name : names) {
    const std::string key = EvaluationBasis(listing, name).key();
    if (alike[key].empty()) keys.push_back(key);
    alike[key].push_back(name);
  }
  std::vector<MixedMetrics> out;
  for (const std::string& key : keys) {
    const std::vector<std::string>& metrics = alike[key];
    std::vector<std::size_t> rows;
    for (const std::size_t row : cells) {
      const auto has = [&](const std::string& name) {
        return listing.cells[row].metrics.contains(name);
      };
      if (std::ranges::any_of(metrics, has)) rows.push_back(row);
    }
    auto found = EvaluationBasis(listing, metrics.front()).mismatch_among(rows);
    if (!found) continue;
    BasisDifference& first = found->second.differences.front();
    const auto same = [&first](const MixedMetrics& one) {
      const BasisDifference& d = one.difference;
      return d.name == first.name && d.mine == first.mine && d.theirs == first.theirs;
    };
    const auto known = std::ranges::find_if(out, same);
    if (known == out.end()) {
      out.push_back({metrics, std::move(first)});
    } else {
      known->metrics.insert(known->metrics.end(), metrics.begin(), metrics.end());
    }
  }
  return out;
}

std::string evaluations_note(const Listing& listing, const std::vector<std::size_t>& cells,
                             const std::vector<std::string>& names) {
  std::string out;
  for (const auto& [metrics, difference] : mixed_metrics(listing, cells, names)) {
    out +=
        fmt::format("cells are not of one evaluation, so do not compare their {}: {} is {} or {}\n",
                    fmt::join(metrics, ", "), difference.name, plain_text(difference.theirs),
                    plain_text(difference.mine));
  }
  return out;
}

}  // namespace depthgrid
