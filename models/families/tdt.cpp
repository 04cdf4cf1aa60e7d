#include "models/families/tdt.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>

#include "core/cells/cell_set.hpp"
#include "core/cells/queued_tensor.hpp"
#include "models/ops/softplus.hpp"
#include "models/routing/causal_router.hpp"
#include "models/routing/decisions.hpp"
#include "models/routing/routed_family.hpp"
#include "models/routing/routed_field.hpp"
#include "models/routing/top_k.hpp"
#include "models/routing/transition_network.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kTpn = 0, kCausal = 1, kLevel = 2;  // rows of loss_terms()

/// Parts of a dynamic layer besides its block.
struct TdtLayer {
  TdtLayer(ParameterSource& source, const ModelOptions& o, const std::string& name)
      : network(source, o, name + ".tpn"), router(source, o, name + ".router") {
    const auto scalar = [&](const char* part, std::vector<double> start) {
      return source.parameter({.name = name + ".gate." + part,
                               .shape = {1},
                               .group = ParameterGroup::Scalars,
                               .init = {.fill = std::move(start)}});
    };
    const auto start = [&](std::vector<double> effective) {
      if (!o.tdt.positive_scalars) return effective;
      for (double& v : effective) v = std::log(std::expm1(v));  // softplus of it is v
      return effective;
    };
    raw.o_ce = scalar("o_ce", start(o.tdt.o_ce));
    raw.m_cu = scalar("m_cu", start(o.tdt.m_cu));
    raw.beta_ce = scalar("beta_ce", o.tdt.beta_ce);
    raw.beta_cu = scalar("beta_cu", o.tdt.beta_cu);
    if (!o.tdt.layer_rms) return;
    level = source.parameter({.name = name + ".gate.d_st_mean",
                              .shape = {1},
                              .group = ParameterGroup::Scalars,
                              .init = {.fill = {1.0}},
                              .average = true});
  }

  GateScalars scalars(bool positive) const {
    if (!positive) return raw;
    return {softplus(raw.o_ce), softplus(raw.m_cu), raw.beta_ce, raw.beta_cu};
  }

  TokenRouting decides(const ModelOptions& o) const {
    TokenRouting routing;
    routing.logits = [this, &o](const at::Tensor& x, at::Tensor& memory) {
      return router.logits(o, x, &memory);
    };
    return routing;
  }

  TransitionNetwork network;
  CausalRouter router;
  GateScalars raw;
  at::Tensor level;  // (E, 1) average of D_st over training, or undefined
};

/// The dense pass of a layer and its signals for every token.
struct Teacher {
  at::Tensor f;                    // (E, B, T, C) F of the dense pass
  at::Tensor residual, predicted;  // Δx = h F and Δx̂
  at::Tensor stopped;              // Δx as a constant
  GateScalars scalars;
  GateSignals signals;
  at::Tensor target;  // (E, B, T) bool
};

class TdtField final : public RoutedField {
 public:
  TdtField(const ModelOptions& o, const ForwardContext& c, const std::vector<BlockWeights>& blocks,
           const std::vector<TdtLayer>& layers)
      : RoutedField(o, c, blocks), layers_(layers) {}

 protected:
  FieldValue routed(const at::Tensor& x, const DepthPoint& at, std::int64_t dynamic,
                    const Control& u, Losses& losses) const override {
    const TdtLayer& layer = layers_.at(static_cast<std::size_t>(dynamic));
    const at::Tensor like = x.detach().select(-1, 0);
    Teacher teacher;
    if (teaches()) teacher = teach(layer, x, at, dynamic, u);
    at::Tensor logits;
    if (training() || asked() || mode() == ExecutionMode::Student) {
      logits = layer.router.logits(options(), x);
    }
    if (training()) {
      add_loss(losses, kTpn, token_sum(mean_square(teacher.predicted - teacher.stopped)));
      add_loss(losses, kCausal, routing_loss(logits, teacher.target));
      if (layer.level.defined()) {
        observe(losses, kLevel, layer.level, token_sum(teacher.signals.d_st.detach()));
      }
    }
    const at::Tensor chosen = mask(teacher, logits, like, at, dynamic);
    const auto choosing = [&](FieldValue value) {
      value.decided = teacher.target;
      return value;
    };
    report({.layer = at.step,
            .executed = chosen,
            .logits = logits,
            .score = teacher.signals.score,
            .target = teacher.target,
            .first = options().routing.always_first,
            .signals = teacher.signals,
            .scalars = teacher.scalars,
            .residual = teacher.residual,
            .predicted = teacher.predicted});
    if (asked_to_skip()) return skipped(x);
    const bool everything = training() ? !gated() && !forced() : mode() == ExecutionMode::Dense;
    if (everything) return choosing({teacher.f.defined() ? teacher.f : dense(x, at, u), {}});
    if (!training() && mode() == ExecutionMode::SkipAll) return skipped(x);
    const bool ranked = training() && !forced() ? !dense_phase(like).defined()
                                                : mode() == ExecutionMode::TeacherTopk;
    return choosing(executed(x, at, chosen, gate(teacher, dynamic), ranked));
  }

 private:
  bool training() const { return context().training; }
  bool gated() const { return training() && options().tdt.path != TrainPath::Dense; }
  bool teaches() const {
    return training() || mode() == ExecutionMode::TeacherTopk ||
           mode() == ExecutionMode::TeacherThreshold || asked_to_teach();
  }

  /// Values for stop-gradients, if not those of this pass.
  const LayerRouting* held(std::int64_t dynamic) const {
    if (!context().execution || !context().execution->held) return nullptr;
    return &context().execution->held->layers.at(static_cast<std::size_t>(dynamic));
  }

  Teacher teach(const TdtLayer& layer, const at::Tensor& x, const DepthPoint& at,
                std::int64_t dynamic, const Control& u) const {
    const ModelOptions& o = options();
    const LayerRouting* const kept = held(dynamic);
    const bool attached = !gated() || o.tdt.gate_grad_to_trunk || !o.tdt.tpn_detach_input;
    Teacher t;
    {
      const at::AutoGradMode graph(attached && at::GradMode::is_enabled());
      t.f = dense(x, at, u);
      t.residual = t.f * per_cell(at.h.to(x.scalar_type()), x);
    }
    t.stopped = kept ? kept->residual : t.residual.detach();
    t.predicted = layer.network.predict(o, x + t.residual);
    t.scalars = layer.scalars(o.tdt.positive_scalars);
    const bool through = o.tdt.gate_grad_to_trunk;
    t.signals = surprise_gate(
        through ? t.residual : t.stopped,
        through ? t.predicted : (kept ? kept->predicted : t.predicted.detach()), t.scalars,
        {.window = o.tdt.window,
         .exclusive = o.tdt.exclusive,
         .level = layer.level.defined() ? layer.level.detach() : at::Tensor()});
    at::Tensor score = t.signals.score;
    if (o.routing.always_first) {
      const at::Tensor position = at::arange(score.size(-1), score.options().dtype(at::kLong));
      score = score.masked_fill(position.eq(0), std::numeric_limits<double>::infinity());
    }
    t.target = at.decided;
    if (kept) t.target = kept->target;
    if (!t.target.defined()) t.target = top_k_mask(score, capacities(o.routing, x.size(2)));
    return t;
  }

  at::Tensor mask(const Teacher& teacher, const at::Tensor& logits, const at::Tensor& like,
                  const DepthPoint& at, std::int64_t dynamic) const {
    const RoutingOptions& o = options().routing;
    if (training() && !forced()) {
      if (!gated()) return at::ones_like(like, like.options().dtype(at::kBool));
      const at::Tensor phase = dense_phase(like);
      const at::Tensor chosen = with_first(o, teacher.target);
      return phase.defined() ? chosen.logical_or(phase) : chosen;
    }
    if (mode() == ExecutionMode::TeacherTopk) return with_first(o, teacher.target);
    if (mode() == ExecutionMode::TeacherThreshold) {
      const at::Tensor& calibrated = context().execution->thresholds;
      const at::Tensor chosen =
          calibrated.defined()
              ? above(teacher.signals.score, calibrated.select(1, dynamic))
              : above(teacher.signals.gate,
                      queued_tensor(o.threshold, like.options().requires_grad(false)));
      return with_first(o, chosen);
    }
    if (mode() == ExecutionMode::Student) {
      return student(logits, at.step, dynamic);
    }
    return plain_mask(like, at.step);
  }

  at::Tensor gate(const Teacher& teacher, std::int64_t dynamic) const {
    if (!gated()) return {};
    const at::Tensor& g = teacher.signals.gate;
    at::Tensor gate = g;
    if (options().tdt.path == TrainPath::GatedSt) {
      // 1 to the bit, with the gradient of g / value.
      const LayerRouting* const kept = held(dynamic);
      const at::Tensor value = kept ? kept->signals.gate : g.detach();
      gate = (g - value) / value.clamp_min(1e-6) + 1;
    }
    const at::Tensor phase = dense_phase(g.detach());
    return phase.defined() ? at::where(phase, at::ones_like(gate).detach(), gate) : gate;
  }

  /// (E, 1, 1) bool: cells still in their dense first steps; undefined if there are none.
  at::Tensor dense_phase(const at::Tensor& like) const {
    std::vector<std::int64_t> flags;
    for (const std::int64_t steps : options().tdt.dense_steps) {
      flags.push_back(context().step <= steps ? 1 : 0);
    }
    if (!gated() || std::ranges::all_of(flags, [](auto f) { return f == 0; })) return {};
    return queued_tensor(flags, like.options().dtype(at::kLong)).gt(0).view({-1, 1, 1});
  }

  const std::vector<TdtLayer>& layers_;
};

class Tdt final : public RoutedFamily<TdtLayer, TdtField> {
 public:
  Tdt(ParameterSource& source, const ModelOptions& o) : RoutedFamily(source, o) {}

  std::vector<LossTerm> loss_terms() const override {
    std::vector<LossTerm> terms = {{"tpn", options().tdt.lambda_tpn},
                                   {"causal", options().tdt.lambda_causal}};
    if (options().tdt.layer_rms) terms.push_back({.name = "level", .observes = true});
    return terms;
  }

  std::vector<DeadParameter> dead_parameters() const override {
    std::vector<DeadParameter> out;
    if (options().tdt.path != TrainPath::Dense) return out;
    for (const std::int64_t layer : options().routing.layers) {
      for (const char* scalar : {"o_ce", "m_cu", "beta_ce", "beta_cu"}) {
        out.push_back({"layers." + std::to_string(layer) + ".gate." + scalar,
                       "on the dense path the gate only ranks tokens"});
      }
    }
    return out;
  }

  DeclaredMode training_mode() const override {
    if (options().tdt.path == TrainPath::Dense) return {"dense", ExecutionMode::Dense};
    return teacher_topk();
  }

  std::vector<DeclaredMode> modes() const override {
    using enum ExecutionMode;
    return {{"dense", Dense},
            teacher_topk(),
            {"teacher_threshold", TeacherThreshold},
            {"student_threshold", Student, Decider::Threshold},
            {"student_calibrated", Student, Decider::Calibrated},
            {"student_running_topk", Student, Decider::RunningTopk},
            {"random", Random},
            {"skip_all", SkipAll}};
  }

 private:
  static DeclaredMode teacher_topk() {
    return {"teacher_topk",
            ExecutionMode::TeacherTopk,
            {},
            false,
            "the teacher's TopK ranks the tokens of the whole sequence"};
  }
};

}  // namespace

std::unique_ptr<Family> make_tdt(ParameterSource& source, const ModelOptions& o) {
  return std::make_unique<Tdt>(source, o);
}

}  // namespace depthgrid
