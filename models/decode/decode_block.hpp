#pragma once

#include <optional>

#include "models/blocks/block_weights.hpp"
#include "models/blocks/ssm_mixer.hpp"

namespace depthgrid {

/// The block in force at one depth step of the evaluation grid, for what runs it token by token.
struct DecodeBlock {
  BlockWeights weights;
  std::optional<SsmSystem> ssm = {};  // the second sublayer; none: up and down of `weights`
};

}  // namespace depthgrid
