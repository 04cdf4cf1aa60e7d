#include "core/train/optimizer/adam.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <vector>

#include "core/train/optimizer/block_sums.hpp"

#define DEPTHGRID_KERNELS "core/train/optimizer/adam.inc"
#include "core/base/for_each_isa.inc"

namespace depthgrid {
namespace {

class Adam final : public UpdateRule {
 public:
  explicit Adam(bool decoupled) : decoupled_(decoupled) {}

  void prepare(std::span<const GroupScalars> scalars) override {
    rates_.clear();
    for (const GroupScalars& s : scalars) rates_.push_back(adam_rates(s, decoupled_));
  }

  BlockSums update(const ParameterBlock& block, std::size_t at) const override {
    return adam_update(block, rates_[at]);
  }

 private:
  bool decoupled_;
  std::vector<AdamRates> rates_;
};

}  // namespace

AdamRates adam_rates(const GroupScalars& s, bool decoupled) {
  const double beta1 = s.own[0], beta2 = s.own[1], eps = s.own[2];
  const auto t = static_cast<double>(s.step);
  const double correction1 = 1 - std::pow(beta1, t);
  const double correction2 = 1 - std::pow(beta2, t);
  // A beta of exactly 1 keeps its moment at zero forever; the scalars must stay finite.
  return {.gradient_factor = static_cast<float>(s.gradient_factor),
          .l2 = static_cast<float>(decoupled ? 0 : s.weight_decay),
          .beta1 = static_cast<float>(beta1),
          .rest1 = static_cast<float>(1 - beta1),
          .beta2 = static_cast<float>(beta2),
          .rest2 = static_cast<float>(1 - beta2),
          .inverse_root = static_cast<float>(correction2 > 0 ? 1 / std::sqrt(correction2) : 1),
          .eps = std::max(static_cast<float>(eps), FLT_MIN),  // avoids 0 / 0 before any gradient
          .step_size = static_cast<float>(correction1 > 0 ? s.lr / correction1 : 0),
          .decay = static_cast<float>(decoupled ? 1 - s.lr * s.weight_decay : 1)};
}

std::unique_ptr<UpdateRule> make_adam() {
  return std::make_unique<Adam>(false);
}

std::unique_ptr<UpdateRule> make_adamw() {
  return std::make_unique<Adam>(true);
}

BlockSums adam_update(const ParameterBlock& block, const AdamRates& rates, Isa isa) {
  return DEPTHGRID_CALL(isa, update_adam, block, rates);
}

}  // namespace depthgrid
