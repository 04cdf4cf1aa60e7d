#include "core/train/optimizer/momentum.hpp"

#include <vector>

#include "core/train/optimizer/block_sums.hpp"

#define DEPTHGRID_KERNELS "core/train/optimizer/momentum.inc"
#include "core/base/for_each_isa.inc"

namespace depthgrid {
namespace {

class Momentum final : public UpdateRule {
 public:
  void prepare(std::span<const GroupScalars> scalars) override {
    rates_.clear();
    for (const GroupScalars& s : scalars) {
      rates_.push_back({.gradient_factor = static_cast<float>(s.gradient_factor),
                        .beta = static_cast<float>(s.own[0]),
                        .lr = static_cast<float>(s.lr),
                        .decay = static_cast<float>(1 - s.lr * s.weight_decay)});
    }
  }

  BlockSums update(const ParameterBlock& block, std::size_t at) const override {
    return DEPTHGRID_CALL(isa_in_use(), update_momentum, block, rates_[at]);
  }

 private:
  std::vector<MomentumRates> rates_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_momentum() {
  return std::make_unique<Momentum>();
}

}  // namespace depthgrid
