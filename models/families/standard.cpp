#include "models/families/standard.hpp"

#include <vector>

#include "models/blocks/block_field.hpp"
#include "models/blocks/block_parameters.hpp"
#include "models/blocks/residual_scale.hpp"

namespace depthgrid {
namespace {

class Standard final : public Family {
 public:
  Standard(ParameterSource& source, const ModelOptions& o) : options_(o), scale_(source, o) {
    const bool attention = o.share == Share::All || o.share == Share::Attention;
    const bool second = o.share == Share::All || o.share == Share::FeedForward;
    BlockWeights shared;
    if (attention) attention_parameters(source, o, "block", shared);
    if (second) second_parameters(source, o, "block", shared);
    for (std::int64_t i = 0; i < o.layers; ++i) {
      const std::string name = "layers." + std::to_string(i);
      BlockWeights& layer = layers_.emplace_back(shared);
      if (!attention) attention_parameters(source, o, name, layer);
      if (!second) second_parameters(source, o, name, layer);
    }
  }

  DepthGrid grid(const ForwardContext& context) const override {
    return scale_.grid(options_, context);
  }

  std::vector<DepthSegment> segments(const ForwardContext& context) const override {
    return euler_run(grid(context), std::make_unique<LayerField>(options_, context, layers_));
  }

  std::vector<DecodeBlock> blocks(const DepthGrid&) const override {
    std::vector<DecodeBlock> out;
    for (const BlockWeights& layer : layers_) out.push_back({layer});
    return out;
  }

 private:
  const ModelOptions& options_;
  ResidualScale scale_;
  std::vector<BlockWeights> layers_;
};

}  // namespace

std::unique_ptr<Family> make_standard(ParameterSource& source, const ModelOptions& o) {
  return std::make_unique<Standard>(source, o);
}

}  // namespace depthgrid
