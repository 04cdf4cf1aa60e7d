#include "core/train/optimizer/cell_adam.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <ATen/Parallel.h>

#include "core/base/error.hpp"
#include "core/train/optimizer/adam_block.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kGroups = kParameterGroupCount;
constexpr double kClipEpsilon = 1e-6;
constexpr std::int64_t kGrain = 16;  // least blocks per thread: 32768 parameters

void expect_size(const char* name, std::size_t have, std::size_t want) {
  if (have != want) {
    throw ShapeError(std::string("Adam rates: ") + name + " has " + std::to_string(have) +
                     " entries, expected " + std::to_string(want));
  }
}

void expect_fit(const AdamArena& arena, const AdamRates& rates) {
  const auto cells = static_cast<std::size_t>(arena.cells);
  expect_size("lr", rates.lr.size(), cells * kGroups);
  expect_size("weight_decay", rates.weight_decay.size(), cells * kGroups);
  expect_size("beta1", rates.beta1.size(), cells);
  expect_size("beta2", rates.beta2.size(), cells);
  expect_size("eps", rates.eps.size(), cells);
  expect_size("clip", rates.clip.size(), cells);
  expect_size("active", rates.active.size(), cells);
  expect_size("step", rates.step.size(), cells);
  if (!rates.gradient_scale.empty()) {
    expect_size("gradient_scale", rates.gradient_scale.size(), cells);
  }
}

/// Runs `work(cell, block index)` for every block of every cell, on all threads, with denormals
/// flushed on each of them.
template <class Work>
void for_each_block(std::int64_t cells, std::int64_t blocks, const Work& work) {
  at::parallel_for(0, cells * blocks, kGrain, [&](std::int64_t begin, std::int64_t end) {
    const FlushDenormals flush;
    for (std::int64_t i = begin; i < end; ++i) {
      work(static_cast<std::size_t>(i / blocks), static_cast<std::size_t>(i % blocks));
    }
  });
}

/// Sum of one cell's partials over `order`: lane j takes entries j, j + 32, ...; then the lanes are
/// added pairwise. The GPU sums in the same order.
double sum_partials(const double* partials, std::span<const std::int32_t> order) {
  double lanes[kSumLanes] = {};
  for (std::size_t i = 0; i < order.size(); ++i) lanes[i % kSumLanes] += partials[order[i]];
  return add_lanes(lanes);
}

ParameterGroup group_at(std::size_t g) {
  return ParameterGroup{static_cast<std::uint8_t>(g)};
}

double scale_of(const AdamRates& rates, std::size_t e) {
  return rates.gradient_scale.empty() ? 1.0 : rates.gradient_scale[e];
}

double clip_factor(double clip, double norm) {
  return std::isinf(clip) ? 1.0 : std::min(1.0, clip / (norm + kClipEpsilon));
}

}  // namespace

CellAdam::CellAdam(SegmentTable table, AdamKind kind, ClipScope scope)
    : table_(std::move(table)), kind_(kind), scope_(scope) {}

GradientNorms CellAdam::gradient_norms(const AdamArena& arena, const AdamRates& rates) {
  expect_fit(arena, rates);
  const auto cells = static_cast<std::size_t>(arena.cells);
  const std::span<const Segment> blocks = table_.blocks();
  partials_.resize(cells * blocks.size());
  const AdamBlockKernels kernels = adam_block_kernels();
  for_each_block(
      arena.cells, static_cast<std::int64_t>(blocks.size()), [&](std::size_t e, std::size_t b) {
        const float* row = arena.gradients + static_cast<std::int64_t>(e) * table_.row_size();
        partials_[e * blocks.size() + b] =
            blocks[b].frozen ? 0.0
                             : kernels.sum_of_squares(row + blocks[b].offset, blocks[b].count);
      });

  GradientNorms norms;
  norms.norm.resize(cells);
  norms.norm_clipped.resize(cells);
  norms.factor.resize(cells);
  norms.nonfinite.resize(cells);
  norms.group_norm.resize(cells * kGroups);
  norms.group_norm_clipped.resize(cells * kGroups);
  norms.group_factor.resize(cells * kGroups);
  for (std::size_t e = 0; e < cells; ++e) {
    double sum = 0;
    for (std::size_t g = 0; g < kGroups; ++g) {
      const double squares =
          sum_partials(partials_.data() + e * blocks.size(), table_.blocks_of(group_at(g)));
      sum += squares;
      norms.group_norm[e * kGroups + g] = std::sqrt(squares) * scale_of(rates, e);
    }
    norms.nonfinite[e] = std::isfinite(sum) ? 0 : 1;
    norms.norm[e] = std::sqrt(sum) * scale_of(rates, e);
    norms.factor[e] = clip_factor(rates.clip[e], norms.norm[e]);
    double clipped = 0;
    double smallest = 1;
    for (std::size_t g = 0; g < kGroups; ++g) {
      const std::size_t at = e * kGroups + g;
      const double factor = scope_ == ClipScope::Global
                                ? norms.factor[e]
                                : clip_factor(rates.clip[e], norms.group_norm[at]);
      norms.group_factor[at] = factor;
      norms.group_norm_clipped[at] = factor * norms.group_norm[at];
      clipped += norms.group_norm_clipped[at] * norms.group_norm_clipped[at];
      smallest = std::min(smallest, factor);
    }
    if (scope_ == ClipScope::Group) norms.factor[e] = smallest;
    norms.norm_clipped[e] =
        scope_ == ClipScope::Global ? norms.factor[e] * norms.norm[e] : std::sqrt(clipped);
  }
  return norms;
}

UpdateNorms CellAdam::update(const AdamArena& arena, const AdamRates& rates,
                             const GradientNorms& norms) {
  expect_fit(arena, rates);
  const auto cells = static_cast<std::size_t>(arena.cells);
  const std::span<const Segment> blocks = table_.blocks();
  expect_size("norms", norms.group_factor.size(), cells * kGroups);

  std::vector<AdamBlockRates> table(cells * kGroups);
  for (std::size_t e = 0; e < cells; ++e) {
    if (rates.step[e] < 1) throw ShapeError("Adam rates: step below 1");
    for (std::size_t g = 0; g < kGroups; ++g) {
      const std::size_t at = e * kGroups + g;
      table[at] = adam_block_rates({.lr = rates.lr[at],
                                    .weight_decay = rates.weight_decay[at],
                                    .beta1 = rates.beta1[e],
                                    .beta2 = rates.beta2[e],
                                    .eps = rates.eps[e],
                                    .gradient_factor = scale_of(rates, e) * norms.group_factor[at],
                                    .step = rates.step[e],
                                    .decoupled = kind_ == AdamKind::AdamW});
    }
  }

  partials_.resize(cells * blocks.size());
  updates_.resize(cells * blocks.size());
  const AdamBlockKernels kernels = adam_block_kernels();
  for_each_block(
      arena.cells, static_cast<std::int64_t>(blocks.size()), [&](std::size_t e, std::size_t b) {
        const Segment& segment = blocks[b];
        const std::int64_t at = static_cast<std::int64_t>(e) * table_.row_size() + segment.offset;
        float* const gradients = arena.gradients + at;
        double& updated = updates_[e * blocks.size() + b];
        double& parameters = partials_[e * blocks.size() + b];
        if (rates.active[e] == 0 || norms.nonfinite[e] != 0 || segment.frozen) {
          updated = 0;
          parameters = kernels.sum_of_squares(arena.parameters + at, segment.count);
          std::fill_n(gradients, segment.count, 0.0F);
          return;
        }
        const AdamBlock block{.parameters = arena.parameters + at,
                              .first_moment = arena.first_moment + at,
                              .second_moment = arena.second_moment + at,
                              .gradients = gradients,
                              .shadow = arena.shadow == nullptr ? nullptr : arena.shadow + at,
                              .count = segment.count};
        const AdamBlockRates& r = table[e * kGroups + static_cast<std::size_t>(segment.group)];
        const BlockSums sums = kernels.update(block, segment.decays ? r : r.without_decay());
        updated = sums.update;
        parameters = sums.parameter;
      });

  UpdateNorms done{std::vector<double>(cells), std::vector<double>(cells)};
  for (std::size_t e = 0; e < cells; ++e) {
    const double* const row = partials_.data() + e * blocks.size();
    const double* const updated = updates_.data() + e * blocks.size();
    for (std::size_t g = 0; g < kGroups; ++g) {
      done.parameter_norm[e] += sum_partials(row, table_.blocks_of(group_at(g)));
      done.update_norm[e] += sum_partials(updated, table_.blocks_of(group_at(g)));
    }
    done.parameter_norm[e] = std::sqrt(done.parameter_norm[e]);
    done.update_norm[e] = std::sqrt(done.update_norm[e]);
  }
  return done;
}

}  // namespace depthgrid
