#include "core/probe/trajectory/state_moments.hpp"

#include "core/probe/trajectory/feature_moments.hpp"
#include "core/probe/trajectory/token_grams.hpp"

namespace depthgrid {

std::unique_ptr<StateMoments> make_state_moments(std::int64_t tokens, std::int64_t channels,
                                                 bool pairs) {
  if (tokens < channels) return std::make_unique<TokenGrams>();
  return std::make_unique<FeatureMoments>(pairs);
}

}  // namespace depthgrid
