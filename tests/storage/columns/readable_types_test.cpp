#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/cells/probe_record.hpp"
#include "storage/cells/state_file.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/columns/table_writer.hpp"
#include "storage/pack/pack.hpp"
#include "tests/storage/h5dump.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace readable_types_test {

namespace fs = std::filesystem;

/// What the netCDF library reads, and so R, MATLAB, ncdump and xarray: texts of fixed length
/// overrun its heap, and so do numbers of two bytes that have a fill value.
const std::set<std::string> kReadable = {"H5T_STD_I8LE",   "H5T_STD_I32LE",  "H5T_STD_I64LE",
                                         "H5T_IEEE_F32LE", "H5T_IEEE_F64LE", "H5T_STRING"};

/// What follows `word` in its line, once for each time that it occurs.
std::vector<std::string> after(const std::string& text, const std::string& word) {
  std::vector<std::string> out;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    at += word.size();
    out.push_back(text.substr(at, text.find_first_of(";\n", at) - at));
  }
  return out;
}

/// Of a file that users open, by HDF5's own tool.
void expect_readable_types(const fs::path& file, bool with_texts) {
  const std::string head = h5dump("-A 0 -H " + file.string());
  const std::string name = file.filename();
  std::size_t texts = 0;
  for (std::string type : after(head, "DATATYPE  ")) {
    type.resize(type.find(" {") == std::string::npos ? type.size() : type.find(" {"));
    EXPECT_TRUE(kReadable.contains(type)) << name << " has numbers of type " << type;
    texts += type == "H5T_STRING" ? 1U : 0U;
  }
  for (const std::string& size : after(head, "STRSIZE ")) {
    EXPECT_EQ(size, "H5T_VARIABLE") << name << " has texts of fixed length";
  }
  for (const std::string& set : after(head, "CSET ")) EXPECT_EQ(set, "H5T_CSET_UTF8") << name;
  EXPECT_EQ(texts > 0, with_texts) << name;
}

fs::path keep_states(const fs::path& folder, const CellId& cell, std::int64_t step, bool half) {
  const std::vector<double> times = {0, 1};
  const std::vector<std::int64_t> channels = {0};
  const std::vector<std::int32_t> ids = {3};
  const std::vector<std::byte> states(half ? 4 : 8);
  return publish_states(folder, {.cell = cell,
                                 .step = step,
                                 .half = half,
                                 .sequences = 1,
                                 .edge_times = times,
                                 .channels = channels,
                                 .token_ids = ids,
                                 .states = states});
}

TEST(ReadableTypes, AreThoseOfEveryFileThatAUserOpens) {
  const TemporaryFolder folder;
  const Store store = Store::open_or_create(folder.path() / "s");
  publish_plan(store, synthetic_sweep({1e-4, 1e-3}));
  const StoredPlan plan = read_plan(store);
  finish_cell(store, plan, 0, 10);
  const fs::path done = store.cell_dir(plan.cells[0].id), begun = store.cell_dir(plan.cells[1].id);
  write_attempt(begun, 1, 1, 0, 5, false);
  const CellHistory history = read_history(begun);
  publish_metrics(begun, {.plan = plan.cells[1],
                          .sweep = plan,
                          .history = history,
                          .status = CellStatus::Running,
                          .facts = synthetic_facts()});
  RowLayout layout;
  layout.give({"lyapunov_variant", 1, {"raw"}, {}});
  layout.give({"exponent", 2, {}, {}});
  layout.add("lyapunov_exponent");
  RowTable rows;
  rows.width = 2;
  rows.add(10, std::vector<double>{1, 2});
  publish_synthetic_probe_record(store, plan, 0, layout, rows);
  const fs::path rounded = keep_states(done, plan.cells[0].id, 5, true);
  const fs::path whole = keep_states(done, plan.cells[0].id, 10, false);
  pack(store);

  expect_readable_types(store.packed_file(), true);
  expect_readable_types(store.root() / "plan.h5", true);
  expect_readable_types(done / "result.h5", true);
  expect_readable_types(begun / "metrics.h5", true);
  expect_readable_types(done / "probe-1.h5", true);
  expect_readable_types(rounded, false);
  expect_readable_types(whole, false);
}

ColumnTable table_of(const std::vector<std::string>& texts) {
  ColumnTable out;
  out.sizes = {{"cell", static_cast<std::int64_t>(texts.size())}};
  std::vector<std::string> ids(texts.size(), "c");
  out.columns.push_back(text_column("cell", {"cell"}, ids));
  out.columns.push_back(text_column("arm", {"cell"}, texts));
  return out;
}

void write(const fs::path& file, const ColumnTable& table) {
  TableWriter writer(file, table_bytes(table));
  write_table(writer, table);
  writer.replace(1);
}

TEST(ReadableTypes, TextsOfEveryLengthReturn) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "t.h5";
  const std::vector<std::string> texts = {"", "12345678", std::string(100000, 'x'), "Δt = ½", ""};
  write(file, table_of(texts));

  const TableReader reader(file);
  const VariableColumn column = reader.read("arm");
  EXPECT_EQ(column.texts(), texts);
  EXPECT_EQ(column.item_bytes, 100000U);
  EXPECT_EQ(reader.shape("arm").type, DataType::Text);
  EXPECT_THROW(reader.read_rows("arm", 0, 1), Error) << "their width is not known beforehand";
}

TEST(ReadableTypes, ALongTextTakesNoRoomInTheRowsOfOthers) {
  const TemporaryFolder folder;
  std::vector<std::string> texts(1000, "short");
  texts[500] = std::string(100000, 'x');
  write(folder.path() / "t.h5", table_of(texts));

  EXPECT_LT(fs::file_size(folder.path() / "t.h5"), 400000U);
}

TEST(ReadableTypes, TextsAreWrittenWhole) {
  const TemporaryFolder folder;
  TableWriter writer(folder.path() / "t.h5", 0);
  writer.axis(text_column("cell", {"cell"}, std::vector<std::string>{"a"}));

  EXPECT_THROW(writer.declare(text_column("arm", {"cell"}, std::vector<std::string>{"b"}), 0),
               Error);
}

/// Written by the version before texts had a variable length.
TEST(ReadableTypes, TextsOfFixedLengthAreReadAsBefore) {
  const fs::path file = fs::path(DEPTHGRID_SOURCE_DIR) / "tests/golden/texts_of_fixed_length.h5";
  EXPECT_NE(h5dump("-A 0 -H " + file.string()).find("STRSIZE 32"), std::string::npos);

  const TableReader reader(file);
  EXPECT_EQ(reader.read("cell").texts(),
            (std::vector<std::string>{"0123456789ab", "ba9876543210"}));
  EXPECT_EQ(reader.read("arm").texts(), (std::vector<std::string>{"", "hidden=32,scale=1/L,Δt=½"}));
  EXPECT_EQ(reader.read("n_steps").integer(1), 300);
}

}  // namespace readable_types_test
}  // namespace depthgrid
