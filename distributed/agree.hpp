#pragma once

#include <functional>

#include "core/base/error.hpp"
#include "distributed/collective.hpp"

namespace depthgrid {

// On what all ranks of a team, or of the world, agree. Every call is collective; groups are of host
// tensors ("self" and "mpi"). See also smallest(), largest() and total().

/// An error that all ranks of a group have in common: each of them throws it, one may speak.
class SharedError : public UserError {
 public:
  using UserError::UserError;
};

/// Does `work` on every rank. If a UserError ends it on some, all throw a SharedError: the text of
/// the first of them, with the largest exit code. Any other exception is this rank's own.
void agree(Collective& group, const std::function<void()>& work);

/// agree() on what only the first rank does.
void agree_on_first(Collective& group, const std::function<void()>& work);

/// True iff `ok` holds on every rank, or on one at least.
bool on_all(Collective& group, bool ok);
bool on_any(Collective& group, bool ok);

}  // namespace depthgrid
