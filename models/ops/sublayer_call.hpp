#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include "models/ops/sublayer.hpp"

namespace depthgrid {

// Shared by the graph nodes of whole sublayers and blocks: from tensors of E cells to the kernels'
// pointers for one cell.

/// Gradients of a cell's weights are summed in this many parts, which may run in parallel and are
/// added in order: the same bits for every number of threads.
constexpr std::int64_t kHalves = 2;

/// A sublayer's graph inputs, in this order: scale, shift, then weight, gate and bias of both maps;
/// undefined if absent.
constexpr std::size_t kSublayerInputs = 8;
using SublayerInputs = std::array<at::Tensor, kSublayerInputs>;
SublayerInputs inputs_of(const SublayerTensors& t);
/// The reverse. @param inputs  kSublayerInputs tensors.
SublayerTensors tensors_of(NormRow::Form form, const at::Tensor& eps, const at::Tensor* inputs);

enum class Pass : std::uint8_t { Forward, Backward };

/// A sublayer's weights as the kernels need them: dense, gated, transposed for the forward pass.
class PreparedSublayer {
 public:
  PreparedSublayer(Pass pass, const SublayerTensors& w);

  const SublayerTensors& tensors() const noexcept { return tensors_; }
  std::int64_t inner() const { return tensors_.first.weight.size(1); }
  SublayerWeights weights(std::int64_t cell) const;

 private:
  SublayerTensors tensors_;
  at::Tensor first_, second_, zeros_;
};

/// Iterates over the rows of (E, B, T, C) in runs within each half of a cell.
struct RowRuns {
  std::int64_t cells, rows, run;  // E, B T, rows per run

  RowRuns(const at::Tensor& x, std::int64_t rows_of_run)
      : cells(x.size(0)), rows(x.size(1) * x.size(2)), run(rows_of_run) {}

  std::int64_t count() const { return (rows + run - 1) / run; }
  std::int64_t longest() const { return std::min(run, rows); }
  /// With a single run, the second half is empty.
  std::int64_t halves() const { return std::min(count(), kHalves); }

  struct Run {
    std::int64_t cell, task, index;  // task: cell and half; index: of the run within the task
    std::int64_t row, rows;          // first row among all cells' rows
    float* workspace;
  };

  /// Calls work(Run) for every run; those of a task in order, with one workspace.
  template <class Work>
  void for_each(std::int64_t workspace, const Work& work) const {
    const std::int64_t runs = count();
    at::parallel_for(0, cells * kHalves, 1, [&](std::int64_t begin, std::int64_t end) {
      const at::Tensor space = at::empty({workspace}, at::kFloat);
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t e = task / kHalves, half = task % kHalves;
        const std::int64_t from = (runs * half + 1) / kHalves;
        const std::int64_t to = (runs * (half + 1) + 1) / kHalves;
        for (std::int64_t r = from; r < to; ++r) {
          work(Run{e, task, r - from, e * rows + r * run, std::min(run, rows - r * run),
                   space.mutable_data_ptr<float>()});
        }
      }
    });
  }
};

/// Gradients of a sublayer's weights: separate for each task, summed at the end.
class SublayerGradients {
 public:
  /// @param t  must outlive this.
  SublayerGradients(const SublayerTensors& t, const RowRuns& runs);

  SublayerSums of(const RowRuns::Run& run) const;

  /// In the order of `inputs_of`; undefined if the input is.
  SublayerInputs result() const;

 private:
  std::int64_t size(std::size_t i) const;
  void through_gate(float* from, std::int64_t cell, std::size_t weight) const;

  std::int64_t halves_;
  SublayerInputs inputs_;
  std::array<std::int64_t, kSublayerInputs> begin_{};
  at::Tensor all_;
};

/// What a sublayer saves for the backward pass, rows of all cells stacked.
struct KeptRows {
  at::Tensor x, inner, mixed, normaliser, statistics;

  /// @param heads  of attention, else 0
  KeptRows(const at::Tensor& x, std::int64_t inner, std::int64_t heads);
  /// From the result of `list`.
  explicit KeptRows(const std::vector<at::Tensor>& saved, std::size_t from);
  static constexpr std::size_t kTensors = 5;

  std::vector<at::Tensor> list() const { return {x, inner, mixed, normaliser, statistics}; }
  SublayerRows rows(const RowRuns::Run& run, std::int64_t heads) const;
};

/// What the attention kernel needs to know of the heads of a run.
HeadOptions heads_of(std::int64_t heads, std::int64_t tokens, const RotaryTables& rotary,
                     const RowRuns::Run& run);

/// Rows per run: whole sequences of T tokens, together at least 64 rows if B T has as many.
std::int64_t rows_of_run(std::int64_t tokens);

/// Data of cell `cell` in `v`; null if `v` is undefined.
const float* cell_data(const at::Tensor& v, std::int64_t cell);

}  // namespace depthgrid
