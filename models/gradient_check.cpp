#include "models/gradient_check.hpp"

#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/base/nan.hpp"
#include "core/depth/recomputed_depth.hpp"
#include "models/ops/cell_cross_entropy.hpp"
#include "models/regularisers/penalised_stepper.hpp"

namespace depthgrid {
namespace {

/// Sum of squares of every cell. @return (E) double, host
at::Tensor squares(const at::Tensor& x) {
  return x.detach().to(at::kDouble).square().flatten(1).sum(1).cpu();
}

at::Tensor unknown(const ModelOptions& o) {
  return at::full({o.cells}, kNaN, at::kDouble);
}

/// Parameters of the part of the depth that is a flow: of all of it where no layers are replaced.
std::vector<at::Tensor> of_flow(const ModelOptions& o, const Arena& arena) {
  const auto belongs = [&](const ParameterSpec& spec) {
    if (o.flow.replaced() > 0) return spec.name.starts_with("flow.");
    return spec.group != ParameterGroup::Embedding && spec.group != ParameterGroup::Head &&
           !spec.name.starts_with("final_norm");
  };
  std::vector<at::Tensor> out;
  for (const ParameterSlot& slot : arena.layout().slots()) {
    if (!belongs(slot.spec)) continue;
    for (const Arena::Leaf& leaf : arena.leaves()) {
      if (leaf.offset == slot.offset) out.push_back(leaf.view);
    }
  }
  return out;
}

/// A flow that can be reversed, with its states at both ends.
struct ReversibleFlow {
  const DepthSegment& segment;
  const Control& u;
  at::Tensor first;
  DepthState last;
};

/// (E) of the model's flow on a text, in evaluation mode; NaN if it cannot be reversed.
at::Tensor at_reversible_flow(const Model& model, const at::Tensor& tokens,
                              const std::function<at::Tensor(const ReversibleFlow&)>& of) {
  const at::NoGradGuard no_grad;
  const ForwardContext context;
  const Control& u = model.control({});
  at::Tensor x = model.embed(tokens);
  const std::vector<DepthSegment> depth = model.segments(context);
  for (const DepthSegment& s : depth) {
    const Stepper& method = *s.method->stepper();
    if (!s.flow || !method.reversible()) {
      x = s.method->solve(*s.field, s.grid, x, u);
      continue;
    }
    DepthState state{x};
    for (std::int64_t i = 0; i < s.grid.steps(); ++i) {
      state = method.step(*s.field, s.grid, i, state, u).after;
    }
    return of({s, u, x, std::move(state)});
  }
  return unknown(model.options());
}

}  // namespace

at::Tensor adjoint_error(const Model& model, const Arena& arena, const at::Tensor& tokens,
                         const at::Tensor& targets) {
  const ForwardContext context;
  const std::vector<at::Tensor> parameters = of_flow(model.options(), arena);
  const auto of_sequence = [&](GradientMode mode, std::int64_t i) {
    const at::AutoGradMode enabled(true);
    at::Tensor x = model.embed(tokens.narrow(1, i, 1));
    for (const DepthSegment& s : model.segments(context)) {
      const GradientPlan plan{s.flow ? mode : GradientMode::Plain};
      x = RecomputedDepth(*s.method->stepper(), plan, nullptr)
              .solve(*s.field, s.grid, x, model.control({}));
    }
    const at::Tensor loss = cell_cross_entropy(model.readout(x), targets.narrow(1, i, 1)).sum();
    return torch::autograd::grad({loss}, parameters, {}, {}, false, /*allow_unused=*/true);
  };
  // One sequence at a time: the exact gradient needs the graph of all steps.
  const auto gradients = [&](GradientMode mode) {
    std::vector<at::Tensor> sum = of_sequence(mode, 0);
    for (std::int64_t i = 1; i < tokens.size(1); ++i) {
      const std::vector<at::Tensor> more = of_sequence(mode, i);
      for (std::size_t p = 0; p < sum.size(); ++p) {
        if (sum[p].defined()) sum[p] = sum[p] + more[p];
      }
    }
    return sum;
  };
  const std::vector<at::Tensor> exact = gradients(GradientMode::Plain);
  const std::vector<at::Tensor> adjoint = gradients(GradientMode::Adjoint);
  at::Tensor apart = at::zeros({model.options().cells}, at::kDouble), size = at::zeros_like(apart);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (!exact[i].defined() || !adjoint[i].defined()) continue;
    apart += squares(exact[i] - adjoint[i]);
    size += squares(exact[i]);
  }
  return (apart / size).sqrt();
}

at::Tensor reversible_defect(const Model& model, const at::Tensor& tokens) {
  return at_reversible_flow(model, tokens, [](const ReversibleFlow& flow) {
    const DepthState& last = flow.last;
    return (squares(last.x - last.memory.front()) / squares(last.x)).sqrt();
  });
}

at::Tensor reversible_error(const Model& model, const at::Tensor& tokens) {
  return at_reversible_flow(model, tokens, [](const ReversibleFlow& flow) {
    DepthState state = flow.last;
    const DepthSegment& s = flow.segment;
    for (std::int64_t i = s.grid.steps() - 1; i >= 0; --i) {
      state = s.method->stepper()->before(*s.field, s.grid, i, state, flow.u).value();
    }
    return undone_error(flow.first, state.x).to(at::kCPU);
  });
}

NormEstimates norm_estimates(const Model& model, const at::Tensor& tokens,
                             std::int64_t iterations) {
  const at::AutoGradMode enabled(true);
  RegulariserOptions o = model.options().regularisers;
  o.iterations = iterations;
  std::erase_if(o.terms, [&](const RegulariserOptions::Term& term) {
    return term.kind != Regulariser::SpectralNorm && term.kind != Regulariser::LogNorm;
  });
  const auto record = std::make_shared<DirectionRecord>();
  const ForwardContext context{.composed = true, .directions = record};
  const std::vector<DepthSegment> depth = model.segments(context);
  at::Tensor x = model.embed(tokens);
  NormEstimates out;
  for (const DepthSegment& s : depth) {
    if (!regularised(s, depth)) {
      x = s.method->solve(*s.field, s.grid, x, model.control({})).detach();
      continue;
    }
    const PenalisedStepper method(*s.method->stepper(), o, model.directions(), context);
    DepthIntegrator(method).solve(*s.field, s.grid, x.detach(), model.control({}));
    const std::vector<Regulariser> kinds = o.directed();
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      at::Tensor& to = kinds[k] == Regulariser::SpectralNorm ? out.spectral : out.log;
      to = at::zeros({model.options().cells}, at::kDouble);
      for (std::int64_t i = 0; i < s.grid.steps(); ++i) {
        const at::Tensor norm = record->norms[static_cast<std::size_t>(i)][k].mean(1);
        to += (s.grid.h.select(1, i).detach() * norm).to(at::kCPU, at::kDouble);
      }
    }
    break;
  }
  return out;
}

}  // namespace depthgrid
