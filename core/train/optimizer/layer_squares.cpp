#include "core/train/optimizer/layer_squares.hpp"

#include <algorithm>
#include <cmath>

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>

#include "core/base/nan.hpp"
#include "core/train/optimizer/block_sums.hpp"
#include "core/train/optimizer/segment_table.hpp"

namespace depthgrid {

LayerSquares::LayerSquares(const ParameterLayout& layout,
                           const std::array<bool, kParameterGroupCount>& frozen,
                           std::int64_t layers, const LayerOf& layer_of)
    : layers_(layers) {
  for (const ParameterSlot& slot : layout.slots()) {
    const auto group = static_cast<std::size_t>(slot.spec.group);
    const std::optional<std::int64_t> layer = layer_of(slot.spec.name);
    if (!layer || frozen[group] || slot.spec.average) continue;
    auto part = std::ranges::find_if(
        parts_, [&](const Part& p) { return p.layer == *layer && p.group == group; });
    if (part == parts_.end()) part = parts_.insert(part, {*layer, group, {}});
    std::vector<Run>& runs = part->runs;
    if (!runs.empty() && runs.back().offset + runs.back().count == slot.offset) {
      runs.back().count += slot.count;
    } else {
      runs.push_back({slot.offset, slot.count});
    }
  }
}

void LayerSquares::read(const at::Tensor& gradients) {
  squares_.resize(static_cast<std::size_t>(gradients.size(0)) * parts_.size());
  if (parts_.empty()) return;
  gradients.device().is_cpu() ? read_host(gradients) : read_device(gradients);
}

void LayerSquares::read_host(const at::Tensor& gradients) {
  const float* const all = gradients.const_data_ptr<float>();
  const std::int64_t width = gradients.size(1);
  const auto parts = static_cast<std::int64_t>(parts_.size());
  at::parallel_for(0, gradients.size(0) * parts, 1, [&](std::int64_t begin, std::int64_t end) {
    const FlushDenormals flush;
    for (std::int64_t i = begin; i < end; ++i) {
      const float* const row = all + i / parts * width;
      double sum = 0;
      for (const Run& run : parts_[static_cast<std::size_t>(i % parts)].runs) {
        for (std::int64_t done = 0; done < run.count; done += SegmentTable::kBlockSize) {
          sum += sum_of_squares(row + run.offset + done,
                                std::min(SegmentTable::kBlockSize, run.count - done));
        }
      }
      squares_[static_cast<std::size_t>(i)] = sum;
    }
  });
}

void LayerSquares::read_device(const at::Tensor& gradients) {
  std::vector<at::Tensor> norms;  // all first: the transfer waits for the device
  for (std::int64_t e = 0; e < gradients.size(0); ++e) {
    for (const Part& part : parts_) {
      at::Tensor sum;
      for (const Run& run : part.runs) {
        const at::Tensor norm = at::linalg_vector_norm(
            gradients.select(0, e).narrow(0, run.offset, run.count), 2, {}, false, at::kDouble);
        sum = sum.defined() ? sum + norm.square() : norm.square();
      }
      norms.push_back(sum);
    }
  }
  const at::Tensor host = at::stack(norms).cpu();
  std::copy_n(host.const_data_ptr<double>(), squares_.size(), squares_.begin());
}

LayerNorms LayerSquares::norms(const GradientNorms& clip, const std::vector<double>& scale) const {
  const std::size_t cells = scale.size(), layers = static_cast<std::size_t>(layers_);
  std::vector<double> before(cells * layers, 0), after(cells * layers, 0);
  std::vector<bool> trained(layers, false);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto layer = static_cast<std::size_t>(parts_[i].layer);
    trained[layer] = true;
    for (std::size_t e = 0; e < cells; ++e) {
      const double squares = squares_[e * parts_.size() + i];
      const double factor = clip.group_factor[e * kParameterGroupCount + parts_[i].group];
      before[e * layers + layer] += squares;
      after[e * layers + layer] += squares * factor * factor;
    }
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double unit = 1 / scale[i / layers];
    before[i] = trained[i % layers] ? unit * std::sqrt(before[i]) : kNaN;
    after[i] = trained[i % layers] ? unit * std::sqrt(after[i]) : kNaN;
  }
  return {before, after};
}

}  // namespace depthgrid
