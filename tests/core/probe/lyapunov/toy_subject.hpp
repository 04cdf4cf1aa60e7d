#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/ops/zeros.h>

#include "core/probe/probe_subject.hpp"
#include "tests/core/probe/lyapunov/toy_maps.hpp"

namespace depthgrid::testing {

/// The layers of a toy as a job whose states begin at `start`.
class ToySubject : public ProbeSubject {
 public:
  /// @param start  (E, B, T, C). @param times  (E, L + 1)
  ToySubject(CausalToy toy, at::Tensor start, at::Tensor times)
      : toy_(std::move(toy)), start_(std::move(start)), times_(std::move(times)) {
    set_.windows = at::zeros({start_.size(1), start_.size(2) + 1}, at::kLong);
  }

  std::int64_t cells() const override { return start_.size(0); }
  std::int64_t depth() const override { return static_cast<std::int64_t>(toy_.own.size()); }
  at::Tensor edge_times() const override { return times_; }
  const ProbeSet& set() const override { return set_; }

  std::vector<at::Tensor> states(std::int64_t first, std::int64_t count) const override {
    std::vector<at::Tensor> all = {start_.narrow(1, first, count)};
    for (std::size_t l = 0; l < toy_.own.size(); ++l) all.push_back(toy_.layer(l, all.back()));
    return all;
  }

  std::unique_ptr<DepthTrack> track(TrackPath) const override {
    return std::make_unique<Track>(toy_);
  }

  /// Layer norm.
  at::Tensor final_norm(const at::Tensor& x) const override {
    const at::Tensor centred = x - x.mean(-1, true);
    return centred * (centred.square().mean(-1, true) + 1e-5).rsqrt();
  }

  at::Tensor logits(const at::Tensor& x) const override { return x; }
  std::vector<at::Tensor> state_gradients(std::int64_t, std::int64_t) const override { return {}; }
  at::Tensor gate_times() const override { return {}; }
  std::vector<GateValues> gates(const at::Tensor&) const override { return {}; }
  GateRange gate_range() const override { return {}; }

  const CausalToy& toy() const { return toy_; }

 private:
  struct Track final : DepthTrack {
    explicit Track(const CausalToy& t) : toy(t) {}
    at::Tensor advance(const at::Tensor& x0, std::int64_t from, std::int64_t to) const override {
      at::Tensor x = x0;
      for (std::int64_t l = from; l < to; ++l) x = toy.layer(static_cast<std::size_t>(l), x);
      return x;
    }
    const CausalToy& toy;
  };

  CausalToy toy_;
  at::Tensor start_, times_;
  ProbeSet set_;
};

}  // namespace depthgrid::testing
