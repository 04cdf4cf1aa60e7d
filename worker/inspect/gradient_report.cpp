#include "worker/inspect/gradient_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randint.h>

namespace depthgrid {
namespace {

constexpr double kStep = 3e-4;
constexpr double kSmall = 1e-3;  // least denominator, relative to a tensor's largest gradient

/// (terms, slots): whether a term reaches a tensor.
std::vector<std::vector<bool>> reach(Arena& arena, const LossUnderCheck& loss) {
  std::vector<std::vector<bool>> out;
  for (std::size_t i = 0; i < loss.names.size(); ++i) {
    arena.zero_gradients();
    const at::Tensor term = loss.terms()[i].sum();
    if (term.requires_grad()) term.backward();
    std::vector<bool>& row = out.emplace_back();
    for (const ParameterSlot& slot : arena.layout().slots()) {
      row.push_back(slot_view(arena.gradients(), slot).ne(0).any().item<bool>());
    }
  }
  return out;
}

/// Effect of rounding the loss on a difference.
double rounding(const LossUnderCheck& loss) {
  const at::NoGradGuard no_grad;
  double size = 0;
  for (const at::Tensor& term : loss.terms()) size += std::abs(term.sum().item<double>());
  return 4 * std::numeric_limits<double>::epsilon() * size / kStep;
}

/// The central difference of some of the terms with respect to one element.
double difference(const LossUnderCheck& loss, const std::vector<bool>& wanted,
                  const at::Tensor& element) {
  const at::NoGradGuard no_grad;
  const double was = element.item<double>();
  const auto at = [&](double by) {
    element.fill_(was + by);
    const std::vector<at::Tensor> terms = loss.terms();
    double sum = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (wanted[i]) sum += terms[i].sum().item<double>();
    }
    return sum;
  };
  const double near = at(kStep) - at(-kStep), far = at(2 * kStep) - at(-2 * kStep);
  element.fill_(was);
  return (8 * near - far) / (12 * kStep);
}

/// Elements of a tensor to compare: the one of largest gradient first.
std::vector<std::int64_t> chosen(const at::Tensor& gradient, std::int64_t samples,
                                 at::Generator& random) {
  std::vector<std::int64_t> out = {gradient.abs().argmax().item<std::int64_t>()};
  const std::int64_t all = std::min(samples, gradient.numel());
  while (static_cast<std::int64_t>(out.size()) < all) {
    const auto next = at::randint(0, gradient.numel(), {}, random, at::kLong).item<std::int64_t>();
    if (std::ranges::find(out, next) == out.end()) out.push_back(next);
  }
  return out;
}

GroupGradients& row_of(std::vector<GroupGradients>& rows, const std::string& group) {
  const auto at = std::ranges::find(rows, group, &GroupGradients::group);
  if (at != rows.end()) return *at;
  GroupGradients& row = rows.emplace_back();
  row.group = group;
  return row;
}

}  // namespace

std::vector<GroupGradients> gradient_report(Arena& arena, const LossUnderCheck& loss,
                                            std::int64_t samples, std::uint64_t seed) {
  const std::vector<std::vector<bool>> reached = reach(arena, loss);
  arena.zero_gradients();
  at::Tensor total;  // one backward pass, since a recomputed depth allows no second one
  for (const at::Tensor& term : loss.terms()) {
    if (!term.requires_grad()) continue;
    total = total.defined() ? total + term.sum() : term.sum();
  }
  if (total.defined()) total.backward();
  const double noise = rounding(loss);
  at::Generator random = at::make_generator<at::CPUGeneratorImpl>(seed);
  std::vector<GroupGradients> rows;
  const std::vector<ParameterSlot>& slots = arena.layout().slots();
  for (std::size_t s = 0; s < slots.size(); ++s) {
    const std::string name = slots[s].spec.name;
    GroupGradients& row = row_of(rows, std::string(name_of(slots[s].spec.group)));
    std::vector<bool> wanted;
    for (std::size_t i = 0; i < loss.names.size(); ++i) {
      wanted.push_back(reached[i][s]);
      const std::string term(loss.names[i]);
      if (reached[i][s] && std::ranges::find(row.terms, term) == row.terms.end()) {
        row.terms.push_back(term);
      }
    }
    if (std::ranges::find(wanted, true) == wanted.end()) {
      row.unreached.push_back(name);
      continue;
    }
    const at::Tensor gradient = slot_view(arena.gradients(), slots[s]).flatten();
    const at::Tensor values = slot_view(arena.values(), slots[s]).detach().view({-1});
    const double largest = gradient.abs().max().item<double>();
    for (const std::int64_t i : chosen(gradient, samples, random)) {
      const double a = gradient[i].item<double>();
      const double n = difference(loss, wanted, values[i]);
      const double size = std::max({std::abs(a), std::abs(n), kSmall * largest});
      double error = std::max(0.0, std::abs(a - n) - noise) / size;
      if (!std::isfinite(a) || !std::isfinite(n)) error = HUGE_VAL;
      if (row.elements++ > 0 && error <= row.worst) continue;
      row.worst = error;
      row.parameter = name;
      row.index = i;
      row.autograd = a;
      row.numeric = n;
    }
  }
  return rows;
}

}  // namespace depthgrid
