#include "models/families/loop.hpp"

#include <vector>

#include "models/blocks/block_field.hpp"
#include "models/blocks/block_parameters.hpp"
#include "models/blocks/residual_scale.hpp"
#include "models/closed_form.hpp"

namespace depthgrid {
namespace {

class Loop final : public Family {
 public:
  Loop(ParameterSource& source, const ModelOptions& o) : options_(o), scale_(source, o) {
    BlockWeights block;
    attention_parameters(source, o, "block", block);
    second_parameters(source, o, "block", block);
    layers_.assign(static_cast<std::size_t>(o.layers), block);
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

std::unique_ptr<Family> make_loop(ParameterSource& source, const ModelOptions& o) {
  return std::make_unique<Loop>(source, o);
}

std::int64_t loop_parameters(const ModelOptions& o) {
  ModelOptions one = o;
  one.share = Share::All;
  return standard_parameters(one);
}

}  // namespace depthgrid
