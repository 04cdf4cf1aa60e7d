#include "core/probe/lyapunov/tangent_map.hpp"

#include <string>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

/// (d of/d by)ᵀ weight; undefined if `of` does not depend on `by`. The graph is kept.
at::Tensor pull_back(const at::Tensor& of, const at::Tensor& by, const at::Tensor& weight,
                     bool differentiable) {
  if (!of.requires_grad()) return {};
  try {
    return torch::autograd::grad({of}, {by}, {weight}, /*retain_graph=*/true, differentiable,
                                 /*allow_unused=*/true)
        .front();
  } catch (const c10::Error& e) {  // others, as for lack of memory, have a meaning of their own
    const std::string why = e.what_without_backtrace();
    if (why.find("is not implemented") == std::string::npos) throw;
    throw Error("the map cannot be differentiated twice: compose it of smaller operations (" + why +
                ")");
  }
}

/// The same; 0 in place of undefined.
at::Tensor product(const at::Tensor& of, const at::Tensor& by, const at::Tensor& weight) {
  at::Tensor out;
  if (of.defined()) out = pull_back(of, by, weight.to(by.options().requires_grad(false)), false);
  return out.defined() ? out.detach() : at::zeros_like(by).detach();
}

}  // namespace

at::Tensor graph_of_pull_back(const at::Tensor& y, const at::Tensor& x, const at::Tensor& w) {
  const at::Tensor out = pull_back(y, x, w, true);
  return out.defined() ? out : at::zeros_like(x);
}

TangentMap::TangentMap(const StateMap& map, const at::Tensor& x) {
  const at::AutoGradMode graph(true);
  x_ = x.detach().clone().requires_grad_(true);
  y_ = map(x_);
  prepare();
}

TangentMap::TangentMap(at::Tensor x, at::Tensor y) : x_(std::move(x)), y_(std::move(y)) {
  const at::AutoGradMode graph(true);
  prepare();
}

void TangentMap::prepare() {
  if (y_.sizes() != x_.sizes()) throw ShapeError("a map of the state must keep its shape");
  w_ = at::zeros_like(y_).detach().requires_grad_(true);
  pulled_ = pull_back(y_, x_, w_, true);
}

at::Tensor TangentMap::value() const {
  return y_.detach();
}

at::Tensor TangentMap::forward(const at::Tensor& v) const {
  return product(pulled_, w_, v);
}

at::Tensor TangentMap::transposed(const at::Tensor& w) const {
  return product(y_, x_, w);
}

}  // namespace depthgrid
