#include "core/probe/trajectory/state_moments.hpp"

#include "core/probe/trajectory/feature_moments.hpp"
#include "core/probe/trajectory/stored_states.hpp"
#include "core/probe/trajectory/token_grams.hpp"

namespace depthgrid {

namespace {

constexpr std::int64_t kMostPairNumbers = std::int64_t{1} << 26;  // half a gibibyte of doubles

}  // namespace

std::unique_ptr<StateMoments> make_state_moments(std::int64_t depths, std::int64_t tokens,
                                                 std::int64_t channels, bool pairs) {
  if (tokens < channels) return std::make_unique<TokenGrams>();
  const std::int64_t numbers = depths * (depths + 1) / 2 * channels * channels;
  if (pairs && numbers > kMostPairNumbers) return std::make_unique<StoredStates>();
  return std::make_unique<FeatureMoments>(pairs);
}

}  // namespace depthgrid
