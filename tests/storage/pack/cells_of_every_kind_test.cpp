// Whatever state the cells of a store are in and whatever has looked at them, they are packed.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "storage/cells/mask_churn.hpp"
#include "storage/cells/probe_record.hpp"
#include "storage/columns/param_columns.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/pack/pack.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace cells_of_every_kind_test {

/// Leaves of probes: how long the axes are that they decide, and which labels these have.
enum class Leaves { Own, Other };

/// An axis that a job or a probe decides. Those of the model have one length.
RowAxis open_axis(const Dimension& d, Leaves leaves) {
  static const std::set<std::string_view> kOfTheModel = {
      "depth", "layer", "head", "token_position", "ssm_state", "weight_type", "depth_factor"};
  const bool own = leaves == Leaves::Own || kOfTheModel.contains(d.name);
  const bool edges = d.name.starts_with("depth_edge");
  RowAxis out{std::string(d.name), edges ? 3 : own ? 2 : 3, {}, {}};
  if (d.kind != AxisKind::Labelled) return out;
  for (std::int64_t i = 0; i < out.length; ++i) {
    const auto known = known_labels(d);
    const auto at = static_cast<std::size_t>(own ? i : out.length - 1 - i);
    if (d.type != DataType::Text) {
      out.values.push_back((static_cast<double>(i) + .5) / static_cast<double>(out.length));
    } else if (at < known.size()) {
      out.labels.emplace_back(known[at]);
    } else {
      out.labels.push_back(std::string("label") + std::to_string(at));
    }
  }
  return out;
}

/// The axes of a variable from the `first` on that are open.
std::vector<RowAxis> open_axes(const Variable& v, std::size_t first, Leaves leaves) {
  std::vector<RowAxis> out;
  const std::vector<std::string> names = axes_of(v);
  for (std::size_t i = first; i < names.size(); ++i) {
    const Dimension& d = dimension(names[i]);
    if (d.kind != AxisKind::Fixed) out.push_back(open_axis(d, leaves));
  }
  return out;
}

std::int64_t numbers_of(const Variable& v, std::size_t first, Leaves leaves) {
  std::int64_t out = 1;
  const std::vector<std::string> names = axes_of(v);
  for (std::size_t i = first; i < names.size(); ++i) {
    const Dimension& d = dimension(names[i]);
    const auto labels = static_cast<std::int64_t>(labels_of(d).size());
    out *= labels > 0 ? labels : open_axis(d, leaves).length;
  }
  return out;
}

/// What probes record: a variable for each list of axes, of every second list if asked for less.
std::vector<const Variable*> probed_variables(bool all = true) {
  std::vector<const Variable*> out;
  std::set<std::string_view> seen;
  for (const Variable& v : variables()) {
    if (!v.dims.starts_with("cell, probe_step") || is_mask_churn(v.name)) continue;
    if (!seen.insert(v.dims).second) continue;
    if (all || seen.size() % 2 == 0) out.push_back(&v);
  }
  return out;
}

RowLayout layout_of(Leaves leaves, const std::vector<const Variable*>& probed) {
  RowLayout out;
  for (const Variable* v : probed) {
    for (const RowAxis& axis : open_axes(*v, 2, leaves)) out.give(axis);
    out.add(v->name);
  }
  return out;
}

/// What a worker knows of its cell: numbers for each list of axes that a variable may have.
CellFacts every_fact(const StoredPlan& plan) {
  std::set<std::string> identity;  // which the plan knows
  for (const VariableColumn& column : identity_columns(plan, plan.cells)) {
    identity.insert(column.name);
  }
  CellFacts out = synthetic_facts();
  std::set<std::string_view> seen;
  for (const Variable& v : variables()) {
    const std::vector<std::string> axes = axes_of(v);
    if (axes[0] != "cell" || identity.contains(std::string(v.name))) continue;
    if (v.name.starts_with("param_") || v.schedule == "at pack") continue;
    if (axes.size() > 1 && dimension(axes[1]).kind == AxisKind::Joined) continue;
    if (out.numbers.contains(std::string(v.name)) || v.name.starts_with("n_")) continue;
    if (v.type == DataType::Text || v.name == "cell_status" || v.name == "diverged_at" ||
        v.name == "stopped_at") {
      continue;  // which the journals tell
    }
    if (!seen.insert(v.dims).second) continue;
    for (const RowAxis& axis : open_axes(v, 1, Leaves::Own)) {
      const bool given = std::ranges::find(out.axes, axis.name, &RowAxis::name) != out.axes.end();
      if (!given) out.axes.push_back(axis);
    }
    out.set(std::string(v.name),
            std::vector<double>(static_cast<std::size_t>(numbers_of(v, 1, Leaves::Own)), 1));
  }
  return out;
}

/// What happens to one cell of a store.
struct Place {
  const Store& store;
  const StoredPlan& plan;
  std::size_t row;

  std::filesystem::path folder() const { return store.cell_dir(plan.cells[row].id); }

  void trains(std::int64_t generation, std::int64_t first, std::int64_t last) const {
    write_attempt(folder(), static_cast<std::int64_t>(row), generation, first, last, false);
  }
  /// An attempt that also probes, at each fourth step.
  void probes(std::int64_t generation, std::int64_t first, std::int64_t last, Leaves leaves,
              bool all = true) const {
    const RowLayout layout = layout_of(leaves, probed_variables(all));
    std::vector<RowKind> kinds = synthetic_kinds();
    kinds.push_back(layout.kinds().front());
    Journal journal(folder() / generation_name("journal", generation), {.generation = generation,
                                                                        .first_step = first,
                                                                        .kinds = kinds,
                                                                        .attempt_json = "{}",
                                                                        .axes = layout.axes()});
    for (std::int64_t step = first + 1; step <= last; ++step) {
      std::vector<double> train = {synthetic_loss(static_cast<std::int64_t>(row), step), 1024};
      train.resize(19, 1);
      journal.append(0, step, train);
      if (step % 4 != 0) continue;
      journal.append(3, step,
                     std::vector<double>(static_cast<std::size_t>(kinds.back().width()),
                                         static_cast<double>(step)));
    }
  }
  /// By a program that knows more variables.
  void trains_later_version() const {
    Journal journal(folder() / generation_name("journal", 1),
                    {.generation = 1,
                     .first_step = 0,
                     .kinds = {{"train", {{"train_loss", 1}, {"of_the_future", 1}}}},
                     .attempt_json = "{}"});
    journal.append(0, 1, std::vector<double>{1, 2});
  }
  void snapshot() const {
    const CellHistory history = read_history(folder());
    publish_metrics(folder(),
                    {plan.cells[row], plan, history, CellStatus::Running, every_fact(plan)});
  }
  void result(CellStatus status) const {
    const CellHistory history = read_history(folder());
    publish_result(folder(), {plan.cells[row], plan, history, status, every_fact(plan)});
  }
  void looks(Leaves leaves, const std::vector<std::int64_t>& steps, bool all = true) const {
    const RowLayout layout = layout_of(leaves, probed_variables(all));
    RowTable rows;
    rows.width = layout.kinds().front().width();
    for (const std::int64_t step : steps) {
      rows.add(step, std::vector<double>(static_cast<std::size_t>(rows.width),
                                         static_cast<double>(step)));
    }
    publish_synthetic_probe_record(store, plan, row, layout, rows, "all");
  }
  void damages(const std::string& name) const {
    std::fstream file(folder() / name, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(900);
    file.put('x');
  }
};

/// Looks of a run or of a user at a step: whose leaves they had.
struct Look {
  std::int64_t step;
  Leaves leaves;
};

struct Kind {
  std::string name;
  std::function<void(const Place&)> make;
  std::int64_t trained = 0;      // steps with a loss
  std::vector<Look> looks = {};  // that are found afterwards, of every probe
  bool facts = false;            // what a worker knows of the cell is there
  bool problem = false;          // something is damaged, and said
};

constexpr auto kOwn = Leaves::Own, kOther = Leaves::Other;

const std::vector<Kind>& cell_states() {
  static const std::vector<Kind> kAll = {
      {"never_trained", [](const Place&) {}},
      {"begun", [](const Place& c) { c.trains(1, 0, 7); }, 7},
      {"with_snapshot", [](const Place& c) { c.trains(1, 0, 7), c.snapshot(); }, 7, {}, true},
      {"snapshot_alone", [](const Place& c) { c.snapshot(); }, 0, {}, true},
      {"probed_by_its_run",
       [](const Place& c) { c.probes(1, 0, 8, kOwn), c.snapshot(); },
       8,
       {{4, kOwn}, {8, kOwn}},
       true},
      {"resumed_with_other_leaves",
       [](const Place& c) { c.probes(1, 0, 6, kOwn), c.probes(2, 6, 9, kOther), c.snapshot(); },
       9,
       {{8, kOther}},
       true},
      {"resumed_with_fewer_probes",
       [](const Place& c) { c.probes(1, 0, 6, kOwn), c.probes(2, 6, 9, kOther, false); }, 9},
      {"resumed_without_probes",
       [](const Place& c) { c.probes(1, 0, 6, kOther), c.trains(2, 6, 9), c.snapshot(); },
       9,
       {{4, kOther}},
       true},
      {"of_a_later_version", [](const Place& c) { c.trains_later_version(); }, 0, {}, false, true},
      {"failed",
       [](const Place& c) {
         c.trains(1, 0, 7), c.snapshot();
         c.store.publish_failure(c.plan.cells[c.row].id, 1, CellStatus::Failed, "{}");
       },
       7,
       {},
       true},
      {"completed",
       [](const Place& c) { c.trains(1, 0, 12), c.result(CellStatus::Completed); },
       12,
       {},
       true},
      {"completed_and_probed",
       [](const Place& c) { c.probes(1, 0, 12, kOwn), c.result(CellStatus::Completed); },
       12,
       {{4, kOwn}, {8, kOwn}, {12, kOwn}},
       true},
      {"completed_after_other_leaves",
       [](const Place& c) {
         c.probes(1, 0, 6, kOwn), c.probes(2, 6, 12, kOther), c.result(CellStatus::Completed);
       },
       12,
       {{8, kOther}, {12, kOther}},
       true},
      {"diverged",
       [](const Place& c) { c.probes(1, 0, 5, kOwn), c.result(CellStatus::Diverged); },
       5,
       {{4, kOwn}},
       true},
      {"result_damaged",
       [](const Place& c) {
         c.trains(1, 0, 12), c.snapshot();
         c.result(CellStatus::Completed), c.damages("result.h5");
       },
       12,
       {},
       true,
       true},
      {"snapshot_damaged",
       [](const Place& c) {
         c.trains(1, 0, 7), c.snapshot();
         c.damages("metrics.h5");
       },
       7,
       {},
       false,
       true},
  };
  return kAll;
}

const std::vector<Kind>& probe_records_of_users() {
  static const std::vector<Kind> kAll = {
      {"no_look", [](const Place&) {}},
      {"by_own_leaves", [](const Place& c) { c.looks(kOwn, {3, 8}); }, 0, {{3, kOwn}, {8, kOwn}}},
      {"by_other_leaves",
       [](const Place& c) { c.looks(kOther, {3, 8}); },
       0,
       {{3, kOther}, {8, kOther}}},
      {"by_one_after_the_other",
       [](const Place& c) { c.looks(kOwn, {3, 8}), c.looks(kOther, {8, 9}); },
       0,
       {{3, kOwn}, {8, kOther}, {9, kOther}}},
      {"by_some_probes", [](const Place& c) { c.looks(kOther, {3}, false); }},
      {"damaged",
       [](const Place& c) { c.looks(kOwn, {3}), c.damages("probe-1.h5"); },
       0,
       {},
       false,
       true},
  };
  return kAll;
}

/// One cell of a store, as both have made it.
struct Cell {
  const Kind* state;
  const Kind* look;

  std::string name() const { return state->name + ", " + look->name; }
  std::map<std::int64_t, Leaves> looks() const {
    std::map<std::int64_t, Leaves> out;
    for (const Look& at : state->looks) out[at.step] = at.leaves;
    for (const Look& at : look->looks) out[at.step] = at.leaves;
    return out;
  }
};

std::vector<Cell> every_cell() {
  std::vector<Cell> out;
  for (const Kind& state : cell_states()) {
    for (const Kind& look : probe_records_of_users()) out.push_back({&state, &look});
  }
  return out;
}

/// A store of these cells.
class Packed {
 public:
  explicit Packed(std::vector<Cell> cells)
      : cells_(std::move(cells)), store_(Store::open_or_create(folder_.path() / "s")) {
    std::vector<double> rates;
    for (std::size_t i = 0; i < cells_.size(); ++i) rates.push_back(static_cast<double>(i + 1));
    publish_plan(store_, synthetic_sweep(rates));
    plan_ = read_plan(store_);
  }

  void trains() const {
    for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i].state->make({store_, plan_, i});
  }
  void looks() const {
    for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i].look->make({store_, plan_, i});
  }

  /// Packs, and holds what is packed against what was made.
  void packs(bool looked = true) const {
    PackReport report;
    ASSERT_NO_THROW(report = pack(store_));
    std::size_t expected = 0;
    for (const Cell& cell : cells_) {
      expected += (cell.state->problem ? 1U : 0U) + (looked && cell.look->problem ? 1U : 0U);
    }
    EXPECT_EQ(report.problems.size(), expected) << testing::PrintToString(report.problems);
    const TableReader file(store_.packed_file());
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      SCOPED_TRACE(cells_[i].name());
      has_losses(file, i);
      has_facts(file, i);
      if (looked) has_probe_records(file, i);
    }
  }

  const Store& store() const { return store_; }

 private:
  void has_losses(const TableReader& file, std::size_t row) const {
    const std::int64_t trained = cells_[row].state->trained;
    if (!file.has("train_loss")) {
      EXPECT_EQ(trained, 0);
      return;
    }
    const VariableColumn loss = file.read("train_loss"), steps = file.read("step");
    for (std::size_t i = 0; i < steps.items(); ++i) {
      const std::int64_t step = steps.integer(i);
      const double found = loss.number(row * steps.items() + i);
      if (step > trained) {
        EXPECT_TRUE(std::isnan(found)) << "step " << step;
      } else {
        EXPECT_EQ(found, synthetic_loss(static_cast<std::int64_t>(row), step)) << "step " << step;
      }
    }
  }

  void has_facts(const TableReader& file, std::size_t row) const {
    const CellFacts facts = every_fact(plan_);
    for (const auto& [name, numbers] : facts.numbers) {
      const Variable& v = *find_variable(name);
      const bool series =
          axes_of(v).size() > 1 && dimension(axes_of(v)[1]).kind == AxisKind::Joined;
      if (series || (!cells_[row].state->facts && !file.has(name))) continue;
      ASSERT_TRUE(file.has(name)) << name;
      const VariableColumn found = file.read(name);
      const std::size_t width = found.items() / cells_.size();
      const auto is_there = [](double number) { return !std::isnan(number) && number != -1; };
      std::ptrdiff_t present = 0;
      for (std::size_t i = row * width; i < (row + 1) * width; ++i) {
        present += is_there(found.number(i)) ? 1 : 0;
      }
      const auto known = std::ranges::count_if(numbers, is_there);
      if (cells_[row].state->facts || axes_of(v).size() > 1) {
        EXPECT_EQ(present, cells_[row].state->facts ? known : 0) << name;
      }
    }
  }

  /// Each look is there with the numbers of its own leaves, and no others are.
  void has_probe_records(const TableReader& file, std::size_t row) const {
    const auto looks = cells_[row].looks();
    for (const Variable* v : probed_variables()) {
      if (!file.has(std::string(v->name))) {
        EXPECT_TRUE(looks.empty()) << v->name;
        continue;
      }
      const VariableColumn found = file.read(std::string(v->name));
      const VariableColumn steps = file.read("probe_step");
      const std::size_t width = found.items() / cells_.size() / steps.items();
      for (const auto& [step, leaves] : looks) {
        std::size_t at = 0;
        while (at < steps.items() && steps.integer(at) != step) ++at;
        ASSERT_LT(at, steps.items()) << v->name << " at " << step;
        std::int64_t present = 0;
        for (std::size_t i = 0; i < width; ++i) {
          const double number = found.number((row * steps.items() + at) * width + i);
          if (std::isnan(number) || number == -1) continue;
          EXPECT_EQ(number, static_cast<double>(step)) << v->name;
          ++present;
        }
        EXPECT_EQ(present, numbers_of(*v, 2, leaves)) << v->name << " at step " << step;
      }
    }
  }

  std::vector<Cell> cells_;
  TemporaryFolder folder_;
  Store store_;
  StoredPlan plan_;
};

TEST(CellsOfEveryKind, ArePackedTogether) {
  const Packed all(every_cell());
  all.trains();
  all.looks();
  all.packs();
}

// No other cell has the axes that it needs.
TEST(CellsOfEveryKind, ArePackedAlone) {
  for (const Cell& cell : every_cell()) {
    if (cell.look->name != "by_other_leaves" && cell.state->name != "with_snapshot") continue;
    SCOPED_TRACE(cell.name());
    const Packed one({cell});
    one.trains();
    one.looks();
    one.packs();
  }
}

TEST(CellsOfEveryKind, ArePackedBeforeAndAfterALook) {
  const Packed all(every_cell());
  all.trains();
  all.packs(/*looked=*/false);
  all.looks();
  all.packs();
  EXPECT_FALSE(pack(all.store()).written) << "nothing is new";
}

}  // namespace cells_of_every_kind_test
}  // namespace depthgrid
