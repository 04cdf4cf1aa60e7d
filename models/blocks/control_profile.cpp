#include "models/blocks/control_profile.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/tensor.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr double kSlack = 1e-6;  // depth-times are multiples of 1/L, rounded

}  // namespace

ControlProfile::ControlProfile(const ModelOptions& o) : axes_(o.control.axes) {
  using enum ControlProfileKind;
  const ControlOptions& c = o.control;
  if (std::ranges::all_of(c.profile, [](ControlProfileKind k) { return k == Constant; })) return;
  std::vector<double> start, slope, from, to;
  for (std::size_t e = 0; e < c.profile.size(); ++e) {
    const ControlProfileKind kind = c.profile[e];
    start.push_back(kind == RampUp ? 0 : 1);
    slope.push_back(kind == RampUp ? 1 : kind == RampDown ? -1 : 0);
    from.push_back(kind == Window ? c.window_from[e] - kSlack : -1);
    to.push_back(kind == Window ? c.window_to[e] + kSlack : 2);
  }
  const auto cells = [&](const std::vector<double>& each) {
    return at::tensor(each, at::TensorOptions(at::kFloat)).to(o.device);
  };
  start_ = cells(start);
  slope_ = cells(slope);
  from_ = cells(from);
  to_ = cells(to);
}

at::Tensor ControlProfile::seen(const Control& u) const {
  if (!u.u.defined() || axes_ == 0) return {};
  if (u.u.dim() != 4) throw ShapeError("a control signal is (E, B, T, U)");
  if (u.u.size(3) != axes_) {
    throw ShapeError("a control signal of " + std::to_string(u.u.size(-1)) +
                     " axes meets a model of " + std::to_string(axes_));
  }
  return u.u.stride(2) == 0 ? u.u.narrow(2, 0, 1) : u.u;
}

at::Tensor ControlProfile::signal(const Control& u, const at::Tensor& t) const {
  const at::Tensor given = seen(u);
  if (!given.defined() || !start_.defined()) return given;
  const at::Tensor inside = t.ge(from_).logical_and(t.le(to_)).to(given.scalar_type());
  const at::Tensor factor = (start_ + slope_ * t).to(given.scalar_type()) * inside;
  return given * factor.view({-1, 1, 1, 1});
}

at::Tensor ControlProfile::signal(const Control& u, double t) const {
  return signal(u, start_.defined() ? at::full_like(start_, t) : at::Tensor());
}

}  // namespace depthgrid
