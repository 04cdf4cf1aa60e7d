#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"
#include "core/probe/probe_subject.hpp"

namespace depthgrid::testing {

/// A job whose states are given. Only what a probe of states asks of it has an answer.
class FakeSubject : public ProbeSubject {
 public:
  /// All tokens are of the class `all`, until classes are given.
  /// @param states  H_0 ... H_L, each (E, n, T, C)
  /// @param times   (E, L + 1) double
  FakeSubject(std::vector<at::Tensor> states, at::Tensor times)
      : states_(std::move(states)), times_(std::move(times)) {
    const std::int64_t n = states_[0].size(1), tokens = states_[0].size(2);
    set_.windows = at::zeros({n, tokens + 1}, at::kLong);
    set_.classes = {{.name = "all", .member = at::ones({n, tokens}, at::kBool)}};
  }

  void classes(std::vector<TokenClass> classes) { set_.classes = std::move(classes); }

  std::int64_t cells() const override { return states_[0].size(0); }
  std::int64_t depth() const override { return static_cast<std::int64_t>(states_.size()) - 1; }
  at::Tensor edge_times() const override { return times_; }
  const ProbeSet& set() const override { return set_; }

  std::vector<at::Tensor> states(std::int64_t first, std::int64_t count) const override {
    std::vector<at::Tensor> out;
    for (const at::Tensor& state : states_) out.push_back(state.narrow(1, first, count));
    return out;
  }

  std::unique_ptr<DepthTrack> track(TrackPath /*path*/) const override { throw no("track"); }
  at::Tensor final_norm(const at::Tensor& /*x*/) const override { throw no("final norm"); }
  at::Tensor logits(const at::Tensor& /*x*/) const override { throw no("logits"); }
  std::vector<at::Tensor> state_gradients(std::int64_t, std::int64_t) const override {
    throw no("gradients");
  }
  at::Tensor gate_times() const override { return {}; }
  std::vector<GateValues> gates(const at::Tensor& /*tau*/) const override { throw no("gates"); }
  GateRange gate_range() const override { throw no("gates"); }

 private:
  static Error no(const std::string& what) { return Error("given states have no " + what); }

  std::vector<at::Tensor> states_;
  at::Tensor times_;
  ProbeSet set_;
};

}  // namespace depthgrid::testing
