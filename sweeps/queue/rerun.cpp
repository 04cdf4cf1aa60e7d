#include "sweeps/queue/rerun.hpp"

#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/quarantine.hpp"
#include "sweeps/queue/cell_requests.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// Claims and heartbeats, earlier histories, and what was archived before.
bool stays(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.starts_with("gen-") || name.starts_with("hb-") || name.starts_with("earlier-") ||
         is_quarantined(file);
}

}  // namespace

fs::path archive_records(const Store& store, const CellId& id, LeaseKeeper& leases) {
  const Fs& disk = store.fs();
  const fs::path folder = store.cell_dir(id);
  const auto lease = leases.try_acquire(folder);
  if (!lease) {
    throw UserError(ExitCode::TempFail, "cell " + id + " is in use by another process of this " +
                                            "store: run it again when that has ended");
  }
  forget_stop(store, id);  // it came too late
  fs::path earlier;
  for (int n = 1; earlier.empty() || something_at(earlier, disk); ++n) {
    earlier = folder / ("earlier-" + std::to_string(n));
  }
  make_folders(earlier, disk);
  // The result goes last: a process that is killed before leaves a cell that is done, and the next
  // one takes the same way again.
  std::vector<fs::path> files;
  const auto [entries, unread] = disk.list(folder);
  if (unread != 0) throw_errno(folder, "cannot list the folder", unread, 0, disk);
  for (const FolderEntry& entry : entries) {
    if (!stays(entry.name) && entry.name != "result.h5") files.push_back(folder / entry.name);
  }
  if (something_at(folder / "result.h5", disk)) files.push_back(folder / "result.h5");
  for (const fs::path& file : files) {
    const int error = disk.rename(file, earlier / file.filename());
    if (error != 0) throw_errno(file, "cannot move it to " + earlier.string(), error, 0, disk);
  }
  return earlier;
}

std::optional<fs::path> archive_result(const Store& store, const CellId& id, LeaseKeeper& leases) {
  if (!store.completed(id)) return std::nullopt;
  return archive_records(store, id, leases);
}

}  // namespace depthgrid
