#include "sweeps/launch/node_faults.hpp"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/json_members.hpp"
#include "core/base/json_text.hpp"
#include "core/base/parse_number.hpp"
#include "core/base/printable.hpp"
#include "storage/files/loose_text.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/quarantine.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;
using NodeJson = nlohmann::ordered_json;

constexpr std::string_view kRecord = ".json", kReadmitted = ".readmitted-";

fs::path nodes_folder(const fs::path& store) {
  return store / "nodes";
}

/// Names come from launchers and environments, and become names of files.
bool names_node(const std::string& name) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  return !name.empty() && name.size() < 200 && name.front() != '.' &&
         name.find_first_not_of(kLetters) == name.npos;
}

/// The fault that a file is of: 1 for "n1.json", 3 for "n1.json.3", 0 for any other name.
std::int64_t fault_number(const std::string& file, const std::string& node) {
  const std::string first = node + std::string(kRecord);
  if (!file.starts_with(first)) return 0;
  if (file.size() == first.size()) return 1;
  if (file[first.size()] != '.') return 0;
  return parse_number<std::int64_t>(file.substr(first.size() + 1)).value_or(0);
}

std::vector<std::string> files_in(const fs::path& folder, const Fs& disk) {
  std::vector<std::string> out;
  for (FolderEntry& entry : disk.list(folder).value) out.push_back(std::move(entry.name));
  std::ranges::sort(out);
  return out;
}

using F = NodeFault;
constexpr auto kFaultMembers =
    json_members("node", &F::node, "cause", &F::cause, "why", &F::why, "when", &F::when, "task",
                 &F::task, "launch", &F::launch);

NodeFault fault_in(const fs::path& file, const std::string& node, const Fs& disk) {
  NodeFault out{.node = node, .cause = "unknown", .why = "its record cannot be read"};
  const NodeJson j = parse_ordered_json_or_discard(loose_text(file, 0, disk));
  try {
    take_members(j, out, kFaultMembers, {"node"});
  } catch (const nlohmann::json::exception&) {  // what could be read is read
  }
  out.node = node;  // as the file is named
  return out;
}

std::string options_for(const std::vector<NodeFault>& faults) {
  std::string out;
  for (const NodeFault& fault : faults) out += " --node " + fault.node;
  return out;
}

/// "program: n1, n2; device: n3", the most frequent cause first.
std::string causes_of(const std::vector<NodeFault>& faults) {
  std::vector<std::pair<std::string, std::vector<std::string>>> causes;
  for (const NodeFault& fault : faults) {
    const auto at = std::ranges::find(causes, fault.cause, [](const auto& c) { return c.first; });
    if (at == causes.end()) {
      causes.push_back({fault.cause, {fault.node}});
    } else {
      at->second.push_back(fault.node);
    }
  }
  std::ranges::stable_sort(causes, std::greater<>(), [](const auto& c) { return c.second.size(); });
  std::vector<std::string> out;
  for (const auto& [cause, nodes] : causes) {
    out.push_back(fmt::format("{}: {}", cause, fmt::join(nodes, ", ")));
  }
  return fmt::format("{}", fmt::join(out, "; "));
}

std::string in_one_line(std::string text) {
  text.erase(std::min(text.find_last_not_of(" \n") + 1, text.size()));
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

std::int64_t record_node_fault(const fs::path& store, const NodeFault& fault, const Clock& clock,
                               const Fs& disk) {
  if (!names_node(fault.node)) return 0;
  NodeFault complete = fault;
  if (complete.when.empty()) complete.when = iso_utc(clock.unix_time());
  NodeJson json{{"schema", 1}};
  put_members(json, complete, kFaultMembers);
  const std::string text = json_text(json, 1);
  const fs::path first = node_fault_file(store, fault.node);
  make_folders(nodes_folder(store), disk);
  if (publish_once(first, text, disk)) return 1;
  std::int64_t n = 1;
  for (const std::string& file : files_in(nodes_folder(store), disk)) {
    n = std::max(n, fault_number(file, fault.node));
  }
  do {
    ++n;
  } while (!publish_once(fmt::format("{}.{}", first.string(), n), text, disk));
  return n;
}

fs::path node_fault_file(const fs::path& store, const std::string& node) {
  return nodes_folder(store) / (node + std::string(kRecord));
}

std::vector<NodeFault> node_faults(const fs::path& store, const Fs& disk) {
  const std::vector<std::string> files = files_in(nodes_folder(store), disk);
  std::vector<NodeFault> out;
  for (const std::string& file : files) {
    if (!file.ends_with(kRecord)) continue;
    const std::string node = file.substr(0, file.size() - kRecord.size());
    if (!names_node(node)) continue;
    NodeFault& fault = out.emplace_back(fault_in(nodes_folder(store) / file, node, disk));
    for (const std::string& other : files) {
      fault.times = std::max(fault.times, fault_number(other, node));
    }
  }
  return out;
}

bool readmit_node(const fs::path& store, const std::string& node, const Fs& disk) {
  if (!names_node(node)) return false;
  const fs::path folder = nodes_folder(store);
  std::vector<std::string> files;
  for (const std::string& file : files_in(folder, disk)) {
    if (fault_number(file, node) > 0) files.push_back(file);
  }
  const std::string first = node + std::string(kRecord);
  if (std::ranges::count(files, first) == 0) return false;
  // It goes last: whoever is killed before has left the node out.
  std::ranges::stable_partition(files, [&](const std::string& file) { return file != first; });
  std::int64_t n = 1;
  const auto target = [&](const std::string& file) {
    return folder / fmt::format("{}{}{}", file, kReadmitted, n);
  };
  while (std::ranges::any_of(files,
                             [&](const std::string& f) { return something_at(target(f), disk); })) {
    ++n;
  }
  for (const std::string& file : files) {
    const int error = disk.rename(folder / file, target(file));
    if (error == ENOENT) continue;  // somebody else was first
    if (error != 0) throw_errno(folder / file, "cannot be renamed", error, 0, disk);
  }
  sync_folder(folder, disk);
  return true;
}

std::int64_t most_left_out(std::int64_t nodes) {
  return std::max<std::int64_t>(1, nodes / 10);
}

std::string sweep_fault(const std::vector<NodeFault>& faults, std::int64_t nodes,
                        const std::string& store) {
  const std::int64_t out = std::ssize(faults), most = most_left_out(nodes);
  if (nodes < 1 || out == 0 || (out <= most && out < nodes)) return {};
  const std::string measure = out < nodes ? fmt::format(
                                                "{} of {} nodes are at fault, and no more than {} "
                                                "may be left out",
                                                out, nodes, most)
                                          : std::string("every node of the partition is at fault");
  return fmt::format(
      "{} ({}): the sweep or the cluster has a fault of its own. On {}: {}\nWhen it is mended: "
      "depthgrid retry{} {}, then depthgrid submit",
      measure, causes_of(faults), faults.front().node, in_one_line(faults.front().why),
      options_for(faults), shell_word(store));
}

std::string node_faults_text(const std::vector<NodeFault>& faults, const std::string& store,
                             Colour colour) {
  if (faults.empty()) return {};
  Table table{{{"node"}, {"cause"}, {"times", Align::Right}, {"since"}, {"why"}}, {}};
  for (const NodeFault& fault : faults) {
    table.rows.push_back(
        {fault.node, fault.cause, std::to_string(fault.times), fault.when, in_one_line(fault.why)});
  }
  return fmt::format("\nnodes left out (depthgrid retry{} {} readmits {})\n{}",
                     faults.size() == 1 ? options_for(faults) : " --node NODE", shell_word(store),
                     faults.size() == 1 ? "it" : "one", text_of(table, colour));
}

std::string node_faults_json(const std::vector<NodeFault>& faults) {
  NodeJson out = NodeJson::array();
  for (const NodeFault& fault : faults) {
    out.push_back(object_of<NodeJson>(fault, kFaultMembers));
    out.back()["times"] = fault.times;
  }
  return json_text(out);
}

}  // namespace depthgrid
