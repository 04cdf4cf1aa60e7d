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
constexpr std::uint64_t kDraws = 6;
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
constexpr std::array<double, kCells> kStepScales = {1, 0.5, 1.0 / 3, 1.5};

/// Some of the four cells, at the sizes of the twin.
ModelOptions options_of(const AuditRoom& room, const std::vector<std::size_t>& cells) {
  ModelOptions o = twin_of(room.subject().options(cells), kPassTwin);
  const bool mixes = !o.routing.gathered;
  if (!mixes) std::ranges::fill(o.routing.capacity, room.options().routing.capacity.front());
  for (std::size_t i = 0; i < cells.size(); ++i) o.residual.scale[i] *= kStepScales[cells[i]];
  return o;
}

constexpr double kFusedFlops = 4e11;  // at size, of all passes together
constexpr std::int64_t kFusedRows = 2;

constexpr double kFusedTolerance = 1e-5, kMixedFusedTolerance = 5e-2;

/// Whether cells of the structure itself see each other: what a step of the twin cannot show, as it
/// is smaller. Other tokens in every second cell must leave the bits of the others, and each alone
/// must give its logits to rounding: a product of several matrices may be summed in another order
/// than one. @return what differs; empty: nothing.
std::string apart_at_size(AuditRoom& room, double& worst) {
  AuditModel* several = room.several();
  if (several == nullptr || several->options().cells == 1) return "";
  const std::vector<std::size_t> cells = room.cells();
  const auto count = static_cast<std::int64_t>(cells.size());
  const double passes = 2 * static_cast<double>(kFusedRows * count) * 4;
  if (room.row_flops() * passes > kFusedFlops) return "";
  const bool mixed = room.subject().mixed;
  const std::vector<std::int64_t> sizes = {count, kFusedRows, room.tokens()};
  const at::Tensor text = audit_tokens(room.options().vocabulary, sizes, 61);
  const at::Tensor other = audit_tokens(room.options().vocabulary, sizes, 62);
  ForwardContext context{.control = audit_control(several->options(), text, 61)};
  std::array<at::Tensor, 2> fused;
  for (const bool training : {true, false}) {
    context.training = training;
    at::Tensor& own = fused[training ? 1 : 0];
    own = several->logits(text, context);
    for (std::int64_t changed = 0; changed < 2; ++changed) {
      at::Tensor beside = text.clone();
      for (std::int64_t e = changed; e < count; e += 2) beside[e].copy_(other[e]);
      const at::Tensor got = several->logits(beside, context);
      for (std::int64_t e = 1 - changed; e < count; e += 2) {
        if (same_bits(own[e], got[e])) continue;
        worst = largest_difference(own[e], got[e]);
        return fmt::format("cell {}: its logits at size depend on the cells beside it", e);
      }
    }
  }
  for (std::int64_t e = 0; e < count; ++e) {
    const auto cell = static_cast<std::size_t>(e);
    const AuditModel alone(room.subject(), room.one_of(cell), {room.subject().seed + cell},
                           mixed ? Arithmetic::Mixed : Arithmetic::Float32);
    for (const bool training : {true, false}) {
      ForwardContext own{.training = training, .control = context.control};
      if (own.control.u.defined()) own.control.u = own.control.u.narrow(0, e, 1);
      const at::Tensor expected = fused[training ? 1 : 0].narrow(0, e, 1);
      const double d = largest_difference(expected, alone.logits(text.narrow(0, e, 1), own));
      const double scale = std::max(1.0, expected.abs().max().item<double>());
      if (d <= scale * (mixed ? kMixedFusedTolerance : kFusedTolerance)) continue;
      worst = d;
      return fmt::format("cell {}: its logits at size differ alone and among {}", e, count);
    }
  }
  return "";
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

/// Removes from `silent` the parameters that get a gradient within three steps from these initial
/// weights, and adds to `wrong` those whose gradient is not finite.
void listen(AuditModel& twin, std::int64_t tokens, std::set<std::string>& silent,
            std::set<std::string>& wrong) {
  AuditTraining training(twin, {1e-3}, kGradientSteps);
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
}

}  // namespace

AuditResult check_gradient_flow(AuditRoom& room) {
  const std::int64_t tokens = std::min(room.tokens(), kDeepTwin.tokens);
  AuditModel twin = room.twin(kDeepTwin, {0});
  std::set<std::string> silent, wrong, declared;
  for (const ParameterSlot& slot : twin.layout().slots()) silent.insert(slot.spec.name);
  listen(twin, tokens, silent, wrong);
  std::set<std::string> possible;
  for (const DeadParameter& dead : twin.model().family().dead_parameters())
    possible.insert(dead.name);
  const auto undeclared = [&] { return !std::ranges::includes(possible, silent); };
  // A small network of rectifiers may be off at one draw of its weights, but not at several.
  for (std::uint64_t draw = 1; draw < kDraws && undeclared(); ++draw) {
    AuditModel again(room.subject(), twin.options(), {room.subject().seed + 1000 * draw});
    listen(again, tokens, silent, wrong);
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
  const std::string apart = apart_at_size(room, worst);
  if (!apart.empty()) return judged(false, worst, 0, apart);
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
