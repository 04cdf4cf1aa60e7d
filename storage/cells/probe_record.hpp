#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/base/real_fs.hpp"
#include "storage/cells/row_layout.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/plan_file.hpp"

namespace depthgrid {

/// The leaf beside `probes.*` in the settings of a record: the control signal under which its
/// probes measured, where it was not the cell's own.
inline constexpr const char* kSignalOfProbes = "model.control.u";

/// What probes have found in stored weights of a cell: the contents of a probe record.
struct ProbeRecordInput {
  const StoredCell& plan;
  const StoredPlan& sweep;
  const RowLayout& layout;      // of series over probe_step only
  const RowTable& rows;         // one per measurement, by ascending step
  std::string probes;           // their names
  std::string settings;         // JSON object of the leaves `probes.*` by which they measured
  std::string command;          // as the user gave it
  std::string set_sha256 = {};  // of the probe set on which they measured
};

/// Builds and seals the next of `probe-1.h5`, `probe-2.h5`, …, beside the cell's result. None is
/// ever written again. pack() puts the measurements of all of them over those of the result: a
/// later file goes before an earlier one.
/// @return its path. @throws StorageError.
std::filesystem::path publish_probe_record(const std::filesystem::path& cell_dir,
                                           const ProbeRecordInput& input,
                                           const Fs& disk = real_fs());

/// The probe records of a cell, in the order of their numbers.
std::vector<std::filesystem::path> probe_record_files(const std::filesystem::path& cell_dir,
                                                      const Fs& disk = real_fs());

/// Names of the probes that have written into a cell's result or its probe records; a file that
/// cannot be read has none.
std::set<std::string> recorded_probes(const std::filesystem::path& cell_dir,
                                      const Fs& disk = real_fs());

/// Leaves `probes.*` of a cell in a plan.
ValueMap probe_leaves(const StoredPlan& plan, const StoredCell& cell);
/// Changes when such a leaf of a cell does.
std::string probe_leaves_digest(const StoredPlan& plan);

/// How a probe record, or a result, came to its measurements, as a JSON object: its name, probes,
/// steps, and in "set" the leaves `probes.*` that differ from those of the plan.
/// @param planned  of probe_leaves(). @return  empty for a result by the very leaves of the plan.
std::string probe_record_settings(const std::filesystem::path& file, const TableReader& contents,
                                  const ValueMap& planned);

/// The first leaf in which the measurements of a finished cell, and of all its probe records,
/// differ from the plan: "probes.set.split was dev, not valid"; empty if there is none.
/// @throws StorageError if its result cannot be read.
std::string other_probe_leaf(const std::filesystem::path& cell_dir, const ValueMap& planned,
                             const Fs& disk = real_fs());

/// Digest of the seals of probe records, hex; empty for none. Of each only the seal is read.
std::string probe_records_digest(const std::vector<std::filesystem::path>& files,
                                 const Fs& disk = real_fs());

}  // namespace depthgrid
