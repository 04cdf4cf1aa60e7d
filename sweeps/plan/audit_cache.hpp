#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/config/cell_config.hpp"
#include "sweeps/plan/structure_audit.hpp"

namespace depthgrid {

/// Audits of structures, kept from one run to the next.
///
/// The key of an entry is what an audit depends on: the leaves of the model but not its seed, the
/// length of a window, the frozen groups and the build (build_of()); not the steps or the data of a
/// sweep. Checks that were off or did not fit in memory are absent. Entries that cannot be read, or
/// folders that cannot be written, are as good as absent.
class AuditCache {
 public:
  /// @param folder  see default_audit_folder(); empty = keep nothing.
  AuditCache(const std::filesystem::path& worker, std::filesystem::path folder);

  std::optional<StructureAudit> find(const CellConfig& cell) const;
  void keep(const CellConfig& cell, StructureAudit audit) const;

 private:
  std::filesystem::path entry(const CellConfig& cell) const;

  std::filesystem::path folder_;
  std::string build_;
};

/// $XDG_CACHE_HOME/depthgrid/audit, or that under ~/.cache; empty if there is neither.
std::filesystem::path default_audit_folder();

}  // namespace depthgrid
