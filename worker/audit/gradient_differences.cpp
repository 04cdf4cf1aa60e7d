#include "worker/audit/gradient_differences.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>

#include "models/cell_language_model.hpp"
#include "worker/audit/audit_twin.hpp"

namespace depthgrid {
namespace {

/// Of finite differences. The smaller one, along another direction, is taken where the first does
/// not agree: a rectifier's kink may lie within a difference, a wrong gradient stays wrong.
constexpr std::array<double, 2> kDifferences = {1e-6, 3e-8};
constexpr double kDerivativeRounding = 2e-14;  // of the loss
constexpr double kSmallDirection = 0.01;       // a product this small beside the norm is rounding
constexpr double kLeastShare = 1e-3;  // of a tensor with a small gradient, in a common direction
constexpr double kLeastOff = 1e-3;    // relative: then it is examined tensor by tensor
constexpr std::int64_t kFewTokens = 9, kFewRows = 2;
constexpr double kBytesOfNumber = 80;  // values, gradients by terms and a direction in float64
constexpr double kMostNumbers = 1e8;

/// The terms of the mean loss of a batch, each with its weight.
class LossTerms {
 public:
  LossTerms(AuditModel& model, const Batch& batch)
      : batch_(batch),
        tokens_(static_cast<double>(batch.windows.size(1) * (batch.windows.size(2) - 1))),
        weights_(model.model().loss_terms()),
        held_(model.model(), model.seeds()),
        language_(&model.language()) {
    const bool executes = held_.hold_execution(batch);
    if (held_.hold_directions(batch) || executes) language_ = &held_;
  }

  std::vector<at::Tensor> operator()() {
    const Objective::Losses losses = language_->losses(batch_);
    if (weights_.empty()) return {losses.total / tokens_};
    std::vector<at::Tensor> out = {losses.loss / tokens_};
    for (std::size_t i = 0; i < losses.parts.size(); ++i) {
      out.push_back(losses.parts[i] * (weights_[i].weight.front() / tokens_));
    }
    return out;
  }

  /// (1, P) of each term.
  std::vector<at::Tensor> gradients(AuditModel& model) {
    std::vector<at::Tensor> out;
    for (std::size_t count = 1; out.size() < count;) {
      const std::vector<at::Tensor> terms = (*this)();
      count = terms.size();
      const at::Tensor term = terms[out.size()].sum();
      model.arena().zero_gradients();
      if (term.requires_grad()) term.backward();
      out.push_back(model.arena().gradients().clone());
    }
    return out;
  }

  bool several() const { return !weights_.empty(); }

 private:
  Batch batch_;
  double tokens_;
  std::vector<LossTerm> weights_;
  CellLanguageModel held_;
  LanguageModel* language_;
};

/// Relative deviation of a derivative along a direction from its difference.
double deviation(double a, double n, double norm, double difference) {
  const double size = std::max({std::abs(a), std::abs(n), kSmallDirection * norm});
  return std::max(0.0, std::abs(a - n) - kDerivativeRounding / difference) / std::max(size, 1e-300);
}

void note_error(GradientError& error, double off, const std::string& name) {
  if (off <= error.worst) return;
  error.worst = std::isnan(off) ? HUGE_VAL : off;
  error.parameter = name;
}

/// A random direction in which each tensor that this gradient reaches has an equal share, with a
/// largest element of 1.
at::Tensor common_direction(const ParameterLayout& layout, const at::Tensor& gradient,
                            at::Generator random) {
  double most = 0;
  for (const ParameterSlot& slot : layout.slots()) {
    most = std::max(most, slot_view(gradient, slot).norm().item<double>());
  }
  at::Tensor out = at::zeros_like(gradient);
  for (const ParameterSlot& slot : layout.slots()) {
    const double norm = slot_view(gradient, slot).norm().item<double>();
    if (slot.spec.average || norm == 0) continue;
    const at::Tensor part = slot_view(out, slot);
    part.copy_(at::randn(part.sizes(), random, at::kDouble) / std::max(norm, kLeastShare * most));
  }
  const double largest = out.abs().max().item<double>();
  return largest > 0 ? out / largest : out;
}

}  // namespace

GradientError differences_by_tensor(AuditModel& model, const Batch& batch) {
  LossTerms terms(model, batch);
  const std::vector<at::Tensor> gradients = terms.gradients(model);
  const at::NoGradGuard no_grad;
  at::Generator random = at::make_generator<at::CPUGeneratorImpl>(113);
  GradientError error;
  for (const ParameterSlot& slot : model.layout().slots()) {
    if (slot.spec.average) continue;
    const at::Tensor part = slot_view(model.arena().values(), slot);
    const at::Tensor was = part.clone();
    double off = HUGE_VAL;
    for (const double difference : kDifferences) {
      const at::Tensor along = at::randn(part.sizes(), random, at::kDouble);
      part.copy_(was + along * difference);
      const std::vector<at::Tensor> up = terms();
      part.copy_(was - along * difference);
      const std::vector<at::Tensor> down = terms();
      part.copy_(was);
      double a = 0, n = 0, norm = 0;
      for (std::size_t i = 0; i < gradients.size(); ++i) {
        const at::Tensor g = slot_view(gradients[i], slot);
        if (terms.several() && !g.ne(0).any().item<bool>()) continue;
        a += (g * along).sum().item<double>();
        n += (up[i] - down[i]).sum().item<double>() / (2 * difference);
        norm += g.norm().item<double>();
      }
      off = std::min(off, deviation(a, n, norm, difference));
      if (off <= kLeastOff) break;
    }
    ++error.tensors;
    note_error(error, off, slot.spec.name);
  }
  return error;
}

bool fits_in_float64(const AuditModels& models) {
  const auto count = static_cast<double>(layout_of(models.subject(), models.options()).size());
  const double row = models.row_flops() / static_cast<double>(models.tokens());
  return count <= kMostNumbers && count * kBytesOfNumber <= models.subject().memory_bytes &&
         row * static_cast<double>(kFewTokens * kFewRows) * 40 <= kAuditFlops;
}

GradientError differences_at_size(const AuditModels& models) {
  AuditModel model =
      models.built(without_adjoint(models.various({0})), {0}, {Arithmetic::Float64, true});
  const ModelOptions& o = model.options();
  const std::int64_t tokens = std::min(models.tokens(), kFewTokens);
  const at::Tensor windows = audit_tokens(o.vocabulary, {1, kFewRows, tokens + 1}, 127);
  Batch batch{.windows = windows, .step = 1};
  batch.control = audit_control(o, windows.narrow(2, 0, tokens), 127);
  if (batch.control.u.defined()) batch.control.u = batch.control.u.to(at::kDouble);
  GradientError error;
  {
    LossTerms terms(model, batch);
    const std::vector<at::Tensor> gradients = terms.gradients(model);
    const at::NoGradGuard no_grad;
    at::Generator random = at::make_generator<at::CPUGeneratorImpl>(114);
    at::Tensor& values = model.arena().values();
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      double off = HUGE_VAL;
      for (const double difference : kDifferences) {
        const at::Tensor along = common_direction(model.layout(), gradients[i], random);
        const at::Tensor was = values.clone();
        values.add_(along, difference);
        const at::Tensor up = terms().at(i);
        values.copy_(was).sub_(along, difference);
        const at::Tensor down = terms().at(i);
        values.copy_(was);
        const double a = (gradients[i] * along).sum().item<double>();
        const double n = (up - down).sum().item<double>() / (2 * difference);
        off = std::min(off, deviation(a, n, 0, difference));
        if (off <= kLeastOff) break;
      }
      note_error(error, off, "some tensor at size");
    }
  }
  error.tensors = static_cast<std::int64_t>(model.layout().slots().size());
  if (error.worst <= kLeastOff) return error;
  const GradientError one = differences_by_tensor(model, batch);
  return one.worst > kLeastOff ? one : error;
}

}  // namespace depthgrid
