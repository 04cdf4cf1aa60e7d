#pragma once

#include <filesystem>
#include <string>

#include "core/base/real_fs.hpp"

namespace depthgrid {

/// What a supervisor, or a run with budget.wall_time, had and used: `supervisors/<name>.json` in
/// the store, written anew once a minute and when it ends, so that one that is killed loses a
/// minute.
struct SlotRecord {
  std::string name;    // host, process and time of its begin: unique
  bool cards = false;  // its slots are GPUs
  double seconds = 0;  // slots × s that it had for launches
  double busy = 0;     // of these, with a launch on them
  double wall = 0;     // s since it began
};

/// @param store  its folder. @throws StorageError
void keep_slots(const std::filesystem::path& store, const SlotRecord& record,
                const Fs& disk = real_fs());

/// Sums over all supervisors of a store; unreadable records are left out.
struct SlotSums {
  double seconds = 0, busy = 0, wall = 0;
  bool cards = false;  // of any
};
SlotSums slot_sums(const std::filesystem::path& store, const Fs& disk = real_fs());

}  // namespace depthgrid
