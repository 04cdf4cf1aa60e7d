#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/blocks/block_parameters.hpp"
#include "models/blocks/residual_scale.hpp"
#include "models/family.hpp"

namespace depthgrid {

/// Common part of families of L separate blocks of which the dynamic ones (RoutingOptions) skip
/// tokens: parameters layer by layer, grid, field and blocks.
///
/// Layer: a dynamic layer's parts besides its block, constructed from (source, options, name); its
/// `TokenRouting decides(options)` describes the decision before the block, and must not outlive
/// the family. Field: constructed from (options, context, blocks, dynamic layers).
template <class Layer, class Field>
class RoutedFamily : public Family {
 public:
  DepthGrid grid(const ForwardContext& context) const override {
    return scale_.grid(options_, context);
  }

  std::vector<DepthSegment> segments(const ForwardContext& context) const override {
    return euler_run(grid(context), std::make_unique<Field>(options_, context, blocks_, layers_));
  }

  std::vector<DecodeBlock> blocks(const DepthGrid&) const override {
    std::vector<DecodeBlock> out;
    for (std::int64_t i = 0; i < options_.layers; ++i) {
      DecodeBlock& block = out.emplace_back();
      block.weights = blocks_.at(static_cast<std::size_t>(i));
      const auto dynamic = options_.routing.index(i);
      if (!dynamic) continue;
      const Layer& layer = layers_.at(static_cast<std::size_t>(*dynamic));
      auto routing = std::make_shared<TokenRouting>(layer.decides(options_));
      routing->dynamic = *dynamic;
      block.routing = std::move(routing);
    }
    return out;
  }

 protected:
  /// @param o  must outlive the family.
  RoutedFamily(ParameterSource& source, const ModelOptions& o) : options_(o), scale_(source, o) {
    for (std::int64_t i = 0; i < o.layers; ++i) {
      const std::string name = "layers." + std::to_string(i);
      blocks_.push_back(block_parameters(source, o, name));
      if (o.routing.index(i)) layers_.emplace_back(source, o, name);
    }
  }

  const ModelOptions& options() const noexcept { return options_; }

 private:
  const ModelOptions& options_;
  ResidualScale scale_;
  std::vector<BlockWeights> blocks_;
  std::vector<Layer> layers_;
};

}  // namespace depthgrid
