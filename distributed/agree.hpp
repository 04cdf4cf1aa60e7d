#pragma once

#include <functional>

#include "core/base/error.hpp"
#include "distributed/collective.hpp"

namespace depthgrid {

// Agreement among all ranks of a team or of the world. Every call is collective; groups hold host
// tensors ("self" and "mpi"). See also largest() and total().

/// An error shared by all ranks of a group: each of them throws it, one should report it.
class SharedError : public UserError {
 public:
  using UserError::UserError;
};

/// Runs `work` on every rank. If it throws a UserError on some, all throw a SharedError with the
/// text of the first of them and the largest exit code. Any other exception stays on its rank.
void agree(Collective& group, const std::function<void()>& work);

/// agree() for work that only the first rank does.
void agree_on_first(Collective& group, const std::function<void()>& work);

/// True iff `ok` holds on at least one rank.
bool on_any(Collective& group, bool ok);

}  // namespace depthgrid
