#include "worker/eval/eval_plan.hpp"

#include <algorithm>

namespace depthgrid {
namespace {

std::array<bool, 4> splits_of(const CellConfig& c, const char* path) {
  const std::vector<std::string> names = c.words(path);
  std::array<bool, 4> out{};
  for (std::size_t s = 0; s < out.size(); ++s) {
    out[s] = std::ranges::find(names, kSplitNames[s]) != names.end();
  }
  return out;
}

/// Windows per forward pass: enough rows for the matrix products, logits of a cell within 64 MB.
/// Independent of the number of cells, so that a cell's figures do not depend on it either.
std::int64_t automatic_batch(const CellConfig& c) {
  const std::int64_t tokens = c.integer("data.seq_len");
  const double logits = 4.0 * static_cast<double>(c.integer("model.vocab_size") * tokens);
  const auto fitting = static_cast<std::int64_t>(64e6 / logits);
  const std::int64_t wanted = std::max<std::int64_t>(1, 4096 / tokens);
  return std::clamp<std::int64_t>(std::min(fitting, wanted), 1, 256);
}

}  // namespace

EvalPlan::EvalPlan(const CellConfig& c, const Dataset& data, std::int64_t cells)
    : data_(data),
      cells_(cells),
      seq_len_(c.integer("data.seq_len")),
      batch_size_(c.integer_if("eval.batch_size").value_or(automatic_batch(c))),
      every_(c.integer_if("eval.every")),
      at_start_(c.flag("eval.at_start")),
      by_position_(c.flag("eval.by_position")),
      published_(c.word("eval.protocol") == "published_1"),
      splits_(splits_of(c, "eval.splits")),
      final_splits_(splits_of(c, "eval.final_splits")),
      windows_(c.integer_if("eval.windows")),
      mode_windows_(c.integer_if("eval.mode_windows")),
      final_windows_(c.integer_if("eval.final_windows")),
      stride_(c.integer_if("eval.stride")) {}

bool EvalPlan::due(std::int64_t step, std::int64_t steps) const {
  if (std::ranges::none_of(splits_, [](bool wanted) { return wanted; })) return false;
  if (step == 0) return at_start_;
  return step == steps || (every_ && step % *every_ == 0);
}

std::optional<std::vector<EvalResult>> EvalPlan::over(LanguageModel& model,
                                                      const TokenStream& stream,
                                                      std::optional<std::int64_t> windows,
                                                      const std::function<bool()>& stop) const {
  if (stream.size() < 2) return std::vector<EvalResult>();
  std::vector<EvalResult> results =
      evaluate(model, cells_, stream, most(windows, stream), batch_size_, stop);
  if (results.empty()) return std::nullopt;
  return results;
}

std::vector<EvalResult> EvalPlan::on(LanguageModel& model, const TokenStream& stream,
                                     std::optional<std::int64_t> windows) const {
  return over(model, stream, windows, {}).value();
}

EvalWindows EvalPlan::most(std::optional<std::int64_t> windows, const TokenStream& stream) const {
  const EvalWindows all = all_windows(stream.size(), seq_len_, stride_);
  return windows ? spaced_windows(all, *windows) : all;
}

EvalWindows EvalPlan::windows(Split split, bool final) const {
  return most(final ? final_windows_ : windows_, data_.split(split));
}

EvalWindows EvalPlan::mode_windows(Split split, bool final) const {
  if (final || !mode_windows_) return windows(split, final);
  return most(windows_ ? std::min(*windows_, *mode_windows_) : *mode_windows_, data_.split(split));
}

std::optional<SplitResults> EvalPlan::over(LanguageModel& model, const std::array<bool, 4>& splits,
                                           std::optional<std::int64_t> windows,
                                           const std::function<bool()>& stop,
                                           const SplitDone& done) const {
  SplitResults out;
  for (std::size_t s = 0; s < splits.size(); ++s) {
    if (!splits[s]) continue;
    auto results = over(model, data_.streams[s], windows, stop);
    if (!results) return std::nullopt;
    out[s] = std::move(*results);
    if (done) done(static_cast<Split>(s), out[s]);
  }
  return out;
}

SplitResults EvalPlan::periodic(LanguageModel& model, const SplitDone& done) const {
  return over(model, splits_, windows_, {}, done).value();
}

std::optional<SplitResults> EvalPlan::final(LanguageModel& model, const std::function<bool()>& stop,
                                            const SplitDone& done) const {
  return over(model, final_splits_, final_windows_, stop, done);
}

std::optional<std::vector<double>> EvalPlan::published(LanguageModel& model,
                                                       std::int64_t index) const {
  if (!published_) return std::nullopt;
  const TokenStream& stream = data_.valid();
  const EvalWindows windows = random_windows(stream.size(), seq_len_, 0, index);
  std::vector<double> out;
  for (const EvalResult& r : evaluate(model, cells_, stream, windows, batch_size_)) {
    out.push_back(r.loss);
  }
  return out;
}

}  // namespace depthgrid
