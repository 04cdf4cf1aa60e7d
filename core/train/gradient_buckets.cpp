#include "core/train/gradient_buckets.hpp"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace depthgrid {
namespace {

using torch::autograd::variable_list;

constexpr std::int64_t kMostBytes = std::int64_t{32} << 20;
constexpr std::int64_t kPieces = 8;  // into which a small model is cut

}  // namespace

/// Follows one leaf's accumulation of its gradient. Its node also runs where an operation has added
/// to the gradient by itself and returns none, after all operations that use the leaf.
class GradientBuckets::Watch {
 public:
  Watch(GradientBuckets& owner, std::size_t bucket, const at::Tensor& leaf)
      : node_(torch::autograd::impl::grad_accumulator(leaf)),
        key_(node_->add_post_hook(std::make_unique<Hook>(owner, bucket))) {}
  ~Watch() { node_->del_post_hook(key_); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  struct Hook final : torch::autograd::FunctionPostHook {
    Hook(GradientBuckets& o, std::size_t b) : owner(o), bucket(b) {}
    variable_list operator()(const variable_list& outputs, const variable_list&) override {
      owner.completed(bucket);
      return outputs;
    }
    GradientBuckets& owner;
    std::size_t bucket;
  };

  std::shared_ptr<torch::autograd::Node> node_;  // a leaf refers to it only weakly
  std::uintptr_t key_;
};

GradientBuckets::GradientBuckets(Arena& arena, GradientSync& sync, std::int64_t least_bytes)
    : arena_(arena), sync_(sync) {
  if (sync.ranks() == 1) return;
  const std::int64_t column_bytes =
      arena.cells() * static_cast<std::int64_t>(arena.gradients().element_size());
  const std::int64_t columns =
      std::clamp(arena.size() * column_bytes / kPieces, least_bytes, kMostBytes) / column_bytes;
  const std::vector<ParameterSlot>& slots = arena.layout().slots();
  for (auto slot = slots.rbegin(); slot != slots.rend(); ++slot) {
    if (buckets_.empty() || buckets_.back().end - buckets_.back().begin >= columns) {
      buckets_.push_back({slot->offset, slot->offset + slot->count});
    }
    buckets_.back().begin = slot->offset;
  }
  for (const Arena::Leaf& leaf : arena.leaves()) {
    const auto bucket =
        std::ranges::find_if(buckets_, [&](const Bucket& b) { return b.begin <= leaf.offset; });
    ++bucket->leaves;
    watches_.push_back(std::make_unique<Watch>(
        *this, static_cast<std::size_t>(bucket - buckets_.begin()), leaf.view));
  }
}

GradientBuckets::~GradientBuckets() = default;

void GradientBuckets::arm() {
  for (Bucket& bucket : buckets_) bucket.missing = bucket.leaves;
  armed_ = true;
}

void GradientBuckets::completed(std::size_t bucket) {
  if (!armed_) return;
  --buckets_[bucket].missing;
  while (next_ < buckets_.size() && buckets_[next_].missing == 0) begin_next();
}

void GradientBuckets::begin_next() {
  const Bucket& bucket = buckets_[next_++];
  sync_.begin_sum(arena_.gradients().narrow(1, bucket.begin, bucket.end - bucket.begin));
}

void GradientBuckets::finish() {
  armed_ = false;
  while (next_ < buckets_.size()) begin_next();
  next_ = 0;
  sync_.finish_sums();
}

}  // namespace depthgrid
