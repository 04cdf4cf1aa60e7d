#pragma once

#include <string>
#include <string_view>

#include "core/base/exit_code.hpp"
#include "worker/inspect/inspect_model.hpp"
#include "worker/inspect/inspect_report.hpp"
#include "worker/inspect/inspect_request.hpp"

namespace depthgrid {

/// Output and exit code of `depthgrid check`.
struct CheckAnswer {
  std::string json;
  ExitCode code = ExitCode::Done;
};

/// Runs every case of a request on every one of its cells. Failed: a gradient is wrong.
/// @param request  see parse_check_request(). @throws UserError
CheckAnswer check(std::string_view request);

/// The gate of models/routing/surprise_gate and the choice of top_k on given arrays: criteria, gate
/// and mask of every token, and the gradients of the mean gate with respect to the four scalars.
CheckReport inspect_gate(const CheckCase& c);

/// One pass over whole sequences: loss, tokens executed by each dynamic layer and, with `dump`,
/// every intermediate number.
/// @throws UserError if the family has no such mode, or masks or thresholds do not fit.
CheckReport inspect_forward(CheckSubject& subject, const CheckCase& c);

/// The same with a Decoder that gets the tokens in pieces, and its difference from one pass.
/// @throws UserError as inspect_forward(); and for modes that rank a whole text.
CheckReport inspect_decode(CheckSubject& subject, const CheckCase& c);

/// The training loss of the structure's twin: autograd against central differences in float64, and
/// against autograd in float32. Member `pass` says whether all groups are within the threshold.
CheckReport inspect_gradients(CheckSubject& subject, const CheckCase& c);

}  // namespace depthgrid
