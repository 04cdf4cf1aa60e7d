#pragma once

#include <functional>
#include <memory>

#include <c10/core/Device.h>

namespace depthgrid {

/// Work on tensors of one device beside what its caller does meanwhile, one piece after another.
class BackgroundLane {
 public:
  virtual ~BackgroundLane() = default;

  virtual c10::Device device() const noexcept = 0;

  /// Begins `work` once earlier pieces are done, and what the caller has computed so far is there.
  virtual void begin(std::function<void()> work) = 0;

  /// Returns once all pieces are done, and `last` after them; what follows may use their results.
  /// @throws what the first piece that failed has thrown; later ones were not begun.
  virtual void finish(const std::function<void()>& last) = 0;
};

/// @param beside  false: pieces are done at once, by the caller. For host tensors a thread of its
///                own does them, which makes MPI calls while the caller makes none; for a GPU, the
///                caller queues them on a second stream.
std::unique_ptr<BackgroundLane> make_lane(c10::Device device, bool beside);

}  // namespace depthgrid
