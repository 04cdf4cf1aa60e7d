#include "models/regularisers/penalised_stepper.hpp"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/relu.h>

#include "core/base/error.hpp"
#include "core/cells/cell_rng.hpp"
#include "core/cells/cell_set.hpp"
#include "core/cells/queued_tensor.hpp"
#include "core/probe/lyapunov/tangent_map.hpp"
#include "models/regularisers/dominant_direction.hpp"

namespace depthgrid {
namespace {

struct Evaluation {
  at::Tensor x;
  DepthPoint at;
  FieldValue value;
};

/// A field that keeps what it has returned.
class RecordedField final : public VectorField {
 public:
  RecordedField(const VectorField& field, std::vector<Evaluation>& seen)
      : field_(field), seen_(seen) {}

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control& u) const override {
    FieldValue value = field_.evaluate(x, at, u);
    seen_.push_back({x, at, value});
    return value;
  }
  at::Tensor enter(const at::Tensor& x, const DepthPoint& at, const Control& u) const override {
    return field_.enter(x, at, u);
  }
  bool depends_on_h() const override { return field_.depends_on_h(); }

 private:
  const VectorField& field_;
  std::vector<Evaluation>& seen_;
};

/// Sum over sequences and tokens of the mean square over channels. (E, B, T, C) -> (E)
at::Tensor mean_square(const at::Tensor& x) {
  return x.square().sum(-1).sum(-1).sum(-1) / static_cast<double>(x.size(3));
}

/// The same weight for each token of a sequence. (E, B) -> (E)
at::Tensor over_tokens(const at::Tensor& of_sequence, const at::Tensor& x) {
  return of_sequence.sum(-1) * static_cast<double>(x.size(2));
}

/// ε of all steps of a pass: signs or normal numbers, (E, B, T, C).
at::Tensor noise(const at::Tensor& x, bool gaussian, const ForwardContext& c) {
  if (c.seeds == nullptr) throw Error("noise needs the cells' seeds");
  const at::Tensor out = at::empty(x.sizes(), x.options().dtype(at::kFloat).requires_grad(false));
  const DrawPoint point{stream_id("regularisers/jacobian_noise"), c.step, c.first_row};
  if (gaussian) {
    fill_normal(out, *c.seeds, point);
  } else {
    fill_uniform(out, *c.seeds, point, -1, 1);
    out.copy_(out.ge(0).to(at::kFloat) * 2 - 1);
  }
  return out.to(x.scalar_type());
}

/// The map whose largest eigenvalue a regulariser's direction belongs to.
at::Tensor symmetric_part(Regulariser kind, const TangentMap& j, const at::Tensor& v) {
  if (kind == Regulariser::SpectralNorm) return j.transposed(j.forward(v));
  return (j.forward(v) + j.transposed(v)) / 2;
}

/// (E, B): uᵀJv with u = Jv/‖Jv‖, or u = v. @param here  where J is taken.
at::Tensor estimate(Regulariser kind, const TangentMap& j, const Evaluation& here,
                    const at::Tensor& v) {
  at::Tensor u = v;
  if (kind == Regulariser::SpectralNorm) {
    const at::Tensor image = j.forward(v);
    u = image / inner_product(image, image).sqrt().clamp_min(1e-30).unsqueeze(-1).unsqueeze(-1);
  }
  return inner_product(graph_of_pull_back(here.value.dx, here.x, u), v);
}

}  // namespace

DepthStep PenalisedStepper::step(const VectorField& field, const DepthGrid& grid, std::int64_t i,
                                 const DepthState& before, const Control& u,
                                 const at::Tensor& decided) const {
  const std::vector<Regulariser> directed = options_.directed();
  DepthState inner = before;
  std::vector<at::Tensor> directions;
  const bool begins = before.memory.empty();
  if (!begins) {
    const auto tail = inner.memory.end() - static_cast<std::ptrdiff_t>(directed.size());
    directions.assign(tail, inner.memory.end());
    inner.memory.erase(tail, inner.memory.end());
  }
  const bool taped = at::GradMode::is_enabled();
  const DepthPoint at = grid.at(i);
  std::vector<Evaluation> seen;
  DepthStep out;
  if (taped) {
    if (options_.of_jacobian() && !inner.x.requires_grad()) {
      inner.x = inner.x.detach().requires_grad_(true);
    }
    out = method_.step(RecordedField(field, seen), grid, i, inner, u, decided);
  } else {
    out = method_.step(field, grid, i, inner, u, decided);
    if (directed.empty()) return out;
    inner.x = inner.x.detach().requires_grad_(true);
  }

  const at::AutoGradMode enabled(true);
  const auto evaluations = static_cast<std::ptrdiff_t>(seen.size());
  // A method whose first stage is elsewhere is asked again.
  if (options_.of_jacobian() && (seen.empty() || seen.front().at.stage != 0)) {
    const at::Tensor x = field.enter(inner.x, at, u);
    seen.insert(seen.begin(), {x, at, field.evaluate(x, at, u)});
  }
  std::optional<TangentMap> jacobian;
  if (!directed.empty()) {
    jacobian.emplace(seen.front().x, seen.front().value.dx);
    follow(*jacobian, i, directions);
    for (const at::Tensor& v : directions) out.after.memory.push_back(v);
  }
  if (!taped) return out;

  const at::Tensor h = at.h.to(before.x.scalar_type());
  for (const RegulariserOptions::Term& term : options_.terms) {
    at::Tensor loss;
    switch (term.kind) {
      case Regulariser::Energy:
        for (auto one = seen.end() - evaluations; one != seen.end(); ++one) {
          const FieldValue& f = one->value;
          const at::Tensor square = mean_square(f.unscaled.defined() ? f.unscaled : f.dx);
          loss = loss.defined() ? loss + square : square;
        }
        break;
      case Regulariser::Kinetic:
        loss = mean_square(out.after.x - field.enter(inner.x, at, u)) / (2 * h);
        break;
      case Regulariser::Acceleration: {
        const at::Tensor x = field.enter(inner.x, at, u);
        const at::Tensor f =
            seen.front().at.stage == 0 ? seen.front().value.dx : field.evaluate(x, at, u).dx;
        DepthPoint ahead = at;
        ahead.t = at.t + grid.span.select(1, i);
        const at::Tensor next = at::addcmul(x, per_cell(h, x), f);
        loss = mean_square(field.evaluate(next, ahead, u).dx - f) / (2 * h);
        break;
      }
      case Regulariser::JacobianFrobenius: {
        const Evaluation& here = seen.front();
        const at::Tensor pulled =
            graph_of_pull_back(here.value.dx, here.x, noise(here.x, options_.gaussian, context_));
        loss = h * mean_square(pulled);
        break;
      }
      case Regulariser::SpectralNorm:
      case Regulariser::LogNorm: {
        const auto which = std::ranges::find(directed, term.kind) - directed.begin();
        at::Tensor value = estimate(term.kind, *jacobian, seen.front(),
                                    directions[static_cast<std::size_t>(which)]);
        if (DirectionRecord* const record = context_.directions.get(); record && !record->held) {
          record->norms.resize(static_cast<std::size_t>(i) + 1);
          record->norms.back().push_back(value.detach());
        }
        if (term.kind == Regulariser::LogNorm) {
          const at::Tensor margin =
              queued_tensor(options_.margin, value.options().requires_grad(false)).unsqueeze(1);
          value = at::relu(value - margin).square();
        }
        loss = h * over_tokens(value, before.x);
        break;
      }
      case Regulariser::ControlSmoothness:
        break;  // of the whole depth
    }
    out.losses.push_back(std::move(loss));
  }
  for (std::size_t k = 0; k < directed.size(); ++k) {
    out.losses.push_back(begins ? observed(k, directions[k]) : at::Tensor());
  }
  return out;
}

void PenalisedStepper::follow(const TangentMap& jacobian, std::int64_t i,
                              std::vector<at::Tensor>& directions) const {
  const std::vector<Regulariser> directed = options_.directed();
  DirectionRecord* const record = context_.directions.get();
  const auto place = static_cast<std::size_t>(i);
  if (record != nullptr && record->held) {
    directions = record->of_step.at(place);
    return;
  }
  const at::IntArrayRef state = jacobian.sizes();
  for (std::size_t k = 0; k < directed.size(); ++k) {
    const at::Tensor from = k < directions.size() ? directions[k] : start(k, state);
    at::Tensor v = dominant_direction(
        [&](const at::Tensor& w) { return symmetric_part(directed[k], jacobian, w); },
        from.detach(), options_.iterations);
    if (k < directions.size()) {
      directions[k] = std::move(v);
    } else {
      directions.push_back(std::move(v));
    }
  }
  if (record == nullptr) return;
  if (record->of_step.size() <= place) record->of_step.resize(place + 1);
  record->of_step[place] = directions;
}

at::Tensor PenalisedStepper::start(std::size_t k, at::IntArrayRef state) const {
  return starts_.at(k).narrow(1, 0, state[2]).unsqueeze(1).expand(state);
}

at::Tensor PenalisedStepper::observed(std::size_t k, const at::Tensor& direction) const {
  const at::Tensor from = start(k, direction.sizes()).to(direction.scalar_type());
  const at::Tensor sign =
      inner_product(from.detach(), direction).ge(0).to(from.scalar_type()) * 2 - 1;
  const at::Tensor seen =
      over_tokens(inner_product(from, direction * sign.unsqueeze(-1).unsqueeze(-1)), direction);
  return seen - seen.detach();
}

bool regularised(const DepthSegment& segment, const std::vector<DepthSegment>& depth) {
  return segment.flow || std::ranges::none_of(depth, &DepthSegment::flow);
}

}  // namespace depthgrid
