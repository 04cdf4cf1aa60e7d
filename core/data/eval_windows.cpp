#include "core/data/eval_windows.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/data/random_words.hpp"

namespace depthgrid {
namespace {

void add(EvalWindows& windows, std::int64_t start, std::int64_t length, std::int64_t first) {
  windows.starts.push_back(start);
  windows.lengths.push_back(length);
  windows.first_counted.push_back(first);
}

}  // namespace

EvalWindows all_windows(std::int64_t tokens, std::int64_t seq_len,
                        std::optional<std::int64_t> stride) {
  const std::int64_t step = stride.value_or(seq_len);
  if (seq_len < 1 || step < 1 || step > seq_len) throw Error("eval: a stride lies in [1, T]");
  EvalWindows windows;
  windows.seq_len = seq_len;
  const std::int64_t targets = tokens - 1;
  // `done` targets are predicted; the next window counts up to `step` more (the first: all).
  for (std::int64_t done = 0; done < targets;) {
    const std::int64_t fresh = std::min(done == 0 ? seq_len : step, targets - done);
    const std::int64_t context = done == 0 || step == seq_len ? 0 : seq_len - fresh;
    add(windows, done - context, context + fresh, context);
    done += fresh;
  }
  return windows;
}

EvalWindows spaced_windows(const EvalWindows& all, std::int64_t n) {
  if (n < 1) throw Error("eval: one window at least");
  if (n >= all.size()) return all;
  EvalWindows some;
  some.seq_len = all.seq_len;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto w = static_cast<std::size_t>((2 * i + 1) * all.size() / (2 * n));
    add(some, all.starts[w], all.lengths[w], all.first_counted[w]);
  }
  return some;
}

EvalWindows random_windows(std::int64_t tokens, std::int64_t seq_len, std::uint64_t seed,
                           std::int64_t evaluation, std::int64_t n) {
  if (tokens <= seq_len) throw Error("eval: the stream has no full window");
  const RandomWords random(seed, "data/published_1/eval");
  EvalWindows windows;
  windows.seq_len = seq_len;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t start =
        random.below(static_cast<std::uint64_t>(tokens - seq_len), static_cast<std::uint32_t>(i), 0,
                     static_cast<std::uint32_t>(evaluation));
    add(windows, static_cast<std::int64_t>(start), seq_len, 0);
  }
  return windows;
}

}  // namespace depthgrid
