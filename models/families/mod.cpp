#include "models/families/mod.hpp"

#include <memory>
#include <string>
#include <vector>

#include <ATen/TensorOperators.h>

#include "core/base/error.hpp"
#include "models/blocks/activation.hpp"
#include "models/blocks/block_parameters.hpp"
#include "models/ops/per_cell_norm.hpp"
#include "models/routing/causal_router.hpp"
#include "models/routing/decisions.hpp"
#include "models/routing/routed_family.hpp"
#include "models/routing/routed_field.hpp"
#include "models/routing/top_k.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kPredictor = 0;  // row of loss_terms()

/// Router and predictor of a dynamic layer.
struct ModLayer {
  ModLayer(ParameterSource& source, const ModelOptions& o, const std::string& name) {
    router = source.parameter({.name = name + ".router.weight",
                               .shape = {1, o.width},
                               .group = ParameterGroup::Router,
                               .init = xavier_init(o.width, 1)});
    const auto map = [&](const std::string& part, std::int64_t in, std::int64_t rows) {
      AffineMap m;
      m.weight = source.parameter({.name = name + part + ".weight",
                                   .shape = {rows, in},
                                   .group = ParameterGroup::Predictor,
                                   .init = xavier_init(in, rows)});
      m.bias = source.parameter(
          {.name = name + part + ".bias", .shape = {1, rows}, .group = ParameterGroup::Predictor});
      return m;
    };
    hidden = map(".predictor.hidden", o.width, o.mod.predictor_hidden);
    out = map(".predictor.out", o.mod.predictor_hidden, 1);
  }

  /// r = w · x, written as product and sum: see CausalRouter. (E, B, T)
  at::Tensor weight(const at::Tensor& x) const { return (x * router.unsqueeze(1)).sum(-1); }

  /// Logits of being among the k highest, from each token's own state. (E, B, T)
  at::Tensor predict(const ModelOptions& o, const at::Tensor& x) const {
    const at::Tensor normed = per_cell_norm(NormKind::Rms, x.detach(), {}, {}, o.norm_eps);
    const at::Tensor y = apply(out, activate(Activation::Silu, apply(hidden, normed)));
    return y.squeeze(-1);
  }

  TokenRouting decides(const ModelOptions& o) const {
    TokenRouting routing;
    routing.logits = [this, &o](const at::Tensor& x, at::Tensor&) { return predict(o, x); };
    routing.gate = [this](const at::Tensor& x) { return logistic(weight(x)); };
    return routing;
  }

  at::Tensor router;  // (E, 1, C)
  AffineMap hidden, out;
};

class ModField final : public RoutedField {
 public:
  ModField(const ModelOptions& o, const ForwardContext& c, const std::vector<BlockWeights>& blocks,
           const std::vector<ModLayer>& layers)
      : RoutedField(o, c, blocks), layers_(layers) {}

 protected:
  FieldValue routed(const at::Tensor& x, const DepthPoint& at, std::int64_t dynamic,
                    const Control& u, Losses& losses) const override {
    const ModelOptions& o = options();
    const ModLayer& layer = layers_.at(static_cast<std::size_t>(dynamic));
    const bool training = context().training, trains = training && !forced();
    const at::Tensor r = layer.weight(x);
    const at::Tensor target = at.decided.defined()
                                  ? at.decided
                                  : top_k_mask(r.detach(), capacities(o.routing, x.size(2)));
    at::Tensor logits;
    if (training || asked() || mode() == ExecutionMode::Student) logits = layer.predict(o, x);
    if (training) add_loss(losses, kPredictor, routing_loss(logits, target));
    at::Tensor mask = target;
    if (!trains && mode() == ExecutionMode::Student) {
      mask = student(logits, at.step, dynamic);
    } else if (!trains && mode() != ExecutionMode::TeacherTopk) {
      mask = plain_mask(r.detach(), at.step);
      if (!mask.defined()) throw Error("mod has no mode '" + std::string(name_of(mode())) + "'");
    }
    const at::Tensor gate = logistic(r);
    report({.layer = at.step,
            .executed = mask,
            .logits = logits,
            .score = r,
            .target = target,
            .execution_gate = gate});
    if (asked_to_skip()) return skipped(x);
    if (!trains && mode() == ExecutionMode::Dense) {
      return {dense(x, at, u) * gate.unsqueeze(-1), {}};
    }
    if (!trains && mode() == ExecutionMode::SkipAll) return skipped(x);
    FieldValue value = executed(x, at, mask, gate, trains || mode() == ExecutionMode::TeacherTopk);
    value.decided = target;
    return value;
  }

 private:
  const std::vector<ModLayer>& layers_;
};

class Mod final : public RoutedFamily<ModLayer, ModField> {
 public:
  Mod(ParameterSource& source, const ModelOptions& o) : RoutedFamily(source, o) {}

  std::vector<LossTerm> loss_terms() const override {
    return {{"predictor", options().mod.lambda_predictor}};
  }

  DeclaredMode training_mode() const override { return topk(); }

  std::vector<DeclaredMode> modes() const override {
    using enum ExecutionMode;
    return {{"dense", Dense},
            {"random", Random},
            {"skip_all", SkipAll},
            {"predictor", Student, Decider::Threshold},
            topk()};
  }

 private:
  static DeclaredMode topk() {
    return {"topk",
            ExecutionMode::TeacherTopk,
            {},
            false,
            "TopK ranks the tokens of the whole sequence"};
  }
};

}  // namespace

std::unique_ptr<Family> make_mod(ParameterSource& source, const ModelOptions& o) {
  return std::make_unique<Mod>(source, o);
}

}  // namespace depthgrid
