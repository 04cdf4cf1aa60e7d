#include "core/train/steering_batches.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"
#include "core/data/random_words.hpp"

namespace depthgrid {
namespace {

/// The numbers of n prompts in the order of one epoch.
std::vector<std::size_t> prompts_of_epoch(std::size_t n, std::uint64_t seed, std::int64_t epoch) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const RandomWords random(seed, "steering/epoch");
  for (std::size_t left = n; left > 1; --left) {
    const std::uint64_t drawn =
        random.below(left, 0, static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(epoch));
    std::swap(order[left - 1], order[drawn]);
  }
  return order;
}

template <class Number>
bool all_alike(const std::vector<Number>& numbers) {
  return std::ranges::all_of(numbers, [&](Number n) { return n == numbers.front(); });
}

}  // namespace

SteeringBatches::SteeringBatches(std::vector<SteeringTokens> prompts, std::int64_t axes,
                                 std::int64_t batch, std::vector<std::uint64_t> seeds,
                                 std::vector<std::int64_t> first_steps)
    : prompts_(std::move(prompts)),
      axes_(axes),
      batch_(batch),
      seeds_(std::move(seeds)),
      first_steps_(std::move(first_steps)),
      longest_(longest_prompt(prompts_)) {
  if (prompts_.empty()) throw Error("steering: no prompts to train on");
  if (batch < 2 || batch % 2 != 0) {
    throw Error(fmt::format("steering: a batch of {} rows holds no pairs of both signs", batch));
  }
  for (const SteeringTokens& one : prompts_) {
    if (one.heldout) throw Error("steering: a prompt that is held out is not trained on");
    if (std::cmp_greater_equal(one.axis, axes)) {
      throw Error(fmt::format("steering: a prompt of axis {} of {}", one.axis, axes));
    }
    largest_set_ = std::max({largest_set_, std::ssize(one.positive), std::ssize(one.negative)});
  }
  first_steps_.resize(seeds_.size(), 0);
  shared_ = all_alike(seeds_) && all_alike(first_steps_);
}

Batch SteeringBatches::of_cell(std::size_t cell, std::int64_t step, std::int64_t first_row,
                               std::int64_t rows) const {
  const auto whole = at::TensorOptions().dtype(at::kLong);
  Batch out{.windows = at::zeros({rows, longest_ + 1}, whole)};
  out.control.u = at::zeros({rows, 1, axes_});
  out.answers = {at::zeros({rows}, whole), at::full({rows, largest_set_}, -1, whole)};
  auto* window = out.windows.data_ptr<std::int64_t>();
  auto* u = out.control.u.data_ptr<float>();
  auto* place = out.answers.place.data_ptr<std::int64_t>();
  auto* wanted = out.answers.wanted.data_ptr<std::int64_t>();
  const std::int64_t n = std::ssize(prompts_);
  const std::int64_t before = (first_steps_[cell] + step - 1) * (batch_ / 2);
  std::int64_t epoch = -1;
  std::vector<std::size_t> order;
  for (std::int64_t row = first_row; row < first_row + rows; ++row) {
    const std::int64_t drawn = before + row / 2;  // prompts before this one
    if (drawn / n != epoch) {
      epoch = drawn / n;
      order = prompts_of_epoch(prompts_.size(), seeds_[cell], epoch);
    }
    const SteeringTokens& one = prompts_[order[static_cast<std::size_t>(drawn % n)]];
    const bool plus = row % 2 == 0;
    std::ranges::copy(one.prompt, window);
    std::ranges::copy(plus ? one.positive : one.negative, wanted);
    u[one.axis] = plus ? 1.0F : -1.0F;
    *place++ = std::ssize(one.prompt) - 1;
    window += longest_ + 1;
    u += axes_;
    wanted += largest_set_;
  }
  return out;
}

Batch SteeringBatches::batch(std::int64_t step, std::int64_t first_row, std::int64_t rows) const {
  if (step < 1 || first_row < 0 || rows < 0 || rows > batch_ - first_row) {
    throw Error(fmt::format("steering: rows [{}, {}) of step {} are not in a batch of {}",
                            first_row, first_row + rows, step, batch_));
  }
  const std::size_t own = shared_ ? 1 : seeds_.size();
  std::vector<Batch> each;
  for (std::size_t e = 0; e < own; ++e) each.push_back(of_cell(e, step, first_row, rows));
  const auto all = [&](const auto& of) {
    if (shared_) {
      const at::Tensor one = of(each.front()).unsqueeze(0);
      std::vector<std::int64_t> sizes = one.sizes().vec();
      sizes[0] = std::ssize(seeds_);
      return one.expand(sizes);
    }
    std::vector<at::Tensor> cells;
    for (const Batch& cell : each) cells.push_back(of(cell));
    return at::stack(cells);
  };
  return {.windows = all([](const Batch& b) { return b.windows; }),
          .step = step,
          .first_row = first_row,
          .control = {all([](const Batch& b) { return b.control.u; })},
          .answers = {all([](const Batch& b) { return b.answers.place; }),
                      all([](const Batch& b) { return b.answers.wanted; })}};
}

}  // namespace depthgrid
