#include "core/probe/gradients/gradients_probe.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>

namespace depthgrid {
namespace {

/// Norms of Jacobians cost hundreds of products.
constexpr std::int64_t kNormSequences = 4;

}  // namespace

GradientsProbe::GradientsProbe(const ProbeSubject& subject, ProbeSchedule schedule,
                               std::int64_t batch, const TrainingGradients* training, bool norms)
    : subject_(subject),
      schedule_(std::move(schedule)),
      batch_(batch),
      training_(training),
      norms_(norms) {}

void GradientsProbe::declare(RecordSink& out) {
  norm_ = out.declare({"gradient_norm_depth", {{.name = "depth", .length = subject_.depth()}}});
  if (subject_.has_adjoint()) adjoint_ = out.declare({"gradient_adjoint_error"});
  if (subject_.has_reversible()) {
    defect_ = out.declare({"reversible_defect"});
    undone_ = out.declare({"reversible_error"});
  }
  const bool field = norms_ && subject_.has_field();
  if (subject_.has_spectral_norm()) spectral_[0] = out.declare({"regulariser_spectral_norm"});
  if (subject_.has_spectral_norm() || field) {
    spectral_[1] = out.declare({"regulariser_spectral_norm_converged"});
  }
  if (subject_.has_log_norm()) log_[0] = out.declare({"regulariser_log_norm"});
  if (subject_.has_log_norm() || field) {
    log_[1] = out.declare({"regulariser_log_norm_converged"});
  }
  if (field) frobenius_ = out.declare({"regulariser_jacobian_frobenius"});
  if (norms_ && subject_.has_signal()) slope_ = out.declare({"regulariser_control_slope"});
  if (training_ == nullptr) return;
  const std::vector<SeriesAxis> layers = {{.name = "layer", .length = training_->layers()}};
  layer_ = out.declare({"gradient_norm_layer", layers});
  clipped_ = out.declare({"gradient_norm_layer_clipped", layers});
  vanished_ = out.declare({"gradient_vanish_count", layers});
  exploded_ = out.declare({"gradient_explode_count", layers});
  clips_ = out.declare({"gradient_clip_count"});
}

void GradientsProbe::write_training(RecordSink& out) const {
  for (std::size_t e = 0; e < static_cast<std::size_t>(subject_.cells()); ++e) {
    const TrainingGradients::Counts& counts = training_->counts(e);
    out.write(layer_, e, training_->norm(e));
    out.write(clipped_, e, training_->norm_clipped(e));
    out.write(vanished_, e, counts.vanished);
    out.write(exploded_, e, counts.exploded);
    out.write(clips_, e, std::span(&counts.clipped, 1));
  }
}

void GradientsProbe::write_mode(RecordSink& out) const {
  const std::int64_t count = std::min(batch_, subject_.set().sequences());
  const auto write = [&](std::size_t place, const at::Tensor& values) {
    if (!values.defined()) return;
    for (std::int64_t e = 0; e < values.size(0); ++e) {
      out.write(place, static_cast<std::size_t>(e),
                std::span(values.const_data_ptr<double>() + e, 1));
    }
  };
  if (subject_.has_adjoint() || subject_.has_reversible()) {
    const auto errors = subject_.gradient_mode_errors(0, count);
    write(adjoint_, errors.adjoint);
    write(defect_, errors.defect);
    write(undone_, errors.undone);
  }
  const bool spectral = subject_.has_spectral_norm(), log = subject_.has_log_norm();
  if (!spectral && !log && !norms_) return;
  const auto norms = subject_.regularised_norms(0, std::min(count, kNormSequences), norms_);
  write(spectral_[0], norms.spectral_estimate);
  write(log_[0], norms.log_estimate);
  if (spectral || norms_) write(spectral_[1], norms.spectral);
  if (log || norms_) write(log_[1], norms.log);
  if (norms_) write(frobenius_, norms.frobenius);
  if (norms_) write(slope_, norms.control_slope);
}

void GradientsProbe::measure(std::int64_t /*step*/, RecordSink& out) {
  const std::int64_t cells = subject_.cells(), depth = subject_.depth();
  const std::int64_t sequences = subject_.set().sequences();
  at::Tensor squares = at::zeros({cells, depth}, at::kDouble);
  for (std::int64_t first = 0; first < sequences; first += batch_) {
    const std::int64_t count = std::min(batch_, sequences - first);
    const std::vector<at::Tensor> gradients = subject_.state_gradients(first, count);
    for (std::int64_t l = 0; l < depth; ++l) {
      const at::Tensor& g = gradients[static_cast<std::size_t>(l + 1)];
      // One sequence after the other, so that the sum does not depend on `batch`.
      for (std::int64_t s = 0; s < count; ++s) {
        const at::Tensor one = g.select(1, s).to(at::kCPU, at::kDouble);
        squares.select(1, l).add_(one.square().sum({1, 2}));
      }
    }
  }
  for (std::int64_t e = 0; e < cells; ++e) {
    std::vector<double> norms;
    for (std::int64_t l = 0; l < depth; ++l) {
      const double sum = squares.const_data_ptr<double>()[e * depth + l];
      norms.push_back(std::sqrt(sum / static_cast<double>(sequences)));
    }
    out.write(norm_, static_cast<std::size_t>(e), norms);
  }
  write_mode(out);
  if (training_ != nullptr) write_training(out);
}

}  // namespace depthgrid
