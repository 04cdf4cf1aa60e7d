#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/real_fs.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {

/// A node that is left out of a sweep, by the cause that was seen there and never by an exit code
/// alone: `nodes/<name>.json` in the store, as it was first seen.
struct NodeFault {
  std::string node;        // as node_name()
  std::string cause;       // a word: "device", "program", …
  std::string why;         // in words
  std::string when{};      // UTC; "" = now
  std::string task{};      // of Slurm, "123_4"; "" outside of it: a machine that it may not know
  std::string launch{};    // LaunchRecord::id; "" = before one
  std::int64_t times = 1;  // seen so far
};

/// Records a fault. The first one of a node stays; later ones are kept beside it
/// (`nodes/<name>.json.2`, …) and counted.
/// @return how often the node has been at fault: 1 means that it is left out from now on, so that
///         tasks which wait must be kept away (sweeps/slurm/node_exclusion); 0 if the name is none
///         of a node, as where several may have been at fault.
/// @throws StorageError
std::int64_t record_node_fault(const std::filesystem::path& store, const NodeFault& fault,
                               const Clock& clock = real_clock(), const Fs& disk = real_fs());

/// The record of a node that is left out.
std::filesystem::path node_fault_file(const std::filesystem::path& store, const std::string& node);

/// The nodes that are left out, by name. What cannot be read is a fault of an unknown cause.
std::vector<NodeFault> node_faults(const std::filesystem::path& store, const Fs& disk = real_fs());

/// Lets a sweep use a node again; its records stay, as `….readmitted-1`, `-2`, ….
/// @return false if it is not left out. @throws StorageError
bool readmit_node(const std::filesystem::path& store, const std::string& node,
                  const Fs& disk = real_fs());

/// How many of so many nodes may be left out: a tenth, but at least one.
std::int64_t most_left_out(std::int64_t nodes);

/// More nodes at fault than that are no fault of theirs: the sweep's own, or the cluster's. So is a
/// fault of the last node, without which tasks would wait for ever.
/// @param nodes  of the partition; 0 = unknown, and nothing is judged.
/// @param faults  of these. @param store  as its user names it.
/// @return why the sweep ends, with nodes, causes and what to do; empty if it goes on.
std::string sweep_fault(const std::vector<NodeFault>& faults, std::int64_t nodes,
                        const std::string& store);

/// Lines for the end of a status, with the command that readmits a node; "" without faults.
/// @param store  as its user names it.
std::string node_faults_text(const std::vector<NodeFault>& faults, const std::string& store,
                             Colour colour = Colour::No);

/// [{"node", "cause", "why", "when", "task", "launch", "times"}, …]
std::string node_faults_json(const std::vector<NodeFault>& faults);

}  // namespace depthgrid
