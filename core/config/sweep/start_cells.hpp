#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/config/resolve/slots.hpp"
#include "core/config/start_name.hpp"
#include "core/config/sweep.hpp"

namespace depthgrid {

/// A cell whose identity depends on that of the cell it starts from.
struct WaitingCell {
  std::size_t row = 0;                 // of its draft
  std::size_t replicate = 0;           // index of its seed
  std::shared_ptr<const Slots> slots;  // of its arm, resolved
  StartName name;
  Place place;  // of `model.init.from`
};

/// Finds the cells named by `model.init.from: arm:` and `cell:`, sources first: an id hashes the id
/// of the cell it starts from.
class StartCells {
 public:
  /// Adds the cell of a tagged arm with one seed.
  void add_tagged(const std::string& tag, std::size_t replicate, std::size_t row);
  void add(WaitingCell cell);

  /// Unknown and ambiguous names and cycles are reported at their lines.
  /// @param cells   drafts by row; their ids are empty until set by `resolve_cell`.
  /// @param resolve_cell  sets a cell's id and returns its row, or that of the cell it duplicates.
  using ResolveCell = std::function<std::size_t(const WaitingCell& cell, std::size_t source)>;
  void resolve(const std::vector<CellPlan>& cells, const ResolveCell& resolve_cell,
               Diagnostics& diagnostics);

 private:
  std::vector<std::size_t> beginning_with(const std::string& name) const;
  std::optional<std::size_t> source_of(const WaitingCell& cell, bool beginnings);
  bool resolve_all(const ResolveCell& resolve_cell, bool beginnings);
  void report(const WaitingCell& cell, Diagnostics& diagnostics);
  void report_cycle(std::size_t index, Diagnostics& diagnostics);
  std::size_t kept(std::size_t row) const;

  const std::vector<CellPlan>* cells_ = nullptr;
  std::map<std::string, std::map<std::size_t, std::size_t>> tagged_;
  std::vector<WaitingCell> waiting_;
  std::vector<bool> done_;
  std::unordered_map<std::size_t, std::size_t> index_;       // row -> waiting_
  std::unordered_map<std::size_t, std::size_t> equal_;       // row -> row of the same cell
  std::map<std::string, std::optional<std::size_t>> named_;  // by name of `cell:`, of this pass
  std::map<std::string, const WaitingCell*> by_beginning_;
};

}  // namespace depthgrid
