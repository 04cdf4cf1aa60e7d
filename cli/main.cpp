#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/output.hpp"
#include "core/base/printable.hpp"
#include "core/base/subprocess.hpp"
#include "core/config/yaml/diagnostics.hpp"

namespace depthgrid {
namespace {

/// Ranks of one launcher share the command line and the sweep file, and ranks of one host its disks
/// and programs, so only one of them reports what is wrong. The others wait a moment, since a
/// launcher ends all ranks as soon as one ends.
bool speaks(ExitCode code) {
  if ((code == ExitCode::Usage ? launcher_rank() : launcher_local_rank()) == 0) return true;
  std::this_thread::sleep_for(std::chrono::seconds(10));
  return false;
}

/// Messages quote names and keys as they are in files.
void complain(const std::string& message) {
  print_to_stderr(printable(message) + '\n');
}

int guarded(const std::vector<std::string>& words) {
  try {
    for (const std::string& word : words) {
      if (is_utf8(word)) continue;
      throw UserError(ExitCode::Usage, "'" + word +
                                           "' on the command line is not UTF-8; names of files and "
                                           "folders must be, as they are recorded");
    }
    return dispatch(kVerbs, words);
  } catch (const SweepErrors& e) {  // every line already names its file
    if (speaks(e.code())) complain(e.what());
    return number_of(e.code());
  } catch (const UserError& e) {
    if (speaks(e.code())) complain(std::string("depthgrid: ") + e.what());
    return number_of(e.code());
  } catch (const Error& e) {
    complain(fmt::format("depthgrid: {} ({})", e.what(), e.where()));
  } catch (const std::exception& e) {
    complain(std::string("depthgrid: ") + e.what());
  }
  return number_of(ExitCode::Failed);
}

}  // namespace
}  // namespace depthgrid

int main(int argc, char** argv) {
  depthgrid::keep_standard_streams();
  depthgrid::configure_log(depthgrid::wanted_log_level(), "");
  return depthgrid::guarded({argv + 1, argv + argc});
}
