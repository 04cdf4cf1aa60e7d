#include "models/families/tong.hpp"

#include <utility>
#include <vector>

#include <ATen/ops/full.h>

#include "models/blocks/block_field.hpp"
#include "models/blocks/block_generator.hpp"
#include "models/blocks/residual_scale.hpp"
#include "models/blocks/temporal_norm.hpp"
#include "models/blocks/time_features.hpp"
#include "models/families/solved_depth.hpp"

namespace depthgrid {
namespace {

class Tong final : public Family {
 public:
  Tong(ParameterSource& source, const ModelOptions& o) : options_(o), scale_(source, o) {
    if (!o.hypernet.per_layer) {
      generators_.emplace_back(source, o, "block");
      return;
    }
    for (std::int64_t i = 0; i < o.layers; ++i) {
      generators_.emplace_back(source, o, "layers." + std::to_string(i));
    }
  }

  DepthGrid grid(const ForwardContext& context) const override {
    return scale_.grid(options_, context);
  }

  std::vector<DepthSegment> segments(const ForwardContext& context) const override {
    DepthGrid nodes = grid(context);
    if (options_.solved()) return solved_run(options_, context, *this, std::move(nodes));
    FieldPtr field = std::make_unique<LayerField>(options_, context, generated(nodes));
    return euler_run(std::move(nodes), std::move(field));
  }

  DecodeBlock block_at(const at::Tensor& t) const override { return block_between(*this, t); }

  std::vector<DecodeBlock> blocks(const DepthGrid& grid) const override {
    std::vector<DecodeBlock> out;
    for (BlockWeights& node : generated(grid)) out.push_back({std::move(node)});
    return out;
  }

  std::vector<DepthFactor> depth_factors() const override {
    if (options_.norm != NormChoice::TemporalLayer) return {};
    return norm_factors(generated(grid({})));
  }

  at::Tensor readout_features() const override {
    return time_features(options_.time, at::full({options_.cells, 1}, 1.0, options_.device));
  }

 private:
  std::vector<BlockWeights> generated(const DepthGrid& grid) const {
    const at::Tensor features = time_features(options_.time, grid.t);
    if (!options_.hypernet.per_layer) return generators_.front().evaluate(features);
    std::vector<BlockWeights> nodes;
    for (std::size_t i = 0; i < generators_.size(); ++i) {
      const at::Tensor here = features.narrow(1, static_cast<std::int64_t>(i), 1);
      nodes.push_back(generators_[i].evaluate(here).front());
    }
    return nodes;
  }

  const ModelOptions& options_;
  ResidualScale scale_;
  std::vector<BlockGenerator> generators_;
};

}  // namespace

std::unique_ptr<Family> make_tong(ParameterSource& source, const ModelOptions& o) {
  return std::make_unique<Tong>(source, o);
}

}  // namespace depthgrid
