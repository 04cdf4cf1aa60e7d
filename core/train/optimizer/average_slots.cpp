#include "core/train/optimizer/average_slots.hpp"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/where.h>

#include "core/cells/queued_tensor.hpp"

namespace depthgrid {
namespace {

constexpr double kLeastWeight = 0.01;

/// (E, n): a slot's entries in every cell.
at::Tensor entries(const at::Tensor& arena, const ParameterSlot& slot) {
  return arena.narrow(1, slot.offset, slot.count);
}

}  // namespace

AverageSlots::AverageSlots(Arena& arena) : arena_(arena) {
  for (const ParameterSlot& slot : arena.layout().slots()) {
    if (slot.spec.average) slots_.push_back(slot);
  }
}

std::vector<at::Tensor> AverageSlots::seen() const {
  std::vector<at::Tensor> out;
  for (const ParameterSlot& slot : slots_) {
    out.push_back(entries(arena_.gradients(), slot).clone());
  }
  return out;
}

void AverageSlots::update(std::int64_t step, const std::vector<at::Tensor>& seen,
                          const std::vector<double>& scale,
                          const std::vector<std::uint8_t>& moves) const {
  if (slots_.empty()) return;
  const at::NoGradGuard no_grad;
  const double weight = std::max(kLeastWeight, 1 / static_cast<double>(step));
  const at::TensorOptions like = seen.front().options();
  const at::Tensor size = queued_tensor(scale, like).unsqueeze(1);
  const std::vector<std::int64_t> flags(moves.begin(), moves.end());
  const at::Tensor open = queued_tensor(flags, like.dtype(at::kLong)).gt(0).unsqueeze(1);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const at::Tensor value = entries(arena_.values(), slots_[i]);
    const at::Tensor next = value + (seen[i] / size - value) * weight;
    value.copy_(at::where(open, next, value));
  }
}

}  // namespace depthgrid
