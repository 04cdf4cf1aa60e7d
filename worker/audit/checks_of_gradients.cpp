#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <ATen/TensorOperators.h>

#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audit_training.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kGradientRows = 8;
constexpr std::int64_t kGradientSteps = 3;  // after one update, gradients also pass initial zeros
constexpr std::array<std::int64_t, 2> kLateSteps = {4002, 2147483647};
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

/// What a training has shown about the gradients of each tensor.
struct GradientRecord {
  /// Without gradient so far: in any of the first steps; in each of the late ones.
  std::vector<std::set<std::string>> silent;
  std::set<std::string> wrong;  // not finite

  explicit GradientRecord(const ParameterLayout& layout) : silent(1 + kLateSteps.size()) {
    for (const ParameterSlot& slot : layout.slots()) {
      for (std::set<std::string>& names : silent) names.insert(slot.spec.name);
    }
  }

  /// All that were silent at some time.
  std::set<std::string> all() const {
    std::set<std::string> out;
    for (const std::set<std::string>& names : silent) out.insert(names.begin(), names.end());
    return out;
  }
};

/// Records the gradients of the first steps from these initial weights, and, with the weights after
/// them, to late ones.
void record_gradients(AuditModel& twin, std::int64_t tokens, GradientRecord& record) {
  AuditTraining training(twin, {1e-3}, kGradientSteps);
  const auto measure = [&](std::int64_t step, std::uint64_t key, std::set<std::string>& silent) {
    const at::Tensor windows =
        audit_tokens(twin.options().vocabulary, {1, kGradientRows, tokens + 1}, key);
    training.backward(windows, step, true);
    for (const ParameterSlot& slot : twin.layout().slots()) {
      const double most = slot_view(twin.arena().gradients(), slot).abs().max().item<double>();
      if (!std::isfinite(most)) record.wrong.insert(slot.spec.name);
      if (most > 0) silent.erase(slot.spec.name);
    }
  };
  std::uint64_t key = 1;
  for (std::int64_t step = 1; step <= kGradientSteps; ++step) {
    measure(step, key++, record.silent.front());
    training.update(step);
  }
  for (std::size_t i = 0; i < kLateSteps.size(); ++i) {
    twin.arena().zero_gradients();
    measure(kLateSteps[i], key++, record.silent[1 + i]);
  }
}

}  // namespace

AuditResult check_gradient_flow(AuditModels& models) {
  const std::int64_t tokens = std::min(models.tokens(), kDeepTwin.tokens);
  AuditModel twin = models.twin(kDeepTwin, {0}, {});
  GradientRecord record(twin.layout());
  record_gradients(twin, tokens, record);
  std::set<std::string> declared, possible;
  for (const DeadParameter& dead : twin.model().dead_parameters()) possible.insert(dead.name);
  const auto undeclared = [&](const GradientRecord& h) {
    return !std::ranges::includes(possible, h.all());
  };
  // A small network of rectifiers may be off at one draw of its weights, but not at several.
  const auto again = [&](GradientRecord& h, Arithmetic arithmetic) {
    for (std::uint64_t draw = 1; draw < kDraws && undeclared(h); ++draw) {
      AuditModel other(models.subject(), twin.options(), {models.subject().seed + 1000 * draw},
                       {.arithmetic = arithmetic});
      record_gradients(other, tokens, h);
    }
  };
  again(record, Arithmetic::Float32);
  std::set<std::string> silent = record.all(), wrong = record.wrong;
  if (models.subject().mixed) {
    GradientRecord mixed(twin.layout());
    again(mixed, Arithmetic::Mixed);
    const std::set<std::string> more = mixed.all();
    silent.insert(more.begin(), more.end());
    wrong.insert(mixed.wrong.begin(), mixed.wrong.end());
  }
  for (const DeadParameter& dead : twin.model().dead_parameters()) {
    if (silent.erase(dead.name) > 0) declared.insert(dead.name + " (" + dead.reason + ")");
  }
  std::string note = fmt::format("tensors of {}, in cell 0 of the twin, at first and late steps",
                                 twin.layout().slots().size());
  if (!wrong.empty()) note = "not finite: " + listed(wrong);
  if (!silent.empty()) note += "; without gradient: " + listed(silent);
  if (!declared.empty()) note += "; dead as declared: " + listed(declared);
  silent.insert(wrong.begin(), wrong.end());
  return judged(silent.empty(), static_cast<double>(silent.size()), 0, note);
}

}  // namespace depthgrid
