#include "core/config/sweep.hpp"

#include <algorithm>
#include <optional>

#include "core/base/digest.hpp"
#include "core/base/grouped.hpp"
#include "core/config/schema.hpp"
#include "core/config/sweep/cell_collector.hpp"
#include "core/config/sweep/cell_counter.hpp"
#include "core/config/sweep/composed.hpp"
#include "core/config/sweep/leaf_sources.hpp"
#include "core/config/sweep/overrides.hpp"
#include "core/config/sweep/sweep_reader.hpp"

namespace depthgrid {
namespace {

constexpr std::uint64_t kManyCells = 10000;

/// Fisher–Yates over splitmix64: the same order on every machine.
/// Source: Steele, Lea & Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
void shuffle(std::vector<CellPlan>& cells, std::uint64_t state) {
  const auto next = [&state] {
    state += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  };
  for (std::size_t i = cells.size(); i > 1; --i) std::swap(cells[i - 1], cells[next() % i]);
}

std::string sweep_id(const Sweep& sweep) {
  ValueList cells;
  for (const CellPlan& cell : sweep.cells) {
    cells.push_back(ValueList{Value(cell.id), Value(cell.alias), Value(cell.baseline)});
  }
  ValueMap map = {{"cells", std::move(cells)},
                  {"goal", sweep.goal},
                  {"method", sweep.method},
                  {"metric", sweep.metric},
                  {"name", sweep.name}};
  return hex(sha256(canonical_json(Value(std::move(map)))), 16);
}

/// The default metric is the final loss, over the whole split. Without it the last of the periodic
/// evaluations must do, which examine few windows.
std::string metric_of(const SweepDocument& document, const std::optional<Slots>& first) {
  if (document.metric_place || !first) return document.metric;
  return first->has_word(leaf_rows().final_splits, "valid") ? document.metric : "eval_loss.valid";
}

/// A metric that a file asks for must be evaluated.
void check_metric(const SweepDocument& document, const Slots& slots, Diagnostics& diagnostics) {
  if (!document.metric_place) return;
  const auto dot = document.metric.find('.');
  if (dot == std::string::npos) return;
  const bool final = document.metric.starts_with("final_");
  const std::size_t list = final ? leaf_rows().final_splits : leaf_rows().splits;
  if (!slots.has_word(list, document.metric.substr(dot + 1))) {
    diagnostics.error(*document.metric_place, "`metric.name`: " + document.metric + " needs " +
                                                  document.metric.substr(dot + 1) + " in `" +
                                                  std::string(schema()[list].path) + "`");
  }
}

void limit_size(const SweepDocument& document, const SweepRequest& request,
                Diagnostics& diagnostics) {
  const std::uint64_t combinations = count_combinations(document);
  const auto most = static_cast<std::uint64_t>(document.max_cells);
  if (combinations > most) {
    const bool saturated = combinations == std::numeric_limits<std::uint64_t>::max();
    diagnostics.error(document.place, "the grid has " + std::string(saturated ? "at least " : "") +
                                          grouped(combinations) +
                                          " combinations, more than `max_cells` (" + grouped(most) +
                                          ")");
  } else if (combinations > kManyCells && !request.yes && document.exclude.empty()) {
    diagnostics.error(document.place, "this sweep has " + grouped(combinations) +
                                          " cells; more than 10,000 need --yes");
  }
}

/// "; the tags of its rows are a, b", or nothing.
std::string tags_of_rows(const SweepDocument& document) {
  std::string out;
  for (const IncludeRow& row : document.include) {
    if (!row.tag.empty()) out += (out.empty() ? "" : ", ") + row.tag;
  }
  return out.empty() ? out : "; the tags of its rows are " + out;
}

/// What became of the grid. @param collector  a CellCollector or a CellCounter.
template <class Collector>
void check_outcome(const SweepDocument& document, const Collector& collector, std::uint64_t limit,
                   Diagnostics& diagnostics) {
  if (collector.too_many()) {
    diagnostics.error(document.place,
                      limit > kManyCells || document.max_cells <= static_cast<std::int64_t>(limit)
                          ? "the grid has more cells than `max_cells` (" + grouped(limit) + ")"
                          : "this sweep has more than 10,000 cells: that needs --yes");
  } else if (diagnostics.failed()) {
    return;
  } else if (collector.size() == 0) {
    diagnostics.error(document.place, "the grid has zero cells: `exclude` drops all of them");
  } else if (!collector.found_baseline() && document.baseline) {
    diagnostics.error(document.baseline->place,
                      "`baseline` names no cell of the sweep" + tags_of_rows(document));
  } else if (!collector.found_baseline()) {
    diagnostics.note(document.place, "the baseline (first level of each factor) is excluded");
  }
}

/// A sweep file, read and checked as far as one can without its grid.
struct ReadSweep {
  /// @throws SweepErrors if the grid cannot be expanded.
  ReadSweep(const SweepRequest& request, Diagnostics& diagnostics)
      : pool(std::make_shared<ValuePool>()) {
    SweepReader reader(*pool, diagnostics);
    document = reader.read(request.file);
    apply_overrides(request.set, reader, document, *pool, diagnostics);
    check_document(document, diagnostics);
    text = composed_heading(request) + composed_yaml(document);
    // Counted before the grid takes any memory.
    const std::size_t before = diagnostics.errors();
    limit_size(document, request, diagnostics);
    if (diagnostics.errors() > before) diagnostics.throw_if_failed();
    if (!reader.complete()) diagnostics.throw_if_failed();
    const std::size_t typed = diagnostics.errors();
    fill_ranges(document, *pool, diagnostics);
    if (diagnostics.errors() > typed) diagnostics.throw_if_failed();
    const auto most = static_cast<std::uint64_t>(document.max_cells);
    limit = request.yes ? most : std::min(most, kManyCells);
  }

  std::shared_ptr<ValuePool> pool;
  SweepDocument document;
  std::string text;         // composed_yaml()
  std::uint64_t limit = 0;  // most cells
};

}  // namespace

std::optional<SweepSize> count_sweep(const SweepRequest& request) {
  Diagnostics diagnostics;
  const ReadSweep read(request, diagnostics);
  const SweepDocument& document = read.document;
  if (!document.match.empty()) return std::nullopt;
  Resolver resolver(read.pool, diagnostics);
  Grid grid(document, resolver, diagnostics);
  CellCounter counter(document, grid, *read.pool, diagnostics, read.limit);
  std::optional<Slots> first;
  grid.walk([&](const Arm& arm, const Slots& slots) {
    if (!first) first = slots;
    return counter.take(arm, slots);
  });
  if (!counter.conclusive()) return std::nullopt;
  if (first) check_metric(document, *first, diagnostics);
  if (first) resolver.finish(*first);
  check_outcome(document, counter, read.limit, diagnostics);
  diagnostics.throw_if_failed();
  return SweepSize{.name = document.name,
                   .file = request.file.string(),
                   .cells = counter.size(),
                   .structures = counter.structures(),
                   .notes = diagnostics.notes()};
}

Sweep load_sweep(const SweepRequest& request) {
  Diagnostics diagnostics;
  ReadSweep read(request, diagnostics);
  const SweepDocument& document = read.document;
  Resolver resolver(read.pool, diagnostics);
  Grid grid(document, resolver, diagnostics);
  const std::uint64_t limit = read.limit;
  CellCollector collector(document, grid, resolver, diagnostics, request, limit);
  std::optional<Slots> first;
  std::map<std::string, std::vector<LeafSource>> origins;
  grid.walk([&](const Arm& arm, const Slots& slots) {
    if (!first) first = slots;
    const std::size_t known = collector.cells.size();
    const bool go_on = collector.take(arm, slots);
    if (request.leaf_sources && collector.cells.size() > known) {
      origins[collector.cells.back().arm] = leaf_sources(slots, document, diagnostics);
    }
    return go_on;
  });
  if (!diagnostics.failed()) collector.matching.finish();
  if (!diagnostics.failed() && !collector.too_many()) collector.finish();
  if (first) check_metric(document, *first, diagnostics);
  if (first) resolver.finish(*first);
  check_outcome(document, collector, limit, diagnostics);
  diagnostics.throw_if_failed();

  Sweep sweep;
  sweep.name = document.name;
  sweep.description = document.description;
  sweep.method = document.method;
  sweep.metric = metric_of(document, first);
  sweep.goal = document.goal;
  sweep.yaml = std::move(read.text);
  sweep.file = request.file.string();
  sweep.order = document.shuffle ? "shuffled(" + std::to_string(*document.shuffle) + ")" : "file";
  sweep.tags = document.tags;
  sweep.seeds = static_cast<std::int64_t>(document.seeds.size());
  sweep.cells = std::move(collector.cells);
  sweep.matched = std::move(collector.matching.taken);
  sweep.goals = std::move(collector.matching.goals);
  sweep.starts = std::move(collector.starts);
  sweep.run = sweep.cells.front().config;
  for (const CellPlan& cell : sweep.cells) {
    if (cell.baseline) sweep.baseline_arm = cell.arm;
  }
  if (document.shuffle) shuffle(sweep.cells, *document.shuffle);
  for (std::size_t i = 0; i < sweep.cells.size(); ++i) {
    sweep.cells[i].row = static_cast<std::int64_t>(i);
  }
  sweep.notes = diagnostics.notes();
  sweep.sources = diagnostics.sources();
  sweep.leaf_sources = std::move(origins);
  sweep.id = sweep_id(sweep);
  return sweep;
}

}  // namespace depthgrid
