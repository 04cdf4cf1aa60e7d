// GPU twin of core/train/optimizer/adam.cpp: the same operations in the same order.
#include <cfloat>

#include "distributed/cuda/block_update.cuh"

namespace depthgrid {
namespace {

template <bool kDecoupled>
struct AdamRule {
  static constexpr int kMoments = 2;

  struct Rates {
    float gradient_factor, l2, beta1, rest1, beta2, rest2, inverse_root, eps, step_size, decay;
  };

  static __device__ Rates rates(const DeviceScalars& s) {
    const double beta1 = s.own[0], beta2 = s.own[1];
    const double correction1 = 1 - pow(beta1, s.step);
    const double correction2 = 1 - pow(beta2, s.step);
    const float eps = static_cast<float>(s.own[2]);
    Rates r;
    r.gradient_factor = static_cast<float>(s.gradient_factor);
    r.l2 = static_cast<float>(kDecoupled ? 0.0 : s.weight_decay);
    r.beta1 = static_cast<float>(beta1);
    r.rest1 = static_cast<float>(1 - beta1);
    r.beta2 = static_cast<float>(beta2);
    r.rest2 = static_cast<float>(1 - beta2);
    r.inverse_root = static_cast<float>(correction2 > 0 ? 1 / sqrt(correction2) : 1.0);
    r.eps = eps < FLT_MIN ? FLT_MIN : eps;
    r.step_size = static_cast<float>(correction1 > 0 ? s.lr / correction1 : 0.0);
    r.decay = static_cast<float>(kDecoupled ? 1 - s.lr * s.weight_decay : 1.0);
    return r;
  }

  static __device__ float next(float old, float g, float* moments, const Rates& r) {
    const float gradient = g * r.gradient_factor + old * r.l2;
    const float first = r.beta1 * moments[0] + r.rest1 * gradient;
    const float second = r.beta2 * moments[1] + (r.rest2 * gradient) * gradient;
    const float denominator = sqrtf(second) * r.inverse_root + r.eps;
    moments[0] = first;
    moments[1] = second;
    return old * r.decay - r.step_size * first / denominator;
  }
};

}  // namespace

int launch_adam(const StepArgs& args, void* stream) {
  return launch_update<AdamRule<false>>(args, stream);
}

int launch_adamw(const StepArgs& args, void* stream) {
  return launch_update<AdamRule<true>>(args, stream);
}

}  // namespace depthgrid
