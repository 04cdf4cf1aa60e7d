#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/subprocess.hpp"
#include "core/config/yaml/diagnostics.hpp"

namespace depthgrid {
namespace {

/// Of the ranks of a launcher, all have the same command line and sweep file, and those of a host
/// the same disks and programs: one of them says what is wrong. The others wait for it a moment,
/// since a launcher ends all ranks with the first that ends.
bool speaks(ExitCode code) {
  if ((code == ExitCode::Usage ? launcher_rank() : launcher_local_rank()) == 0) return true;
  std::this_thread::sleep_for(std::chrono::seconds(10));
  return false;
}

int guarded(const std::vector<std::string>& words) {
  try {
    return dispatch(kVerbs, words);
  } catch (const SweepErrors& e) {  // every line already names its file
    if (speaks(e.code())) fmt::print(stderr, "{}\n", e.what());
    return number_of(e.code());
  } catch (const UserError& e) {
    if (speaks(e.code())) fmt::print(stderr, "depthgrid: {}\n", e.what());
    return number_of(e.code());
  } catch (const Error& e) {
    fmt::print(stderr, "depthgrid: {} ({})\n", e.what(), e.where());
  } catch (const std::exception& e) {
    fmt::print(stderr, "depthgrid: {}\n", e.what());
  }
  return number_of(ExitCode::Failed);
}

}  // namespace
}  // namespace depthgrid

int main(int argc, char** argv) {
  return depthgrid::guarded({argv + 1, argv + argc});
}
