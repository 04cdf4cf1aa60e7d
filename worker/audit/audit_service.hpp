#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/config/cell_config.hpp"
#include "sweeps/plan/audit_cache.hpp"

namespace depthgrid {

/// Audits structures for this machine: from the cache where it knows them.
class AuditService {
 public:
  /// @param fresh  repeat what the cache has. @param memory_bytes  that an audit may take.
  AuditService(double memory_bytes, bool fresh, std::function<bool()> stop = {});

  /// @param config   of the cell that represents the structure.
  /// @param levels   checks that are off are not made, and shown as off.
  /// @return nothing if `stop` said so.
  std::optional<StructureAudit> audit(const std::string& structure, const CellConfig& config,
                                      const AuditLevels& levels);

  /// True if the last audit() had to make a check.
  bool worked() const noexcept { return worked_; }

 private:
  AuditCache cache_;
  double memory_bytes_;
  bool fresh_;
  bool worked_ = false;
  std::function<bool()> stop_;
};

/// What `depthgrid audit` asks: JSON in, JSON out (docs/cli.md).
/// @param request  {"schema": 1, "fresh": false, "structures": [{"structure": key, "config":
/// {…}}]};
///                 levels are the leaves audit.* of each configuration.
/// @throws UserError if the request or a configuration cannot be read.
std::string audit(const std::string& request);

}  // namespace depthgrid
