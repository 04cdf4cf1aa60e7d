#include "storage/cells/cell_history.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "storage/cells/cell_axes.hpp"
#include "storage/cells/row_layout.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kClock = "train_wall_time";  // differs between attempts

/// One attempt's rows of one kind.
struct Part {
  std::int64_t generation = 0;
  const RowKind* kind = nullptr;
  const RowTable* rows = nullptr;
};

/// A range of numbers in one row and its place in another.
struct Span {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t count = 0;
};

/// Columns that both layouts have, with equal counts. One without a name was left out.
std::vector<Span> common_columns(const RowKind& from, const RowKind& to,
                                 std::string_view without = "") {
  std::vector<Span> spans;
  std::int64_t at = 0;
  for (const RowColumn& c : from.columns) {
    std::int64_t target = 0;
    for (const RowColumn& t : to.columns) {
      if (t == c && !t.variable.empty() && t.variable != without)
        spans.push_back({at, target, c.count});
      target += t.count;
    }
    at += c.count;
  }
  return spans;
}

bool same_bits(std::span<const double> a, std::span<const double> b,
               const std::vector<Span>& columns) {
  return std::ranges::all_of(columns, [&](const Span& s) {
    return std::memcmp(a.data() + s.from, b.data() + s.to,
                       static_cast<std::size_t>(s.count) * sizeof(double)) == 0;
  });
}

/// Columns of the newest part, then those that only older ones have.
RowKind union_of(const std::vector<Part>& parts) {
  RowKind kind = *parts.back().kind;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    for (const RowColumn& c : part->kind->columns) {
      const auto known = std::ranges::find(kind.columns, c.variable, &RowColumn::variable);
      if (!c.variable.empty() && known == kind.columns.end()) kind.columns.push_back(c);
    }
  }
  return kind;
}

struct Origin {
  std::size_t part = 0;
  std::size_t row = 0;
};
using Origins = std::map<std::int64_t, Origin>;

struct Audit {
  std::int64_t replayed = 0;
  std::set<std::pair<std::int64_t, std::int64_t>> differing;  // (generation, step)
};

/// Compares the rows of part `p` with older ones of the same step, then replaces those.
void overlay(Origins& origins, const std::vector<Part>& parts, std::size_t p, Audit& audit) {
  const Part& part = parts[p];
  std::map<std::size_t, std::vector<Span>> common;  // by older part
  for (std::size_t row = 0; row < part.rows->size(); ++row) {
    const std::int64_t step = part.rows->steps[row];
    const auto [at, fresh] = origins.try_emplace(step, Origin{p, row});
    if (fresh) continue;
    const Origin older = std::exchange(at->second, Origin{p, row});
    if (older.part == p || part.kind->name == "cell") continue;
    const Part& before = parts[older.part];
    auto columns = common.find(older.part);
    if (columns == common.end()) {
      const auto spans = common_columns(*before.kind, *part.kind, kClock);
      columns = common.emplace(older.part, spans).first;
    }
    if (part.kind->name == "train") ++audit.replayed;
    if (!same_bits(before.rows->row(older.row), part.rows->row(row), columns->second)) {
      audit.differing.emplace(part.generation, step);
    }
  }
}

MergedRows merge(const std::vector<Part>& parts, Audit& audit) {
  Origins origins;
  for (std::size_t p = 0; p < parts.size(); ++p) overlay(origins, parts, p, audit);
  MergedRows merged{union_of(parts), {}};
  merged.rows.width = merged.kind.width();
  std::vector<std::vector<Span>> columns;
  for (const Part& part : parts) columns.push_back(common_columns(*part.kind, merged.kind));
  std::vector<double> row(static_cast<std::size_t>(merged.rows.width));
  for (const auto& [step, origin] : origins) {
    std::ranges::fill(row, kNaN);
    const auto values = parts[origin.part].rows->row(origin.row);
    for (const Span& s : columns[origin.part]) {
      std::copy_n(values.begin() + s.from, s.count, row.begin() + s.to);
    }
    merged.rows.add(step, row);
  }
  return merged;
}

AttemptRecord record_of(std::int64_t generation, const JournalContents& journal) {
  AttemptRecord record{generation,
                       journal.header.first_step,
                       journal.header.first_step,
                       journal.header.attempt_json,
                       journal.end,
                       journal.torn,
                       journal.mark};
  record.mark.generation = generation;
  for (std::size_t k = 0; k < journal.rows.size(); ++k) {
    if (journal.header.kinds[k].name == "cell") continue;
    for (const std::int64_t step : journal.rows[k].steps) {
      record.last_step = std::max(record.last_step, step);
    }
  }
  return record;
}

bool is_of(const JournalHeader& header, std::int64_t generation, const std::string& cell) {
  return header.generation == generation && (header.cell.empty() || header.cell == cell);
}

/// What is wrong with a journal beyond a torn end; empty if nothing is.
std::string damage_of(const JournalContents& journal, std::int64_t generation,
                      const std::string& cell) {
  const JournalHeader& header = journal.header;
  if (journal.mark.bytes == 0) {
    return journal.frames_behind > 0 ? "its head is damaged" : "";  // else its owner died early
  }
  if (!is_of(header, generation, cell)) {
    return fmt::format("is the journal of attempt {} of {}", header.generation,
                       header.cell.empty() ? "another cell" : "cell " + header.cell);
  }
  if (journal.frames_behind == 0) return "";
  std::int64_t last = header.first_step;
  for (const RowTable& rows : journal.rows) {
    for (const std::int64_t step : rows.steps) last = std::max(last, step);
  }
  return fmt::format("is damaged after step {}: {} whole records behind are not used", last,
                     journal.frames_behind);
}

/// The journals of a cell by generation. Those that are no journals of this cell are left out.
std::map<std::int64_t, JournalContents> read_all(const fs::path& cell_dir, CellHistory& history,
                                                 const Fs& disk) {
  std::map<std::int64_t, JournalContents> journals;
  const std::string cell = cell_dir.filename();
  const auto [entries, closed] = disk.list(cell_dir);
  if (closed != 0 && !means_absent(closed)) {
    throw_errno(cell_dir, "cannot list the folder", closed, 0, disk);
  }
  for (const FolderEntry& entry : entries) {
    const fs::path file = cell_dir / entry.name;
    const auto generation = generation_of(entry.name, "journal");
    if (!generation) continue;
    try {
      JournalContents journal = read_journal(file, disk);
      const std::string damage = damage_of(journal, *generation, cell);
      if (!damage.empty()) history.damages.push_back(file.string() + ": " + damage);
      const bool own = journal.mark.bytes == 0 ? journal.frames_behind == 0
                                               : is_of(journal.header, *generation, cell);
      if (!own) {
        history.unusable.push_back(file);
      } else {
        journals.emplace(*generation, std::move(journal));
      }
    } catch (const StorageError& error) {
      if (error.code() == ExitCode::CantCreate) throw;  // not readable now: no damage
      if (error.code() == ExitCode::NoInput) continue;  // gone since it was listed
      history.damages.emplace_back(error.what());
      history.unusable.push_back(file);
    }
  }
  std::ranges::sort(history.damages);
  return journals;
}

/// The axes along which the numbers of the columns of one attempt lie, by variable.
std::map<std::string, std::vector<RowAxis>> column_axes(const JournalHeader& header) {
  std::map<std::string, std::vector<RowAxis>> out;
  CellAxes axes;
  const auto unless_wrong = [](const auto& work) {
    try {
      work();
    } catch (const Error&) {  // whoever puts the numbers into columns says so
    }
  };
  for (const RowAxis& axis : header.axes) unless_wrong([&] { axes.give(axis); });
  for (const RowKind& kind : header.kinds) {
    for (const RowColumn& column : kind.columns) {
      const Variable* v = find_variable(column.variable);
      if (v == nullptr) continue;
      unless_wrong([&] {
        const std::size_t first = axis_of_kind(kind.name).empty() ? 1 : 2;
        axes.shape(*v, first, column.count);
        out[column.variable] = axes.axes(*v, first);
      });
    }
  }
  return out;
}

/// Probes may measure by other leaves after a resume, along axes of other lengths or labels. All
/// columns of a cell share their axes, those of the newest attempt: of older attempts, columns
/// along other ones are left out, by taking away their names.
class CommonAxes {
 public:
  void keep(JournalHeader& header) {
    const auto axes = column_axes(header);
    for (RowKind& kind : header.kinds) {
      for (RowColumn& column : kind.columns) {
        const auto own = axes.find(column.variable);
        if (own == axes.end()) continue;
        if (std::ranges::all_of(own->second, [&](const RowAxis& a) { return fits(a); })) {
          for (const RowAxis& axis : own->second) known_.try_emplace(axis.name, axis);
        } else {
          column.variable.clear();
        }
      }
    }
    for (const RowAxis& axis : header.axes) {
      const bool known =
          std::ranges::find(explicit_axes_, axis.name, &RowAxis::name) != explicit_axes_.end();
      if (!known && fits(axis)) explicit_axes_.push_back(axis);
    }
  }

  std::vector<RowAxis> explicit_axes() && { return std::move(explicit_axes_); }

 private:
  bool fits(const RowAxis& axis) const {
    const auto at = known_.find(axis.name);
    return at == known_.end() || at->second == axis;
  }

  std::map<std::string, RowAxis> known_;
  std::vector<RowAxis> explicit_axes_;
};

}  // namespace

std::vector<double> MergedRows::column(std::string_view variable) const {
  std::size_t first = 0;
  auto column = kind.columns.begin();
  for (; column != kind.columns.end() && column->variable != variable; ++column) {
    first += static_cast<std::size_t>(column->count);
  }
  if (column == kind.columns.end()) {
    throw Error(fmt::format("rows '{}' have no column '{}'", kind.name, variable));
  }
  const auto count = static_cast<std::size_t>(column->count);
  std::vector<double> out;
  out.reserve(rows.size() * count);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto values = rows.row(i).subspan(first, count);
    out.insert(out.end(), values.begin(), values.end());
  }
  return out;
}

const MergedRows* CellHistory::find(std::string_view kind) const {
  const auto at =
      std::ranges::find_if(kinds, [&](const MergedRows& m) { return m.kind.name == kind; });
  return at == kinds.end() ? nullptr : &*at;
}

std::int64_t covered_steps(const CellHistory& history) {
  const MergedRows* train = history.find("train");
  std::int64_t out = 0;
  for (std::size_t i = 0; train != nullptr && i < train->rows.size(); ++i) {
    if (train->rows.steps[i] != out + 1) break;
    ++out;
  }
  return out;
}

CellHistory read_history(const fs::path& cell_dir, const Fs& disk) {
  CellHistory history;
  std::map<std::int64_t, JournalContents> journals = read_all(cell_dir, history, disk);
  CommonAxes axes;
  for (auto newest = journals.rbegin(); newest != journals.rend(); ++newest) {
    axes.keep(newest->second.header);
  }
  history.axes = std::move(axes).explicit_axes();
  std::vector<std::string> names;  // kinds in the order in which they first appear
  std::map<std::string, std::vector<Part>> parts;
  for (const auto& [generation, journal] : journals) {
    history.attempts.push_back(record_of(generation, journal));
    history.events.insert(history.events.end(), journal.events.begin(), journal.events.end());
    for (std::size_t k = 0; k < journal.rows.size(); ++k) {
      const RowKind& kind = journal.header.kinds[k];
      std::vector<Part>& of_kind = parts[kind.name];
      if (of_kind.empty()) names.push_back(kind.name);
      of_kind.push_back({generation, &kind, &journal.rows[k]});
    }
  }
  Audit audit;
  for (const std::string& name : names) history.kinds.push_back(merge(parts[name], audit));
  history.replayed_steps = audit.replayed;
  history.replay_mismatches = static_cast<std::int64_t>(audit.differing.size());
  return history;
}

}  // namespace depthgrid
