#include "sweeps/report/csv_listing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "core/base/parse_number.hpp"
#include "core/config/schema.hpp"
#include "core/config/schema/leaf_value.hpp"
#include "storage/files/sealed_file.hpp"
#include "sweeps/report/csv_reader.hpp"

namespace depthgrid {
namespace {

/// The first column that is there is the metric.
constexpr std::array<std::string_view, 2> kFirstMetrics = {"final_loss.valid", "eval_loss.valid"};

constexpr std::array kStatuses = {CellStatus::Pending,  CellStatus::Running, CellStatus::Completed,
                                  CellStatus::Diverged, CellStatus::Failed,  CellStatus::Cancelled,
                                  CellStatus::Oom};

/// true and false, also as spreadsheets write them.
std::optional<bool> csv_flag(const std::string& text) {
  if (text == "true" || text == "TRUE" || text == "True") return true;
  if (text == "false" || text == "FALSE" || text == "False") return false;
  return std::nullopt;
}

/// One row while it is read, with what the columns say of it.
struct CsvRow {
  CellSummary cell;
  bool baseline = false;
};

/// What was expected in the place of a value; empty if it fits. Blanks are numbers that are
/// missing.
template <typename Number>
std::string take_whole(const std::string& text, Number& out) {
  if (text.empty()) return {};
  const auto number = parse_number<std::int64_t>(text);
  if (!number || *number < 0) return "a whole number, 0 or more,";
  out = static_cast<Number>(*number);
  return {};
}

std::string take_flag(const std::string& text, bool& out) {
  if (text.empty()) return {};
  const auto flag = csv_flag(text);
  if (!flag) return "true or false";
  out = *flag;
  return {};
}

std::string take_status(const std::string& text, CellStatus& out) {
  std::vector<std::string_view> words;
  for (const CellStatus status : kStatuses) {
    words.push_back(name_of(status));
    if (text != name_of(status)) continue;
    out = status;
    return {};
  }
  return fmt::format("one of {}", fmt::join(words, ", "));
}

std::string take_seed(const std::string& text, std::int64_t& out) {
  const auto seed = parse_number<std::int64_t>(text);
  out = seed.value_or(0);
  return seed ? "" : "a whole number";
}

std::string take_text(const std::string& text, std::string& out) {
  out = text;
  return {};
}

/// A column that tables of `results` always have.
struct CsvFixedColumn {
  std::string_view name;
  std::string (*take)(const std::string& text, CsvRow& row);
};

constexpr std::array kCsvFixed = {
    CsvFixedColumn{"id", [](const std::string& t, CsvRow& r) { return take_text(t, r.cell.id); }},
    CsvFixedColumn{"alias",
                   [](const std::string& t, CsvRow& r) { return take_text(t, r.cell.alias); }},
    CsvFixedColumn{"arm", [](const std::string& t, CsvRow& r) { return take_text(t, r.cell.arm); }},
    CsvFixedColumn{"tag", [](const std::string& t, CsvRow& r) { return take_text(t, r.cell.tag); }},
    CsvFixedColumn{"seed",
                   [](const std::string& t, CsvRow& r) { return take_seed(t, r.cell.seed); }},
    CsvFixedColumn{"baseline",
                   [](const std::string& t, CsvRow& r) { return take_flag(t, r.baseline); }},
    CsvFixedColumn{"status",
                   [](const std::string& t, CsvRow& r) { return take_status(t, r.cell.status); }},
    CsvFixedColumn{"step",
                   [](const std::string& t, CsvRow& r) { return take_whole(t, r.cell.step); }},
    CsvFixedColumn{"parameters", [](const std::string& t,
                                    CsvRow& r) { return take_whole(t, r.cell.parameters); }},
    CsvFixedColumn{"attempts",
                   [](const std::string& t, CsvRow& r) { return take_whole(t, r.cell.attempts); }},
    CsvFixedColumn{"in_plan",
                   [](const std::string& t, CsvRow& r) { return take_flag(t, r.cell.in_plan); }},
    CsvFixedColumn{"plan",
                   [](const std::string& t, CsvRow& r) { return take_whole(t, r.cell.plan); }}};

const CsvFixedColumn* fixed_column(std::string_view name) {
  const auto* const at = std::ranges::find(kCsvFixed, name, &CsvFixedColumn::name);
  return at == kCsvFixed.end() ? nullptr : at;
}

bool is_csv_leaf(std::string_view name) {
  return find_leaf(name) < schema().size() || name.find('@') != name.npos;
}

/// The value of a leaf as plain_text() writes it: of the type that the schema says, lists as text.
/// @return nothing if it is not of that type.
std::optional<Value> leaf_value(const std::string& name, const std::string& text) {
  const std::size_t at = find_leaf(name);
  if (text == "null") return Value();
  if (at == schema().size()) return Value(text);
  const Leaf& leaf = schema()[at];
  const std::vector<std::string> words = split_words(std::string(leaf.words));
  if (std::ranges::find(words, text) != words.end()) return Value(text);
  if (leaf.kind == ValueKind::Bool) {
    const auto flag = csv_flag(text);
    return flag ? std::optional(Value(*flag)) : std::nullopt;
  }
  if (leaf.kind == ValueKind::Int) {
    const auto whole = parse_number<std::int64_t>(text);
    return whole ? std::optional(Value(*whole)) : std::nullopt;
  }
  if (leaf.kind == ValueKind::Real) {
    const auto real = parse_number<double>(text);
    return real && std::isfinite(*real) ? std::optional(Value(*real)) : std::nullopt;
  }
  return Value(text);
}

/// What the leaves say of the evaluation and of the training's order (evaluation_leaves.hpp).
ValueMap leaves_of_figures(const ValueMap& overrides) {
  ValueMap out;
  std::ranges::copy_if(overrides, std::back_inserter(out), [](const auto& entry) {
    const std::string& leaf = entry.first;
    return (leaf.starts_with("data.") && leaf != "data.seed") || leaf.starts_with("eval.") ||
           leaf == "train.batch_size" || leaf == "train.clip";
  });
  return out;
}

/// Makes the listing, row by row.
class CsvListing {
 public:
  CsvListing(const std::string& name, const CsvRecord& titles) : name_(name), titles_(titles) {
    out_.sweep = std::filesystem::path(name).stem().string();
    out_.store = name;
    out_.tables = {name};
    std::vector<std::string> metrics;
    for (const CsvField& title : titles) {
      const auto same = [&title](const CsvField& other) { return other.text == title.text; };
      if (title.text.empty()) fail(title, "the name of a column was expected");
      if (std::ranges::count_if(titles, same) > 1) {
        fail(title, fmt::format("there are two columns {}: one was expected", title.text));
      }
      const bool metric = fixed_column(title.text) == nullptr && !is_csv_leaf(title.text);
      if (metric) metrics.push_back(title.text);
    }
    const auto has = [&titles](std::string_view column) {
      return std::ranges::find(titles, column, &CsvField::text) != titles.end();
    };
    by_id_ = has("id");
    const char* const lacking = !has("seed")                 ? "seed"
                                : !has("arm") && !has("tag") ? "arm"
                                : metrics.empty()            ? "of a metric, as final_loss.valid,"
                                                             : nullptr;
    if (lacking != nullptr) {
      const bool other =
          titles.size() == 1 && titles[0].text.find_first_of(";\t") != std::string::npos;
      fail(
          titles.front(),
          fmt::format("no column {} is here: seed, arm or tag, and a metric were expected, as "
                      "`depthgrid results STORE --csv` writes them, or arm,seed,final_loss.valid{}",
                      lacking, other ? "; commas separate them" : ""));
    }
    out_.metric = metrics.front();
    for (const std::string_view first : kFirstMetrics) {
      if (!has(first)) continue;
      out_.metric = first;
      break;
    }
  }

  void add(const CsvRecord& record) {
    CsvRow row;
    row.cell.status = CellStatus::Completed;
    for (std::size_t i = 0; i < titles_.size(); ++i) take(titles_[i].text, record[i], row);
    CellSummary& cell = row.cell;
    if (cell.arm.empty()) cell.arm = cell.tag;
    if (cell.arm.empty()) fail(record.front(), "the row has no name: an arm or a tag was expected");
    if (by_id_ && cell.id.empty()) {
      fail(record.front(), "the row has no id: one was expected, as in the other rows");
    }
    if (cell.alias.empty()) cell.alias = fmt::format("{},s{}", cell.arm, cell.seed);
    sort_map(cell.overrides);
    const std::string key = by_id_ ? cell.id
                                   : fmt::format("{}\n{}\n{}\n{}", cell.arm, cell.tag, cell.seed,
                                                 canonical_json(Value(cell.overrides)));
    const std::size_t line = record.front().line;
    if (const auto [at, fresh] = lines_.emplace(key, line); !fresh) {
      fail(record.front(), fmt::format("{}: line {} is the same cell; each was expected once",
                                       by_id_ ? "id " + cell.id : cell.alias, at->second));
    }
    if (!by_id_) cell.id = fmt::format("{}:{}", name_, line);
    out_.baseline.push_back(row.baseline);
    out_.withheld.emplace_back();
    out_.leaves.of_cell.push_back(out_.leaves.sets.size());
    out_.leaves.sets.push_back(leaves_of_figures(cell.overrides));
    out_.cells.push_back(std::move(cell));
  }

  Listing done() {
    if (out_.cells.empty()) fail(titles_.front(), "there is no row below the names of the columns");
    return std::move(out_);
  }

 private:
  void take(const std::string& title, const CsvField& field, CsvRow& row) const {
    const std::string& text = field.text;
    if (const CsvFixedColumn* const fixed = fixed_column(title)) {
      const std::string expected = fixed->take(text, row);
      if (!expected.empty()) misfits(title, field, expected);
    } else if (text.empty()) {
      return;
    } else if (is_csv_leaf(title)) {
      const auto value = leaf_value(title, text);
      if (!value) misfits(title, field, schema()[find_leaf(title)].type());
      row.cell.overrides.emplace_back(title, *value);
    } else {
      const auto number = parse_number<double>(text);
      if (!number) {
        misfits(title, field,
                "a number, for this is no leaf of the schema (depthgrid schema) and so a metric,");
      }
      if (!std::isnan(*number)) row.cell.metrics[title] = *number;
    }
  }

  [[noreturn]] void misfits(const std::string& title, const CsvField& field,
                            const std::string& expected) const {
    fail(field,
         fmt::format("column {}: '{}' is here, {} was expected", title, field.text, expected));
  }

  [[noreturn]] void fail(const CsvField& at, const std::string& what) const {
    throw UserError(ExitCode::BadData, csv_place(name_, at) + what);
  }

  const std::string& name_;
  const CsvRecord& titles_;
  Listing out_;
  bool by_id_ = false;
  std::map<std::string, std::size_t> lines_;  // of each cell
};

}  // namespace

Listing csv_listing(std::string_view text, const std::string& name) {
  const std::vector<CsvRecord> records = read_csv(text, name);
  if (records.empty()) {
    throw UserError(ExitCode::BadData,
                    name +
                        ":1:1: the file is empty: a line with the names of the columns was "
                        "expected, as arm,seed,final_loss.valid");
  }
  CsvListing out(name, records.front());
  for (std::size_t i = 1; i < records.size(); ++i) out.add(records[i]);
  return out.done();
}

Listing read_csv_listing(const std::filesystem::path& file) {
  return csv_listing(read_text_file(file), file.string());
}

std::string tables_note(const Listing& listing) {
  if (listing.tables.empty()) return {};
  return fmt::format(
      "from a table ({}): that these figures are of one evaluation, of trainings in one order, by "
      "one program, is not checked beyond its columns\n",
      fmt::join(listing.tables, ", "));
}

}  // namespace depthgrid
