#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>

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

}  // namespace

AuditResult check_gradient_flow(AuditRoom& room) {
  AuditModel twin = room.twin(kPassTwin);
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

}  // namespace depthgrid
