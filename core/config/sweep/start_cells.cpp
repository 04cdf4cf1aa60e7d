#include "core/config/sweep/start_cells.hpp"

#include <algorithm>

namespace depthgrid {
namespace {

constexpr std::size_t kShown = 6;

std::string quoted(const WaitingCell& cell) {
  const bool arm = cell.name.kind == StartName::Kind::Arm;
  return "`model.init.from`: " + std::string(arm ? "arm:" : "cell:") + cell.name.name;
}

}  // namespace

void StartCells::add_tagged(const std::string& tag, std::size_t replicate, std::size_t row) {
  tagged_[tag].emplace(replicate, row);
}

void StartCells::add(WaitingCell cell) {
  index_.emplace(cell.row, waiting_.size());
  waiting_.push_back(std::move(cell));
}

std::size_t StartCells::kept(std::size_t row) const {
  const auto at = equal_.find(row);
  return at == equal_.end() ? row : at->second;
}

std::vector<std::size_t> StartCells::beginning_with(const std::string& name) const {
  std::vector<std::size_t> out;
  for (std::size_t row = 0; row < cells_->size(); ++row) {
    if (equal_.contains(row)) continue;
    const CellPlan& cell = (*cells_)[row];
    if (cell.id == name || cell.alias == name) return {row};
    if (cell.id.starts_with(name) || cell.alias.starts_with(name)) out.push_back(row);
  }
  return out;
}

/// Row of the named cell, whether or not it has an id yet.
/// @param beginnings  accept a prefix of a name: only once no full name is left, so that the result
///                    does not depend on the order in which ids become known.
std::optional<std::size_t> StartCells::source_of(const WaitingCell& cell, bool beginnings) {
  if (cell.name.kind == StartName::Kind::Arm) {
    const auto arm = tagged_.find(cell.name.name);
    if (arm == tagged_.end()) return std::nullopt;
    const auto row = arm->second.find(cell.replicate);
    return row == arm->second.end() ? std::nullopt : std::optional(kept(row->second));
  }
  const auto [known, fresh] = named_.try_emplace(cell.name.name);
  if (fresh && !cell.name.name.empty()) {
    const std::vector<std::size_t> rows = beginning_with(cell.name.name);
    if (rows.size() == 1) {
      const CellPlan& one = (*cells_)[rows[0]];
      const bool whole = one.id == cell.name.name || one.alias == cell.name.name;
      if (!whole && beginnings) by_beginning_.emplace(cell.name.name, &cell);
      if (whole || beginnings) known->second = rows[0];
    }
  }
  return known->second;
}

bool StartCells::resolve_all(const ResolveCell& resolve_cell, bool beginnings) {
  bool moved = false;
  named_.clear();
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (done_[i]) continue;
    const auto source = source_of(waiting_[i], beginnings);
    if (!source || (*cells_)[*source].id.empty()) continue;
    const std::size_t row = resolve_cell(waiting_[i], *source);
    if (row != waiting_[i].row) equal_.emplace(waiting_[i].row, row);
    done_[i] = moved = true;
  }
  return moved;
}

void StartCells::report(const WaitingCell& cell, Diagnostics& diagnostics) {
  if (cell.name.kind == StartName::Kind::Arm) {
    diagnostics.error(cell.place, quoted(cell) + ": that arm has no cell of this seed");
    return;
  }
  const std::vector<std::size_t> rows = beginning_with(cell.name.name);
  std::string several;
  for (std::size_t i = 0; i < std::min(rows.size(), kShown); ++i) {
    several += "\n  " + (*cells_)[rows[i]].id + "  " + (*cells_)[rows[i]].alias;
  }
  if (rows.size() > kShown) several += "\n  and " + std::to_string(rows.size() - kShown) + " more";
  diagnostics.error(
      cell.place,
      quoted(cell) +
          (rows.empty() || cell.name.name.empty()
               ? ": no cell of this sweep has this id or alias, or one that begins so "
                 "(`depthgrid plan` lists them); of a cell of another store write the "
                 "weights with `depthgrid export`, and name that file"
               : ": several cells of this sweep have this name or begin with it:" + several));
}

void StartCells::report_cycle(std::size_t index, Diagnostics& diagnostics) {
  std::vector<std::size_t> path;
  for (std::size_t at = index;;) {
    const auto seen = std::ranges::find(path, at);
    if (seen != path.end()) {
      // One cell reports a cycle; cells that merely lead to it have no problem of their own.
      if (seen != path.begin() || *std::ranges::min_element(path) != index) return;
      std::string text;
      for (const std::size_t i : path) text += (*cells_)[waiting_[i].row].arm + " -> ";
      text += (*cells_)[waiting_[index].row].arm;
      const bool itself = path.size() == 1;
      diagnostics.error(waiting_[index].place,
                        quoted(waiting_[index]) + ": cells wait for each other: " + text +
                            (itself ? "; give this row `model.init.from: null`"
                                    : "; one of them must start from elsewhere"));
      return;
    }
    path.push_back(at);
    const auto source = source_of(waiting_[at], true);
    const auto next = source ? index_.find(*source) : index_.end();
    if (next == index_.end()) return;
    at = next->second;
  }
}

void StartCells::resolve(const std::vector<CellPlan>& cells, const ResolveCell& resolve_cell,
                         Diagnostics& diagnostics) {
  cells_ = &cells;
  done_.assign(waiting_.size(), false);
  do {
    while (resolve_all(resolve_cell, false)) {
    }
  } while (resolve_all(resolve_cell, true));
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (done_[i]) continue;
    if (source_of(waiting_[i], true)) {
      report_cycle(i, diagnostics);
    } else {
      report(waiting_[i], diagnostics);
    }
  }
  for (const auto& [name, cell] : by_beginning_) {  // including ids that became known later
    if (beginning_with(name).size() > 1) report(*cell, diagnostics);
  }
}

}  // namespace depthgrid
