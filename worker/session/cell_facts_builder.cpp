#include "worker/session/cell_facts_builder.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/digest.hpp"
#include "core/base/nan.hpp"
#include "core/config/axis_labels.hpp"
#include "core/config/start_name.hpp"
#include "core/config/text_format.hpp"
#include "models/blocks/time_features.hpp"
#include "models/cost_model.hpp"
#include "models/layer_parameters.hpp"
#include "models/probed_model.hpp"
#include "sweeps/plan/structure_cost.hpp"
#include "sweeps/plan/team_size.hpp"
#include "worker/session/final_weights.hpp"
#include "worker/session/probe_tokens.hpp"

namespace depthgrid {
namespace {

std::vector<double> doubles(const at::Tensor& x) {
  const at::Tensor host = x.detach().cpu().to(at::kDouble).contiguous();
  const double* data = host.const_data_ptr<double>();
  return {data, data + host.numel()};
}

void set_grid(CellFacts& facts, const FusedModel& fused, std::size_t e) {
  const ModelOptions& o = fused.options;
  const bool shared = o.shared();
  const DepthGrid grid = fused.model->family().grid({});
  const std::int64_t steps = grid.steps(), replaced = o.flow.replaced();
  facts.set("n_depth", static_cast<double>(steps));
  facts.set("n_layer", static_cast<double>(layer_count(o)));
  facts.set(
      "train_field_evaluations",
      static_cast<double>(o.block_evaluations() + (replaced > 0 ? o.solver.evaluations() : 0)));
  facts.set("depth_time", doubles(grid.t.select(0, static_cast<std::int64_t>(e))));
  std::vector<double> blocks;
  for (std::int64_t i = 0; i < steps; ++i) {
    // A flow is one block, whose m steps cover the layers that it replaces.
    const std::int64_t inside =
        replaced > 0 ? std::clamp<std::int64_t>(i - o.flow.first + 1, 0, o.solver.steps) : 0;
    const bool flows = inside > 0 && i < o.flow.first + o.solver.steps;
    const std::int64_t block = flows ? o.flow.first : inside > 0 ? i + 1 - inside : i;
    blocks.push_back(shared ? 0.0 : static_cast<double>(block));
  }
  facts.set("depth_edge_time", depth_edges(o));
  facts.set("depth_layer", blocks);
  if (o.residual.kind == ScaleKind::Fixed) facts.set("residual_scale", residual_scales(fused, e));
  if (o.timed()) {
    facts.set("time_feature_rank",
              static_cast<double>(time_feature_rank(o.time, grid.t, static_cast<std::int64_t>(e))));
  }
}

/// Sequences per training pass.
std::int64_t rows_of(const FusedModel& fused) {
  return fused.train.batch / fused.train.accumulation;
}

/// Which of a family's modes see the future; nothing for families with one mode.
void set_declarations(CellFacts& facts, const FusedModel& fused) {
  const std::vector<DeclaredMode> modes = fused.model->family().modes();
  if (modes.size() < 2) return;
  std::vector<double> flags(kEvalModeNames.size(), -1);
  for (const DeclaredMode& mode : modes) {
    flags.at(label_index(kEvalModeNames, mode.name)) = mode.causal ? 0 : 1;
  }
  facts.set("eval_mode_noncausal", flags);
}

/// What the figures of each split are of: the first twelve digits of the digest of its ids, which a
/// float holds exactly, and the bytes of its text, where the ids keep these.
void set_splits(CellFacts& facts, const Dataset& data) {
  std::vector<double> digests, bytes;
  for (std::size_t s = 0; s < data.streams.size(); ++s) {
    const std::string& digest = data.split_sha256[s];
    digests.push_back(
        digest.empty() ? -1 : static_cast<double>(std::stoll(digest.substr(0, 12), nullptr, 16)));
    const std::int64_t kept = data.streams[s].bytes();
    bytes.push_back(kept > 0 ? static_cast<double>(kept) : -1);
  }
  facts.set("split_digest", digests);
  facts.set("split_bytes", bytes);
}

void set_predictions(CellFacts& facts, const RunContext& run, const CellPlan& cell,
                     std::int64_t parameters) {
  const StructureCost& cost = run.costs.at(cell.structure);
  const double seconds = predicted_cell_seconds(cell.config, cost);
  facts.set("predicted_wall_time", team_seconds(seconds, run.sync.ranks()));
  facts.set("predicted_bytes", predicted_stored_bytes(cell.config, parameters, cost.probes));
}

}  // namespace

void set_modes(CellFacts& facts, const ModeResults& modes, const FusedModel& fused, std::size_t e,
               std::int64_t tokens) {
  const std::size_t width = kEvalModeNames.size();
  const auto of_cell = [&](const std::vector<double>& all) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(e * width);
    return std::vector<double>(from, from + static_cast<std::ptrdiff_t>(width));
  };
  facts.set("final_loss_mode", of_cell(modes.loss));
  facts.set("final_executed_share", of_cell(modes.executed));
  const std::size_t dynamic = fused.options.routing.layers.size();
  const StudentFlops student = student_flops(fused.options, rows_of(fused), tokens);
  double sum = 0;  // of the costs as if all layers were like this one
  for (std::size_t i = 0; i < dynamic; ++i) sum += student.at(modes.student[e * dynamic + i]);
  if (std::isnan(sum)) return;  // its student was not evaluated: keep the prediction
  facts.set("cost_flops_token_executed", sum / static_cast<double>(dynamic));
}

std::vector<double> residual_scales(const FusedModel& fused, std::size_t e) {
  const DepthGrid grid = fused.model->family().grid({});
  return doubles(grid.h.select(0, static_cast<std::int64_t>(e)));
}

bool has_alpha(const ModelOptions& options) {
  return options.flow.replaced() > 0 && options.flow.field != FieldKind::Block;
}

double flow_alpha(const FusedModel& fused, std::size_t e) {
  const FlowOptions& flow = fused.options.flow;
  if (!has_alpha(fused.options)) return kNaN;
  if (!flow.alpha_learned) return flow.alpha[e];
  const std::int64_t at = fused.arena->layout().find("flow.alpha").offset;
  return fused.arena->values()[static_cast<std::int64_t>(e)][at].item<double>();
}

CellFacts static_facts(const RunContext& run, const CellPlan& cell, const FusedModel& fused,
                       std::size_t e, const Dataset& data, const Sampler& sampler) {
  const ModelOptions& o = fused.options;
  const ParameterLayout& layout = fused.arena->layout();
  CellFacts facts;
  std::vector<double> by_group;
  for (const std::int64_t n : layout.counts_by_group()) by_group.push_back(static_cast<double>(n));
  const auto stored = layout.size();
  facts.set("n_parameters", static_cast<double>(trainable_parameters(layout, fused.train.frozen)));
  facts.set("n_parameters_stored", static_cast<double>(stored));
  facts.set("n_parameters_effective", static_cast<double>(effective_parameters(o, layout)));
  facts.set("n_parameters_group", by_group);
  facts.set("n_position", static_cast<double>(sampler.seq_len()));
  set_grid(facts, fused, e);
  // A CPU has no tf32: its products are fp32.
  const bool tf32 = fused.train.precision == Precision::Tf32 && !o.device.is_cpu();
  const std::string_view dtype = fused.train.precision == Precision::Bf16 ? "bf16"
                                 : tf32                                   ? "tf32"
                                                                          : "fp32";
  facts.set("precision_settings",
            std::string_view(fmt::format("{} deterministic={} threads={} ranks={} device={}", dtype,
                                         run.sweep.run.flag("train.deterministic") ? "on" : "off",
                                         run.threads, run.sync.ranks(),
                                         o.device.is_cpu() ? "cpu" : "cuda")));
  facts.set("tokens_sha256", std::string_view(data.tokens_sha256));
  if (data.tokenizer) facts.set("text_rules", static_cast<double>(kTextRules));
  set_splits(facts, data);
  facts.set("probe_set_sha256", std::string_view(probe_set_digest(cell.config, data)));
  if (!data.variant.empty()) facts.set("corpus_variant", std::string_view(data.variant));
  facts.set("data_order_digest",
            std::string_view(data_order_digest(sampler, fused.train.data_seed[e], fused.train.steps,
                                               data.tokens_sha256, fused.train.first_step[e])));
  const std::int64_t rows = rows_of(fused), tokens = sampler.seq_len();
  facts.set("cost_flops_token", flops_per_token(o, rows, tokens));
  // Expected from its capacity, until an evaluation measures what is skipped.
  facts.set("cost_flops_token_executed",
            student_flops(o, rows, tokens).at(capacity_share(o, tokens, e)));
  set_declarations(facts, fused);
  facts.set("cost_memory_activations", activation_bytes(o, rows, sampler.seq_len()));
  const std::string start = start_identity(cell.config);
  if (!start.empty()) facts.set("start_weights", std::string_view(start));
  if (const auto source = start_cell(cell.config)) {
    facts.set("start_weights_sha256", std::string_view(last_weights_digest(run.store, *source)));
  }
  set_audit(facts, run.permit, cell.structure);
  set_predictions(facts, run, cell, stored);
  facts.library_versions = run.library_versions;
  return facts;
}

}  // namespace depthgrid
