#include "core/train/optimizer/arena_step.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <ATen/Parallel.h>

#include "core/base/error.hpp"
#include "core/train/optimizer/block_sums.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kGroups = kParameterGroupCount;
constexpr double kClipEpsilon = 1e-6;
constexpr std::int64_t kGrain = 16;  // least blocks per thread: 32768 parameters

void expect_size(const char* name, std::size_t have, std::size_t want) {
  if (have != want) {
    throw ShapeError(std::string("optimiser rates: ") + name + " has " + std::to_string(have) +
                     " entries, expected " + std::to_string(want));
  }
}

void expect_fit(const StepArena& arena, const StepRates& rates) {
  const auto cells = static_cast<std::size_t>(arena.cells);
  expect_size("lr", rates.lr.size(), cells * kGroups);
  expect_size("weight_decay", rates.weight_decay.size(), cells * kGroups);
  for (const auto& own : rates.own) expect_size("a scalar", own.size(), cells);
  expect_size("clip", rates.clip.size(), cells);
  expect_size("active", rates.active.size(), cells);
  expect_size("step", rates.step.size(), cells);
  expect_size("gradient_scale", rates.gradient_scale.size(), cells);
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

ParameterGroup group_at(std::size_t g) {
  return ParameterGroup{static_cast<std::uint8_t>(g)};
}

double clip_factor(double clip, double norm) {
  return std::isinf(clip) ? 1.0 : std::min(1.0, clip / (norm + kClipEpsilon));
}

}  // namespace

ArenaStep::ArenaStep(SegmentTable table, std::unique_ptr<UpdateRule> rule, ClipScope scope)
    : table_(std::move(table)), rule_(std::move(rule)), scope_(scope) {}

GradientNorms ArenaStep::gradient_norms(const StepArena& arena, const StepRates& rates) {
  expect_fit(arena, rates);
  const auto cells = static_cast<std::size_t>(arena.cells);
  const std::span<const Segment> blocks = table_.blocks();
  partials_.resize(cells * blocks.size());
  for_each_block(
      arena.cells, static_cast<std::int64_t>(blocks.size()), [&](std::size_t e, std::size_t b) {
        const float* row = arena.gradients + static_cast<std::int64_t>(e) * table_.row_size();
        partials_[e * blocks.size() + b] =
            blocks[b].frozen ? 0.0 : sum_of_squares(row + blocks[b].offset, blocks[b].count);
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
    double together = 0;
    for (std::size_t g = 0; g < kGroups; ++g) {
      const double squares =
          sum_of_partials(partials_.data() + e * blocks.size(), table_.blocks_of(group_at(g)));
      sum += squares;
      if (!scope_.by_itself(g)) together += squares;
      norms.group_norm[e * kGroups + g] = std::sqrt(squares) * rates.gradient_scale[e];
    }
    norms.nonfinite[e] = std::isfinite(sum) ? 0 : 1;
    norms.norm[e] = std::sqrt(sum) * rates.gradient_scale[e];
    const double shared = clip_factor(rates.clip[e], std::sqrt(together) * rates.gradient_scale[e]);
    double clipped = 0;
    double smallest = 1;
    for (std::size_t g = 0; g < kGroups; ++g) {
      const std::size_t at = e * kGroups + g;
      const double factor =
          scope_.by_itself(g) ? clip_factor(rates.clip[e], norms.group_norm[at]) : shared;
      norms.group_factor[at] = factor;
      norms.group_norm_clipped[at] = factor * norms.group_norm[at];
      clipped += norms.group_norm_clipped[at] * norms.group_norm_clipped[at];
      smallest = std::min(smallest, factor);
    }
    norms.factor[e] = smallest;
    norms.norm_clipped[e] = scope_.alone == 0 ? shared * norms.norm[e] : std::sqrt(clipped);
  }
  return norms;
}

UpdateNorms ArenaStep::update(const StepArena& arena, const StepRates& rates,
                              const GradientNorms& norms) {
  expect_fit(arena, rates);
  const auto cells = static_cast<std::size_t>(arena.cells);
  const std::span<const Segment> blocks = table_.blocks();
  expect_size("norms", norms.group_factor.size(), cells * kGroups);

  std::vector<GroupScalars> scalars(cells * kGroups);
  for (std::size_t e = 0; e < cells; ++e) {
    if (rates.step[e] < 1) throw ShapeError("optimiser rates: step below 1");
    for (std::size_t g = 0; g < kGroups; ++g) {
      const std::size_t at = e * kGroups + g;
      scalars[at] = {.lr = rates.lr[at],
                     .weight_decay = rates.weight_decay[at],
                     .gradient_factor = rates.gradient_scale[e] * norms.group_factor[at],
                     .step = rates.step[e],
                     .own = {}};
      for (std::size_t k = 0; k < rates.own.size(); ++k) scalars[at].own[k] = rates.own[k][e];
    }
  }
  rule_->prepare(scalars);

  const std::int64_t columns = arena.own_columns(table_.row_size());
  partials_.resize(cells * blocks.size());
  updates_.resize(cells * blocks.size());
  for_each_block(
      arena.cells, static_cast<std::int64_t>(blocks.size()), [&](std::size_t e, std::size_t b) {
        const Segment& segment = blocks[b];
        const std::int64_t at = static_cast<std::int64_t>(e) * table_.row_size() + segment.offset;
        float* const gradients = arena.gradients + at;
        double& updated = updates_[e * blocks.size() + b];
        double& parameters = partials_[e * blocks.size() + b];
        if (segment.offset < arena.own_begin || segment.offset >= arena.own_end) {
          updated = parameters = 0;
          std::fill_n(gradients, segment.count, 0.0F);
          return;
        }
        if (rates.active[e] == 0 || norms.nonfinite[e] != 0 || segment.frozen) {
          updated = 0;
          parameters = sum_of_squares(arena.parameters + at, segment.count);
          std::fill_n(gradients, segment.count, 0.0F);
          return;
        }
        ParameterBlock block{.parameters = arena.parameters + at,
                             .moments = {},
                             .gradients = gradients,
                             .shadow = arena.shadow == nullptr ? nullptr : arena.shadow + at,
                             .count = segment.count};
        for (std::size_t m = 0; m < kMaxMoments && arena.moments[m] != nullptr; ++m) {
          block.moments[m] = arena.moments[m] + static_cast<std::int64_t>(e) * columns +
                             segment.offset - arena.own_begin;
        }
        const BlockSums sums =
            rule_->update(block, e * kGroups + static_cast<std::size_t>(segment.group));
        updated = sums.update;
        parameters = sums.parameter;
      });

  UpdateNorms done{std::vector<double>(cells), std::vector<double>(cells)};
  for (std::size_t e = 0; e < cells; ++e) {
    const double* const row = partials_.data() + e * blocks.size();
    const double* const updated = updates_.data() + e * blocks.size();
    for (std::size_t g = 0; g < kGroups; ++g) {
      done.parameter_norm[e] += sum_of_partials(row, table_.blocks_of(group_at(g)));
      done.update_norm[e] += sum_of_partials(updated, table_.blocks_of(group_at(g)));
    }
    done.parameter_norm[e] = std::sqrt(done.parameter_norm[e]);
    done.update_norm[e] = std::sqrt(done.update_norm[e]);
  }
  return done;
}

}  // namespace depthgrid
