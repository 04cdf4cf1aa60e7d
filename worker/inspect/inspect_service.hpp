#pragma once

#include <string>
#include <string_view>

#include "core/base/exit_code.hpp"

namespace depthgrid {

/// Output and exit code of `depthgrid check`.
struct CheckAnswer {
  std::string json;
  ExitCode code = ExitCode::Done;
};

/// Runs every case of a request on every one of its cells. Failed: a gradient is wrong.
/// @param request  see parse_check_request(). @throws UserError
CheckAnswer check(std::string_view request);

}  // namespace depthgrid
