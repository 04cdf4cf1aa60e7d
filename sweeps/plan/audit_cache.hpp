#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/config/cell_config.hpp"
#include "sweeps/plan/structure_audit.hpp"

namespace depthgrid {

/// A persistent cache of audits of structures.
///
/// The key of an entry contains everything that an audit depends on: the leaves of the model except
/// its seed, the length of a window, the frozen groups and the build (build_of()), but not the
/// steps or the data of a sweep. Checks that were off or did not fit in memory are absent. Entries
/// that cannot be read and folders that cannot be written are ignored.
class AuditCache {
 public:
  /// @param folder  see default_audit_folder(); empty = keep nothing.
  AuditCache(const std::filesystem::path& worker, std::filesystem::path folder);

  /// The audit of a cell's structure; nothing if it is not in the cache.
  std::optional<StructureAudit> find(const CellConfig& cell) const;
  /// Stores an audit, without checks that were off or did not fit in memory.
  void keep(const CellConfig& cell, StructureAudit audit) const;

 private:
  std::filesystem::path entry(const CellConfig& cell) const;

  std::filesystem::path folder_;
  std::string build_;
};

/// $XDG_CACHE_HOME/depthgrid/audit, or the same under ~/.cache; empty if there is neither.
std::filesystem::path default_audit_folder();

}  // namespace depthgrid
