#include "core/base/control_group.hpp"

#include <fstream>
#include <string>

namespace depthgrid {

std::vector<std::filesystem::path> control_groups(const std::filesystem::path& own,
                                                  const std::filesystem::path& root) {
  namespace fs = std::filesystem;
  std::vector<fs::path> out;
  std::ifstream in(own);
  std::error_code absent;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("0::/")) continue;
    // In a container the path may be that of the host, of which only the root is seen here.
    for (fs::path group = line.substr(4); !group.empty(); group = group.parent_path()) {
      if (fs::is_directory(root / group, absent)) out.push_back(root / group);
    }
  }
  if (fs::is_directory(root, absent)) out.push_back(root);
  return out;
}

std::int64_t oom_kills_in(const std::vector<std::filesystem::path>& groups) {
  for (const std::filesystem::path& group : groups) {
    std::ifstream events(group / "memory.events");
    std::string name;
    for (std::int64_t count = 0; events >> name >> count;) {
      if (name == "oom_kill") return count;
    }
  }
  return 0;
}

}  // namespace depthgrid
