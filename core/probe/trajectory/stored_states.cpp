#include "core/probe/trajectory/stored_states.hpp"

#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>

#include "core/probe/trajectory/feature_moments.hpp"

namespace depthgrid {

void StoredStates::add(const at::Tensor& x) {
  device_ = x.device();
  blocks_.push_back(x.to(at::kFloat).cpu());
}

at::Tensor StoredStates::states_of(std::int64_t depth) const {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& block : blocks_) parts.push_back(block[depth]);
  return at::cat(parts).to(device_).to(at::kDouble);
}

at::Tensor StoredStates::scatters() const {
  std::vector<at::Tensor> out;
  for (std::int64_t a = 0; a < blocks_[0].size(0); ++a) {
    FeatureMoments one(/*pairs=*/false);
    one.add(states_of(a).unsqueeze(0));
    out.push_back(one.scatters()[0]);
  }
  return at::stack(out);
}

GramSums StoredStates::gram_sums() const {
  const std::int64_t depths = blocks_[0].size(0);
  GramSums out{.trace = at::empty({depths, depths}, at::kDouble),
               .cross = at::empty({depths, depths}, at::kDouble),
               .total = at::empty({depths}, at::kDouble)};
  for (std::int64_t a = 0; a < depths; ++a) {
    const at::Tensor x = states_of(a);
    for (std::int64_t b = a; b < depths; ++b) {
      FeatureMoments pair(/*pairs=*/true);
      pair.add(at::stack({x, states_of(b)}));
      const GramSums sums = pair.gram_sums();
      for (const auto& [all, of_pair] :
           {std::pair{out.trace, sums.trace}, {out.cross, sums.cross}}) {
        all[a][b] = of_pair[0][1];
        all[b][a] = of_pair[0][1];
      }
      if (a == b) out.total[a] = sums.total[0];
    }
  }
  return out;
}

}  // namespace depthgrid
