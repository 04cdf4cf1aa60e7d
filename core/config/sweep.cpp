#include "core/config/sweep.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "core/base/digest.hpp"
#include "core/config/grid.hpp"
#include "core/config/identity_text.hpp"
#include "core/config/matching.hpp"
#include "core/config/naming.hpp"
#include "core/config/overrides.hpp"
#include "core/config/schema.hpp"
#include "core/config/sweep_reader.hpp"

namespace depthgrid {
namespace {

constexpr std::uint64_t kManyCells = 10000;
constexpr std::size_t kMostMergeNotes = 20;

std::string with_commas(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

/// Turns settled arms into cells.
class Collector {
 public:
  Collector(const SweepDocument& document, Grid& grid, Resolver& resolver, Diagnostics& diagnostics,
            const SweepRequest& request, std::uint64_t limit)
      : matching(document, resolver, diagnostics, request.matched),
        document_(document),
        grid_(grid),
        resolver_(resolver),
        diagnostics_(diagnostics),
        limit_(limit),
        naming_(document),
        scratch_(grid.base()) {
    const auto expected = static_cast<std::size_t>(std::min(limit, count_combinations(document)));
    cells.reserve(expected);
    digests_.reserve(expected);
    rows_.reserve(expected);
    names_.reserve(expected);
  }

  Matching matching;
  std::vector<CellPlan> cells;
  bool too_many = false;

  bool take(const Arm& arm, const Slots& written) {
    if (diagnostics_.failed()) return true;  // only look for further problems
    CellPlan plan;
    plan.arm = naming_.arm(arm);
    const bool baseline = !found_baseline_ && grid_.is_baseline(arm, written);
    const Slots* matched = matching.apply(arm, plan.arm, baseline, written);
    const Slots& settled = matched != nullptr ? *matched : written;
    if (!base_) set_base(settled);
    plan.factor = Naming::factor(arm);
    plan.tag = arm.include != nullptr ? arm.include->tag : "";
    plan.structure = structure_digest(structure_text(settled));
    plan.overrides = overrides(settled);
    found_baseline_ = found_baseline_ || baseline;
    plan.baseline = baseline;
    Slots& slots = scratch_;
    slots = settled;
    bool named = false;
    for (std::size_t r = 0; r < document_.seeds.size(); ++r) {
      set_seed(slots, document_.seeds[r]);
      const Sha256 digest = sha256(identity_text(slots));
      std::string id = hex(digest, 12);
      const auto [known, fresh] = rows_.emplace(id, cells.size());
      if (!fresh) {
        merge(arm, plan, known->second, digest);
        continue;
      }
      if (cells.size() >= limit_) {
        too_many = true;
        return false;
      }
      if (!named) plan.arm = unique(plan.arm);
      named = true;
      digests_.push_back(digest);
      CellPlan& cell = cells.emplace_back(plan);
      cell.id = std::move(id);
      cell.seed = document_.seeds[r];
      cell.replicate = static_cast<std::int64_t>(r);
      cell.alias = plan.arm + ",s" + std::to_string(cell.seed);
      cell.config = CellConfig(base_, delta(slots));
    }
    return true;
  }

  bool found_baseline() const { return found_baseline_; }

 private:
  void set_base(const Slots& slots) {
    auto base = std::make_shared<ConfigBase>();
    base->pool = resolver_.shared_pool();
    base->values = slots.values;
    base_ = std::move(base);
  }

  void set_seed(Slots& slots, std::int64_t seed) {
    const LeafRows& row = leaf_rows();
    const PooledValue* value = resolver_.pool().intern(seed);
    slots.values[row.seed] = slots.defaults[row.seed] = value;
    for (const std::size_t leaf : {row.model_seed, row.data_seed}) {
      if (slots.written[leaf]->is_null()) slots.values[leaf] = value;
    }
  }

  CellConfig::Delta delta(const Slots& slots) const {
    CellConfig::Delta out;
    for (std::size_t i = 0; i < slots.values.size(); ++i) {
      if (slots.values[i] != base_->values[i]) {
        out.emplace_back(static_cast<std::uint16_t>(i), slots.values[i]);
      }
    }
    return out;
  }

  ValueMap overrides(const Slots& slots) const {
    ValueMap out;
    for (const std::size_t leaf : naming_.varying()) {
      if (resolver_.reads(leaf, slots)) {
        out.emplace_back(schema()[leaf].path, static_cast<const Value&>(*slots.values[leaf]));
      }
    }
    return out;
  }

  void merge(const Arm& arm, const CellPlan& plan, std::size_t row, const Sha256& digest) {
    CellPlan& kept = cells[row];
    if (digests_[row] != digest) {
      throw Error("two cells share the id " + kept.id + ": " + kept.alias + " and " + plan.arm);
    }
    kept.baseline = kept.baseline || plan.baseline;
    if (kept.tag.empty()) kept.tag = plan.tag;
    if (++merged_ <= kMostMergeNotes) {
      diagnostics_.note(arm.place, "duplicate cell: " + plan.arm + " equals " + kept.alias + " (" +
                                       kept.id + "); it is run once");
    } else if (merged_ == kMostMergeNotes + 1) {
      diagnostics_.note(document_.place, "further duplicate cells are merged, too");
    }
  }

  std::string unique(const std::string& name) {
    std::string out = name;
    for (int n = 2; !names_.insert(out).second; ++n) out = name + "#" + std::to_string(n);
    return out;
  }

  const SweepDocument& document_;
  Grid& grid_;
  Resolver& resolver_;
  Diagnostics& diagnostics_;
  std::uint64_t limit_;
  Naming naming_;
  Slots scratch_;
  std::shared_ptr<const ConfigBase> base_;
  std::unordered_map<std::string, std::size_t> rows_;  // id -> row
  std::vector<Sha256> digests_;
  std::unordered_set<std::string> names_;
  std::size_t merged_ = 0;
  bool found_baseline_ = false;
};

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
                                          with_commas(combinations) +
                                          " combinations, more than `max_cells` (" +
                                          with_commas(most) + ")");
  } else if (combinations > kManyCells && !request.yes && document.exclude.empty()) {
    diagnostics.error(document.place, "this sweep has " + with_commas(combinations) +
                                          " cells; more than 10,000 need --yes");
  }
}

void check_outcome(const SweepDocument& document, const Collector& collector, std::uint64_t limit,
                   Diagnostics& diagnostics) {
  if (collector.too_many) {
    diagnostics.error(document.place,
                      limit > kManyCells || document.max_cells <= static_cast<std::int64_t>(limit)
                          ? "the grid has more cells than `max_cells` (" + with_commas(limit) + ")"
                          : "this sweep has more than 10,000 cells: that needs --yes");
  } else if (diagnostics.failed()) {
    return;
  } else if (collector.cells.empty()) {
    diagnostics.error(document.place, "the grid has zero cells: `exclude` drops all of them");
  } else if (!collector.found_baseline() && document.baseline) {
    diagnostics.error(document.baseline->place, "`baseline` names no cell of the sweep");
  } else if (!collector.found_baseline()) {
    diagnostics.note(document.place, "the baseline (first level of each factor) is excluded");
  }
}

}  // namespace

Sweep load_sweep(const SweepRequest& request) {
  Diagnostics diagnostics;
  auto pool = std::make_shared<ValuePool>();
  SweepReader reader(*pool, diagnostics);
  SweepDocument document = reader.read(request.file);
  const std::string text = diagnostics.text(document.place.file);
  apply_overrides(request.set, reader, document, *pool, diagnostics);
  check_document(document, diagnostics);
  // Counted before anything of the grid exists in memory.
  const std::size_t before = diagnostics.errors();
  limit_size(document, request, diagnostics);
  if (diagnostics.errors() > before) diagnostics.throw_if_failed();
  if (!reader.complete()) diagnostics.throw_if_failed();
  const std::size_t typed = diagnostics.errors();
  fill_ranges(document, *pool, diagnostics);
  if (diagnostics.errors() > typed) diagnostics.throw_if_failed();

  Resolver resolver(pool, diagnostics);
  Grid grid(document, resolver, diagnostics);
  const auto most = static_cast<std::uint64_t>(document.max_cells);
  const std::uint64_t limit = request.yes ? most : std::min(most, kManyCells);
  Collector collector(document, grid, resolver, diagnostics, request, limit);
  std::optional<Slots> first;
  grid.walk([&](const Arm& arm, const Slots& slots) {
    if (!first) first = slots;
    return collector.take(arm, slots);
  });
  if (!diagnostics.failed()) collector.matching.finish();
  if (first) check_metric(document, *first, diagnostics);
  if (first) resolver.finish(*first);
  check_outcome(document, collector, limit, diagnostics);
  diagnostics.throw_if_failed();

  Sweep sweep;
  sweep.name = document.name;
  sweep.description = document.description;
  sweep.method = document.method;
  sweep.metric = document.metric;
  sweep.goal = document.goal;
  sweep.yaml = text;
  sweep.file = request.file.string();
  sweep.order = document.shuffle ? "shuffled(" + std::to_string(*document.shuffle) + ")" : "file";
  sweep.tags = document.tags;
  sweep.seeds = static_cast<std::int64_t>(document.seeds.size());
  sweep.cells = std::move(collector.cells);
  sweep.matched = std::move(collector.matching.taken);
  sweep.goals = std::move(collector.matching.goals);
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
  sweep.id = sweep_id(sweep);
  return sweep;
}

}  // namespace depthgrid
