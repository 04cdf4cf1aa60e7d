// A variable with two axes that the job decides, and labels that a leaf gives: what it takes to
// store one is a row of a table, here put beside those of the product.
#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/cells/row_layout.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/columns/variables.hpp"
#include "storage/pack/pack.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace {

using enum DataType;

constexpr Dimension kToyAxes[] = {
    {"toy_edge", Int32, AxisKind::Padded, 0, "", "states of a toy"},
    {"toy_edge_b", Int32, AxisKind::Padded, 0, "", "the same, once more"},
    {"toy_class", Text, AxisKind::Labelled, 0, "", "class of token, from a leaf"},
    {"toy_bin", Float64, AxisKind::Labelled, 0, "", "centre of a bin, from a leaf"},
};

constexpr Variable kToyVariables[] = {
    {"toy_matrix", "cell, probe_step, toy_edge, toy_edge_b", Float32, "1", "two open axes", "probe",
     "docs/store-format.md"},
    {"toy_mean", "cell, probe_step, toy_edge, toy_class", Float64, "1", "open and labelled",
     "probe", "docs/store-format.md"},
    {"toy_histogram", "cell, probe_step, toy_bin", Float32, "1", "by value", "probe",
     "docs/store-format.md"},
    {"toy_total", "cell, toy_class", Float64, "1", "of the whole cell", "end",
     "docs/store-format.md"},
};

}  // namespace

std::vector<std::span<const Variable>> variable_tables() {
  return {identity_variables(), train_variables(), eval_variables(),   routing_variables(),
          cost_variables(),     kToyVariables,     attempt_variables()};
}

std::vector<std::span<const Dimension>> axis_tables() {
  return {store_axes(), kToyAxes};
}

namespace {

using Texts = std::vector<std::string>;

/// What a job says of its toys: states, and leaves that name classes and bins.
struct Toy {
  std::int64_t edges;
  Texts classes;
  std::vector<double> bins;
};

const Toy kWide = {3, {"rare", "all"}, {0.25, 0.75}};
const Toy kNarrow = {2, {"all", "first"}, {0.5}};

std::vector<RowAxis> axes_of_toy(const Toy& toy) {
  const auto bins = static_cast<std::int64_t>(toy.bins.size());
  return {{"toy_edge", toy.edges, {}, {}},
          {"toy_edge_b", toy.edges, {}, {}},
          {"toy_class", static_cast<std::int64_t>(toy.classes.size()), toy.classes, {}},
          {"toy_bin", bins, {}, toy.bins}};
}

double matrix_at(std::int64_t step, std::size_t i, std::size_t j) {
  return static_cast<double>(step) + 10.0 * static_cast<double>(i) + static_cast<double>(j) / 8;
}
double mean_at(std::int64_t step, std::size_t edge, const std::string& label) {
  return static_cast<double>(step) + 0.5 * static_cast<double>(edge) +
         100 * static_cast<double>(label.size());
}

/// An attempt that probes at steps 0 and `last`, by names only.
void write_toys(const std::filesystem::path& folder, const Toy& toy, std::int64_t last) {
  RowLayout layout;
  for (const RowAxis& axis : axes_of_toy(toy)) layout.give(axis);
  const RowSlot loss = layout.add("train_loss");
  const RowSlot matrix = layout.add("toy_matrix"), mean = layout.add("toy_mean"),
                histogram = layout.add("toy_histogram");
  Journal journal(folder / generation_name("journal", 1), {.generation = 1,
                                                           .first_step = 0,
                                                           .kinds = layout.kinds(),
                                                           .attempt_json = "{}",
                                                           .axes = layout.axes()});
  for (std::int64_t step = 1; step <= last; ++step) {
    journal.append(loss.kind, step, std::vector<double>{synthetic_loss(0, step)});
  }
  for (const std::int64_t step : {std::int64_t{0}, last}) {
    std::vector<double> row(static_cast<std::size_t>(layout.kinds()[matrix.kind].width()));
    const auto edges = static_cast<std::size_t>(toy.edges), classes = toy.classes.size();
    for (std::size_t i = 0; i < edges; ++i) {
      for (std::size_t j = 0; j < edges; ++j) {
        row[matrix.first + i * edges + j] = matrix_at(step, i, j);
      }
      for (std::size_t c = 0; c < classes; ++c) {
        row[mean.first + i * classes + c] = mean_at(step, i, toy.classes[c]);
      }
    }
    for (std::size_t b = 0; b < toy.bins.size(); ++b) row[histogram.first + b] = toy.bins[b] + 1;
    journal.append(matrix.kind, step, row);
  }
}

CellFacts facts_of(const Toy& toy) {
  CellFacts out;
  out.axes = {axes_of_toy(toy)[2]};
  std::vector<double> totals;
  for (const std::string& label : toy.classes) totals.push_back(static_cast<double>(label.size()));
  out.set("toy_total", totals);
  return out;
}

Texts texts_of(const TableReader& file, const std::string& name) {
  const VariableColumn column = file.read(name);
  Texts out;
  for (std::size_t i = 0; i < column.items(); ++i) out.push_back(column.text(i));
  return out;
}

/// Every number of one cell, found by its coordinates; the rest of its rows is absent.
void expect_toys(const TableReader& file, std::size_t cell, const Toy& toy, std::int64_t last) {
  const VariableColumn steps = file.read("probe_step"), bins = file.read("toy_bin");
  const Texts classes = texts_of(file, "toy_class");
  const std::size_t n = steps.items(), edges = file.read("toy_edge").items();
  const VariableColumn matrix = file.read("toy_matrix"), mean = file.read("toy_mean"),
                       histogram = file.read("toy_histogram"), total = file.read("toy_total");
  ASSERT_EQ(file.read("toy_edge_b").items(), edges);
  for (std::size_t s = 0; s < n; ++s) {
    const std::int64_t step = steps.integer(s);
    const bool looked = step == 0 || step == last;
    const auto expect = [&](double found, bool there, double value) {
      if (there) {
        EXPECT_EQ(found, value) << "step " << step;
      } else {
        EXPECT_TRUE(std::isnan(found)) << found << " at step " << step;
      }
    };
    for (std::size_t i = 0; i < edges; ++i) {
      const bool row = looked && i < static_cast<std::size_t>(toy.edges);
      for (std::size_t j = 0; j < edges; ++j) {
        expect(matrix.number(((cell * n + s) * edges + i) * edges + j),
               row && j < static_cast<std::size_t>(toy.edges), matrix_at(step, i, j));
      }
      for (std::size_t c = 0; c < classes.size(); ++c) {
        expect(mean.number(((cell * n + s) * edges + i) * classes.size() + c),
               row && std::ranges::count(toy.classes, classes[c]) > 0,
               mean_at(step, i, classes[c]));
      }
    }
    for (std::size_t b = 0; b < bins.items(); ++b) {
      expect(histogram.number((cell * n + s) * bins.items() + b),
             looked && std::ranges::count(toy.bins, bins.number(b)) > 0, bins.number(b) + 1);
    }
  }
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const double found = total.number(cell * classes.size() + c);
    if (std::ranges::count(toy.classes, classes[c]) > 0) {
      EXPECT_EQ(found, static_cast<double>(classes[c].size()));
    } else {
      EXPECT_TRUE(std::isnan(found)) << classes[c];
    }
  }
}

class ToySeries : public testing::Test {
 protected:
  ToySeries() : store_(Store::open_or_create(folder_.path() / "s")) {
    publish_plan(store_, synthetic_sweep({1e-4, 1e-3, 1e-2}));
    plan_ = read_plan(store_);
  }

  std::filesystem::path cell(std::size_t row) { return store_.cell_dir(plan_.cells[row].id); }

  void publish(std::size_t row, const Toy& toy, bool final) {
    const CellHistory history = read_history(cell(row));
    const CellFileInput input = {.plan = plan_.cells[row],
                                 .sweep = plan_,
                                 .history = history,
                                 .status = final ? CellStatus::Completed : CellStatus::Running,
                                 .facts = facts_of(toy)};
    if (final) {
      EXPECT_TRUE(publish_result(cell(row), input));
    } else {
      publish_metrics(cell(row), input);
    }
  }

  void finish(std::size_t row, const Toy& toy, std::int64_t last) {
    write_toys(cell(row), toy, last);
    publish(row, toy, true);
  }

  TemporaryFolder folder_;
  Store store_;
  StoredPlan plan_;
};

TEST_F(ToySeries, GoesFromTheJournalThroughSnapshotAndResultToThePackedFile) {
  write_toys(cell(0), kWide, 4);
  publish(0, kWide, false);
  const TableReader snapshot(cell(0) / "metrics.h5");
  expect_toys(snapshot, 0, kWide, 4);
  EXPECT_EQ(texts_of(snapshot, "toy_class"), kWide.classes) << "in the order of the leaf";
  publish(0, kWide, true);
  expect_toys(TableReader(cell(0) / "result.h5"), 0, kWide, 4);
  finish(1, kNarrow, 6);

  pack(store_);

  const TableReader packed(store_.packed_file());
  EXPECT_EQ(texts_of(packed, "toy_class"), (Texts{"all", "first", "rare"}));
  EXPECT_EQ(packed.read("toy_bin").items(), 3U);
  EXPECT_EQ(packed.read("toy_bin").number(1), 0.5);
  EXPECT_EQ(packed.read("n_probes").integer(1), 2);
  expect_toys(packed, 0, kWide, 4);
  expect_toys(packed, 1, kNarrow, 6);
  EXPECT_TRUE(std::isnan(packed.read("toy_total").number(2 * 3)));
}

TEST_F(ToySeries, AnUnfinishedCellIsPackedWithTheLabelsOfItsJournalAndItsSnapshot) {
  write_toys(cell(0), kWide, 4);
  publish(0, kWide, false);
  finish(2, kNarrow, 6);

  EXPECT_TRUE(pack(store_).problems.empty());

  const TableReader packed(store_.packed_file());
  expect_toys(packed, 0, kWide, 4);
  expect_toys(packed, 2, kNarrow, 6);
}

TEST_F(ToySeries, PackedInStepsEqualsPackedAtOnce) {
  finish(1, kNarrow, 6);
  pack(store_);
  finish(0, kWide, 4);  // brings labels that come before and between those there
  pack(store_);
  finish(2, {2, {"first", "all"}, {0.5}}, 6);  // the same labels in another order
  pack(store_);
  const auto in_steps = folder_.path() / "in_steps.h5";
  std::filesystem::rename(store_.packed_file(), in_steps);

  pack(store_);

  const TableReader a(in_steps), b(store_.packed_file());
  ASSERT_EQ(a.names(), b.names());
  for (const std::string& name : a.names())
    EXPECT_EQ(a.read(name).bytes, b.read(name).bytes) << name;
  expect_toys(b, 0, kWide, 4);
  expect_toys(b, 1, kNarrow, 6);
  expect_toys(b, 2, {2, {"first", "all"}, {0.5}}, 6);
}

/// The message of what `work` throws must have all of `parts`.
void expect_refusal(const std::function<void()>& work, const Texts& parts) {
  try {
    work();
    ADD_FAILURE() << "was taken: " << parts.front();
  } catch (const Error& error) {
    for (const std::string& part : parts) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
}

TEST(ToyAxes, WrongLengthsAreRefusedByVariableAxisAndLength) {
  const Variable& matrix = *find_variable("toy_matrix");
  const Variable& mean = *find_variable("toy_mean");
  CellAxes axes;
  expect_refusal([&] { axes.shape(matrix, 2, 9); }, {"toy_matrix", "toy_edge", "toy_edge_b", "9"});
  expect_refusal([&] { axes.width(matrix, 2); }, {"toy_matrix", "toy_edge", "not known"});
  axes.give({"toy_edge", 3, {}, {}});
  axes.give({"toy_class", 2, {"all", "rare"}, {}});
  expect_refusal([&] { axes.shape(mean, 2, 8); },
                 {"toy_mean", "8 values", "toy_edge 3", "toy_class 2", "6 are expected"});
  expect_refusal([&] { axes.shape(matrix, 2, 10); },
                 {"toy_matrix", "10", "toy_edge 3", "toy_edge_b"});
  EXPECT_EQ(axes.shape(matrix, 2, 12), (std::vector<std::int64_t>{3, 4}));
  expect_refusal([&] { axes.shape(matrix, 2, 9); }, {"toy_edge_b 4 as in toy_matrix", "12"});
}

TEST(ToyAxes, LabelsMustFitLengthAndKind) {
  CellAxes axes;
  expect_refusal([&] { axes.give({"toy_class", 2, {"all"}, {}}); }, {"toy_class", "2", "1 labels"});
  expect_refusal([&] { axes.give({"toy_bin", 2, {}, {0.5}}); }, {"toy_bin", "2", "1 values"});
  expect_refusal([&] { axes.give({"toy_bin", 2, {}, {}}); }, {"toy_bin", "no values"});
  expect_refusal([&] { axes.give({"toy_edge", 2, {}, {1, 2}}); }, {"toy_edge", "not a job's"});
  expect_refusal([&] { axes.give({"toy_edge", 0, {}, {}}); }, {"toy_edge", "0", "at least one"});
  expect_refusal([&] { axes.give({"split", 4, {"a", "b", "c", "d"}, {}}); },
                 {"split", "not a job's"});
  axes.give({"toy_edge", 2, {}, {}});
  expect_refusal([&] { axes.give({"toy_edge", 3, {}, {}}); }, {"toy_edge", "3", "2"});
  expect_refusal([&] { axes.shape(*find_variable("toy_histogram"), 2, 4); },
                 {"toy_histogram", "toy_bin", "no labels"});
}

TEST(ToyAxes, DocumentationSaysHowTheAxisIsJoined) {
  EXPECT_NE(variables_markdown().find("| `toy_bin` | f8 | union of the values |"),
            std::string::npos);
  EXPECT_NE(variables_markdown().find("| `toy_matrix` | cell, probe_step, toy_edge, toy_edge_b |"),
            std::string::npos);
}

}  // namespace
}  // namespace depthgrid
