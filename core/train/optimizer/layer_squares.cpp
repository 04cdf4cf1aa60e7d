#include "core/train/optimizer/layer_squares.hpp"

#include <algorithm>
#include <cmath>

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include "core/base/nan.hpp"
#include "core/train/optimizer/block_sums.hpp"
#include "core/train/optimizer/segment_table.hpp"

namespace depthgrid {

LayerSquares::LayerSquares(const ParameterLayout& layout,
                           const std::array<bool, kParameterGroupCount>& frozen,
                           std::int64_t layers, const LayerOf& layer_of)
    : layers_(layers) {
  struct Run {
    std::int64_t offset, count;
  };
  std::vector<std::vector<Run>> runs;  // by part: in order of offset, none adjacent to the next
  for (const ParameterSlot& slot : layout.slots()) {
    const auto group = static_cast<std::size_t>(slot.spec.group);
    const std::optional<std::int64_t> layer = layer_of(slot.spec.name);
    if (!layer || frozen[group] || slot.spec.average) continue;
    const auto found = std::ranges::find_if(
        parts_, [&](const Part& p) { return p.layer == *layer && p.group == group; });
    const auto part = static_cast<std::size_t>(found - parts_.begin());
    if (found == parts_.end()) {
      parts_.push_back({*layer, group});
      runs.emplace_back();
    }
    std::vector<Run>& own = runs[part];
    if (!own.empty() && own.back().offset + own.back().count == slot.offset) {
      own.back().count += slot.count;
    } else {
      own.push_back({slot.offset, slot.count});
    }
  }
  for (const std::vector<Run>& own : runs) {
    part_begin_.push_back(static_cast<std::int32_t>(count_.size()));
    for (const Run& run : own) {
      for (std::int64_t done = 0; done < run.count; done += SegmentTable::kBlockSize) {
        offset_.push_back(run.offset + done);
        count_.push_back(
            static_cast<std::int32_t>(std::min(SegmentTable::kBlockSize, run.count - done)));
      }
    }
  }
  part_begin_.push_back(static_cast<std::int32_t>(count_.size()));
}

void LayerSquares::read(const at::Tensor& gradients, DeviceKernels* kernels) {
  squares_.resize(static_cast<std::size_t>(gradients.size(0)) * parts_.size());
  if (parts_.empty()) return;
  kernels == nullptr ? read_host(gradients) : read_device(gradients, *kernels);
}

void LayerSquares::read_host(const at::Tensor& gradients) {
  const float* const all = gradients.const_data_ptr<float>();
  const std::int64_t width = gradients.size(1);
  const auto parts = static_cast<std::int64_t>(parts_.size());
  at::parallel_for(0, gradients.size(0) * parts, 1, [&](std::int64_t begin, std::int64_t end) {
    const FlushDenormals flush;
    for (std::int64_t i = begin; i < end; ++i) {
      const float* const row = all + i / parts * width;
      const auto part = static_cast<std::size_t>(i % parts);
      double sum = 0;
      for (auto b = static_cast<std::size_t>(part_begin_[part]);
           b < static_cast<std::size_t>(part_begin_[part + 1]); ++b) {
        sum += sum_of_squares(row + offset_[b], count_[b]);
      }
      squares_[static_cast<std::size_t>(i)] = sum;
    }
  });
}

void LayerSquares::read_device(const at::Tensor& gradients, DeviceKernels& kernels) {
  const std::int64_t rows = gradients.size(0);
  if (!device_.sums.defined() || device_.sums.size(0) != rows) {
    const auto there = [&](const auto& host) {
      return at::tensor(at::ArrayRef(host)).to(gradients.device());
    };
    const auto doubles = gradients.options().dtype(at::kDouble);
    device_ = {there(offset_), there(count_), there(part_begin_),
               at::empty({rows, static_cast<std::int64_t>(count_.size())}, doubles),
               at::empty({rows, static_cast<std::int64_t>(parts_.size())}, doubles)};
  }
  kernels.squares({.x = gradients.const_data_ptr<float>(),
                   .rows = rows,
                   .row_size = gradients.size(1),
                   .blocks = static_cast<std::int32_t>(count_.size()),
                   .parts = static_cast<std::int32_t>(parts_.size()),
                   .offset = device_.offset.const_data_ptr<std::int64_t>(),
                   .count = device_.count.const_data_ptr<std::int32_t>(),
                   .part_begin = device_.part_begin.const_data_ptr<std::int32_t>(),
                   .sums = device_.sums.mutable_data_ptr<double>(),
                   .squares = device_.squares.mutable_data_ptr<double>()});
  const at::Tensor host = device_.squares.cpu();  // waits for the device
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
