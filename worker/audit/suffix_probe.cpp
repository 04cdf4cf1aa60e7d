#include "worker/audit/suffix_probe.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>

#include "core/base/nan.hpp"

namespace depthgrid {
namespace {

constexpr std::uint64_t kKey = 11, kOrderKey = 5000;
constexpr std::int64_t kEnds = 3;

/// Adds the comparison of two passes. @param cut  (E, B) first changed token.
void compare_passes(SuffixEffect& effect, const AuditedPass& a, const AuditedPass& b,
                    const at::Tensor& cut, double tolerance, bool decisions) {
  const at::Tensor place = at::arange(a.logits.size(2), at::kLong);
  const at::Tensor early = place.lt(cut.unsqueeze(2));  // (E, B, T)
  effect.after =
      effect.after ||
      changed_tokens(a.logits, b.logits, 0).logical_and(early.logical_not()).any().item<bool>();
  const std::vector<PassQuantity> before = quantities_of(a, decisions);
  const std::vector<PassQuantity> later = quantities_of(b, decisions);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const at::Tensor &x = before[i].values, &y = later[i].values;
    const at::Tensor wrong = changed_tokens(x, y, tolerance).logical_and(early);
    if (!wrong.any().item<bool>()) continue;
    at::Tensor mask = wrong;
    while (mask.dim() < x.dim()) mask = mask.unsqueeze(-1);
    const at::Tensor change = at::where(mask, (x - y).abs(), at::full({}, 0.0, x.options()));
    const double most = change.isnan().any().item<bool>() ? kNaN : change.max().item<double>();
    effect.before = std::isnan(most) ? most : std::max(effect.before, most);
    const at::Tensor rows = wrong.any(2);
    const at::Tensor cuts = at::where(rows, cut, at::full({}, a.logits.size(2), cut.options()));
    const auto first = cuts.min().item<std::int64_t>();
    if (effect.same || first < effect.cut) {
      effect.cut = first;
      effect.cell = cuts.argmin().item<std::int64_t>() / cuts.size(1);
      effect.what = before[i].name;
    }
    effect.same = false;
  }
}

void note_shares(SuffixEffect& effect, const RoutingRecord& record) {
  if (record.layers.empty()) return;
  at::Tensor share;  // (E)
  for (const LayerRouting& layer : record.layers) {
    const at::Tensor one = layer.executed.to(at::kDouble).mean({1, 2});
    share = share.defined() ? share + one : one;
  }
  share = share / static_cast<double>(record.layers.size());
  effect.least = std::min(effect.least, share.min().item<double>());
  effect.most = std::max(effect.most, share.max().item<double>());
}

}  // namespace

std::vector<std::int64_t> all_cuts(std::int64_t tokens) {
  return some_cuts(tokens, tokens);
}

std::vector<std::int64_t> some_cuts(std::int64_t tokens, std::int64_t most) {
  const std::int64_t last = tokens - 1;
  std::set<std::int64_t> cuts;
  const auto add = [&](std::int64_t cut) {
    if (cut >= 1 && cut <= last && static_cast<std::int64_t>(cuts.size()) < most) cuts.insert(cut);
  };
  for (std::int64_t i = 0; i < kEnds; ++i) {
    add(last - i);
    add(1 + i);
  }
  const std::int64_t rest = std::min(most, last) - static_cast<std::int64_t>(cuts.size());
  for (std::int64_t i = 1; i <= rest; ++i) add(1 + i * (last - 1) / (rest + 1));
  for (std::int64_t cut = 1; cut <= last; ++cut) add(cut);
  return {cuts.begin(), cuts.end()};
}

SuffixEffect change_suffixes(const AuditModel& model, std::int64_t tokens,
                             const ForwardContext& context, const SuffixPlan& plan, bool held) {
  const ModelOptions& o = model.options();
  const auto count = static_cast<std::int64_t>(plan.cuts.size());
  const std::int64_t slots = plan.dealt ? (count + o.cells - 1) / o.cells : count;
  const auto turn = static_cast<std::int64_t>(plan.turn);
  std::vector<at::Tensor> order;  // of the slots, for each cell
  for (std::int64_t e = 0; e < o.cells; ++e) {
    at::Generator random = at::make_generator<at::CPUGeneratorImpl>(kOrderKey + plan.turn * 1000 +
                                                                    static_cast<std::uint64_t>(e));
    order.push_back(at::randperm(slots, random, at::kLong));
  }
  SuffixEffect effect;
  std::size_t number = 0;
  bool recorded = true, routes = true;
  for (std::int64_t first = 0; first < slots; first += plan.rows, ++number) {
    const std::int64_t rows = std::min(plan.rows, slots - first);
    std::vector<std::int64_t> cuts;  // (E, rows), T: nothing changes
    for (std::int64_t e = 0; e < o.cells; ++e) {
      const std::int64_t* const slot =
          order[static_cast<std::size_t>(e)].const_data_ptr<std::int64_t>();
      for (std::int64_t r = first; r < first + rows; ++r) {
        const std::int64_t i = plan.dealt ? slot[r] * o.cells + (e + turn) % o.cells : slot[r];
        cuts.push_back(i < count ? plan.cuts[static_cast<std::size_t>(i)] : tokens);
      }
    }
    const at::Tensor cut = at::tensor(cuts, at::kLong).view({o.cells, rows});
    const auto key = kKey + 3 * (static_cast<std::uint64_t>(first) + 1000 * plan.turn);
    const std::vector<std::int64_t> sizes = {o.cells, rows, tokens};
    const at::Tensor unchanged = audit_tokens(o.vocabulary, sizes, key);
    const at::Tensor shift = 1 + audit_tokens(o.vocabulary - 1, sizes, key + 1);
    const at::Tensor late = at::arange(tokens, at::kLong).ge(cut.unsqueeze(2));
    const at::Tensor changed = at::where(late, (unchanged + shift) % o.vocabulary, unchanged);
    ForwardContext was = context;
    was.step = audited_step(plan.turn + number);
    was.control = audit_control(o, unchanged, key);
    if (held) was = with_held_masks(model, unchanged, was).value_or(was);
    ForwardContext now = was;
    if (was.control.u.defined() && !o.control.as_prefix) {
      now.control.u =
          at::where(late.unsqueeze(3), audit_control(o, unchanged, key + 2).u, was.control.u);
    }
    const AuditedPass a = audited_pass(model, unchanged, was, recorded);
    note_shares(effect, a.record);
    compare_passes(effect, a, audited_pass(model, changed, now, recorded), cut, plan.tolerance,
                   !held);
    if (recorded) routes = !a.record.layers.empty();
    recorded = routes || !recorded;
  }
  return effect;
}

}  // namespace depthgrid
