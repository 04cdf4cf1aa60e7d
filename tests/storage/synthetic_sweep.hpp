#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "storage/cells/cell_file.hpp"
#include "storage/cells/probe_record.hpp"
#include "storage/files/journal.hpp"
#include "storage/plan_file.hpp"
#include "storage/plan_sequence.hpp"
#include "storage/store.hpp"
#include "tests/support/cell_identity.hpp"

namespace depthgrid {

/// A small sweep made by hand: one cell for each pair of learning rate and seed.
inline Sweep synthetic_sweep(const std::vector<double>& rates, std::int64_t seeds = 1,
                             const ValueMap& more = {}) {
  Sweep out;
  out.name = "synthetic";
  out.description = "cells of known numbers";
  out.method = "grid";
  out.metric = "eval_loss.valid";
  out.goal = "minimize";
  out.yaml = "name: synthetic\n";
  out.file = "synthetic.yaml";
  out.id = "0123456789abcdef";
  out.order = "file";
  out.seeds = seeds;
  for (const double rate : rates) {
    for (std::int64_t seed = 0; seed < seeds; ++seed) {
      ValueMap leaves = more;
      leaves.emplace_back("train.lr", rate);
      leaves.emplace_back("seed", seed);
      sort_map(leaves);
      CellPlan cell;
      cell.config = make_config(leaves);
      cell.id = cell_id(cell.config);
      cell.arm = "lr=" + shortest(rate);
      cell.alias = cell.arm + ",s" + std::to_string(seed);
      cell.row = static_cast<std::int64_t>(out.cells.size());
      cell.replicate = seed;
      cell.seed = seed;
      cell.baseline = rate == rates.front();
      cell.structure = structure_key(cell.config);
      cell.overrides.emplace_back("train.lr", rate);
      out.cells.push_back(cell);
    }
  }
  out.baseline_arm = out.cells.front().arm;
  return out;
}

/// Number that the journals of a synthetic cell hold: known from cell and step alone.
inline double synthetic_loss(std::int64_t row, std::int64_t step) {
  return 8.0 - 0.5 * static_cast<double>(row) - static_cast<double>(step) / 64.0;
}

inline std::vector<RowKind> synthetic_kinds() {
  return {{"train", {{"train_loss", 1}, {"train_tokens", 1}, {"train_grad_norm_group", 17}}},
          {"eval", {{"eval_loss", 4}, {"eval_tokens", 4}, {"eval_loss_position", 8}}},
          {"cell", {{"final_loss", 4}, {"train_loss_last50", 1}}}};
}

/// Appends the journal of one attempt: training steps first+1 ... last, an evaluation each 5 steps.
inline void write_attempt(const std::filesystem::path& folder, std::int64_t row,
                          std::int64_t generation, std::int64_t first, std::int64_t last,
                          bool ended) {
  const double nan = std::nan("");
  Journal journal(
      folder / generation_name("journal", generation),
      {generation, first, synthetic_kinds(),
       R"({"job":"job1","cells":2,"ranks":1,"host":"node)" + std::to_string(generation) +
           R"(","device":"cpu","start":1700000000.5,"code_version":"0.1.0+abc",)" +
           R"("environment":{"OMP_NUM_THREADS":"1"}})"});
  for (std::int64_t step = first + 1; step <= last; ++step) {
    std::vector<double> train = {synthetic_loss(row, step), static_cast<double>(step * 1024)};
    for (int group = 0; group < 17; ++group) train.push_back(group + static_cast<double>(step));
    journal.append(0, step, train);
    if (step % 5 != 0) continue;
    const double loss = synthetic_loss(row, step) + 0.25;
    std::vector<double> eval = {nan, nan, loss, nan, nan, nan, 2048, nan};
    for (int i = 0; i < 8; ++i) eval.push_back(i);
    journal.append(1, step, eval);
  }
  journal.event(last, EventKind::Checkpoint, 0, "checkpoint at " + std::to_string(last));
  if (ended) {
    journal.append(2, last,
                   std::vector<double>{nan, nan, 1.5 + static_cast<double>(row), nan, 2.5});
    journal.end(AttemptOutcome::Done, 0);
  }
}

inline CellFacts synthetic_facts() {
  CellFacts out;
  out.set("n_parameters", 4902912);
  std::vector<double> groups(17, 0.0);
  groups[0] = 100;
  out.set("n_parameters_group", groups);
  out.set("depth_time", std::vector<double>{0.5, 1.0});
  out.set("depth_edge_time", std::vector<double>{0, 0.5, 1.0});
  out.set("residual_scale", std::vector<double>{0.5, 0.5});
  out.set("cost_wall_time", 12.5);
  out.set("tokens_sha256", std::string_view("feed"));
  out.set("split_digest", std::vector<double>{-1, -1, 281474976710655, -1});
  out.set("split_bytes", std::vector<double>{-1, -1, 4096, -1});
  out.library_versions = R"({"libtorch":"2.11.0"})";
  return out;
}

/// Publishes looks at stored weights of a cell. @return  the file.
inline std::filesystem::path publish_synthetic_probe_record(const Store& store,
                                                            const StoredPlan& plan, std::size_t row,
                                                            const RowLayout& layout,
                                                            const RowTable& rows,
                                                            const char* probes = "lyapunov") {
  return publish_probe_record(store.cell_dir(plan.cells[row].id), {.plan = plan.cells[row],
                                                                   .sweep = plan,
                                                                   .layout = layout,
                                                                   .rows = rows,
                                                                   .probes = probes,
                                                                   .settings = "{}",
                                                                   .command = "depthgrid probe"});
}

/// Trains a synthetic cell from nothing to its sealed result.
inline void finish_cell(const Store& store, const StoredPlan& plan, std::size_t row,
                        std::int64_t steps, CellStatus status = CellStatus::Completed) {
  const auto folder = store.cell_dir(plan.cells[row].id);
  write_attempt(folder, static_cast<std::int64_t>(row), 1, 0, steps, true);
  const CellHistory history = read_history(folder);
  publish_result(folder, {.plan = plan.cells[row],
                          .sweep = plan,
                          .history = history,
                          .status = status,
                          .facts = synthetic_facts()});
}

}  // namespace depthgrid
