#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include "core/base/nan.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audit_training.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kGradientRows = 8;
constexpr std::int64_t kGradientSteps = 3;  // after one update, gradients also pass initial zeros
constexpr std::size_t kNamed = 3;

/// "a, b, c and 4 more"
std::string listed(const std::set<std::string>& names) {
  std::string text;
  std::size_t n = 0;
  for (const std::string& name : names) {
    if (n++ == kNamed) break;
    text += (text.empty() ? "" : ", ") + name;
  }
  return names.size() <= kNamed ? text : fmt::format("{} and {} more", text, names.size() - kNamed);
}

constexpr std::int64_t kCells = 4;
constexpr std::int64_t kFusionRows = 3;
constexpr std::int64_t kFusionSteps = 2;
constexpr std::size_t kPoisoned = 1;
constexpr std::array<double, kCells> kRates = {1e-3, 3e-3, 1e-2, 5e-4};
constexpr std::array<double, kCells> kScales = {1, 0.5, 1.0 / 3, 1.5};

/// Some of the four cells, at the sizes of the twin.
ModelOptions options_of(const AuditRoom& room, const std::vector<std::size_t>& cells) {
  ModelOptions o =
      twin_of(room.subject().options(static_cast<std::int64_t>(cells.size())), kPassTwin);
  for (std::size_t i = 0; i < cells.size(); ++i) o.residual.scale[i] *= kScales[cells[i]];
  return o;
}

/// Losses and gradients of two steps and the weights after them, side by side. @return (E, n)
at::Tensor trace(const AuditRoom& room, const std::vector<std::size_t>& cells, bool poison) {
  std::vector<std::uint64_t> seeds;
  std::vector<double> rates;
  for (const std::size_t c : cells) {
    seeds.push_back(room.subject().seed + c);
    rates.push_back(kRates[c]);
  }
  AuditModel model(room.subject(), options_of(room, cells), seeds);
  if (poison) {
    model.arena().values().select(0, kPoisoned).fill_(kNaN);
  }
  AuditTraining training(model, rates, kFusionSteps);
  const std::int64_t tokens = std::min(room.tokens(), kPassTwin.tokens);
  const auto count = static_cast<std::int64_t>(cells.size());
  std::vector<at::Tensor> seen;
  for (std::int64_t step = 1; step <= kFusionSteps; ++step) {
    const at::Tensor windows =
        audit_tokens(model.options().vocabulary, {1, kFusionRows, tokens + 1},
                     50 + static_cast<std::uint64_t>(step));
    seen.push_back(
        training.backward(windows.expand({count, kFusionRows, tokens + 1}), step).unsqueeze(1));
    seen.push_back(model.arena().gradients().clone());
    training.update(step);
  }
  seen.push_back(model.arena().values().clone());
  return at::cat(seen, 1);
}

}  // namespace

AuditResult check_gradient_flow(AuditRoom& room) {
  AuditModel twin = room.twin();
  AuditTraining training(twin, {1e-3}, kGradientSteps);
  const std::int64_t tokens = std::min(room.tokens(), kPassTwin.tokens);
  std::set<std::string> silent, wrong, declared;
  for (const ParameterSlot& slot : twin.layout().slots()) silent.insert(slot.spec.name);
  for (std::int64_t step = 1; step <= kGradientSteps; ++step) {
    const at::Tensor windows =
        audit_tokens(twin.options().vocabulary, {1, kGradientRows, tokens + 1},
                     static_cast<std::uint64_t>(step));
    training.backward(windows, step);
    for (const ParameterSlot& slot : twin.layout().slots()) {
      const double most = slot_view(twin.arena().gradients(), slot).abs().max().item<double>();
      if (!std::isfinite(most)) wrong.insert(slot.spec.name);
      if (most > 0) silent.erase(slot.spec.name);
    }
    training.update(step);
  }
  for (const DeadParameter& dead : twin.model().family().dead_parameters()) {
    if (silent.erase(dead.name) > 0) declared.insert(dead.name + " (" + dead.reason + ")");
  }
  std::string note = fmt::format("tensors of {}", twin.layout().slots().size());
  if (!wrong.empty()) note = "not finite: " + listed(wrong);
  if (!silent.empty()) note += "; without gradient: " + listed(silent);
  if (!declared.empty()) note += "; dead as declared: " + listed(declared);
  silent.insert(wrong.begin(), wrong.end());
  return judged(silent.empty(), static_cast<double>(silent.size()), 0, note);
}

AuditResult check_fusion(AuditRoom& room) {
  const std::vector<std::size_t> all = {0, 1, 2, 3};
  const at::Tensor fused = trace(room, all, false);
  double worst = 0;
  bool same = true;
  std::string note =
      fmt::format("{} cells, {} steps, and beside a cell of NaN", kCells, kFusionSteps);
  const auto compare = [&](const at::Tensor& got, std::size_t e, const char* what) {
    const at::Tensor expected = fused[static_cast<std::int64_t>(e)];
    if (same_bits(expected, got)) return;
    if (same) note = fmt::format("cell {}: {}", e, what);
    same = false;
    const double d = largest_difference(expected, got);
    worst = std::isnan(d) ? d : std::max(worst, d);
  };
  for (const std::size_t e : all) {
    compare(trace(room, {e}, false)[0], e, "its numbers differ alone and fused");
  }
  const at::Tensor poisoned = trace(room, all, true);
  for (const std::size_t e : all) {
    if (e == kPoisoned) continue;
    compare(poisoned[static_cast<std::int64_t>(e)], e, "a neighbour's NaN changes its numbers");
  }
  return judged(same, worst, 0, note);
}

}  // namespace depthgrid
