#include "models/decode/kv_cache.hpp"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kFirstSlots = 64;

}  // namespace

void KvCache::reserve(const at::Tensor& like, std::int64_t slots) {
  const std::int64_t capacity = keys_.defined() ? keys_.size(2) : 0;
  if (slots <= capacity) return;
  const std::int64_t wanted = std::max({slots, 2 * capacity, kFirstSlots});
  for (at::Tensor* held : {&keys_, &values_}) {
    const at::Tensor wider =
        at::empty({like.size(0), like.size(1), wanted, like.size(3)}, like.options());
    if (length_ > 0) wider.narrow(2, 0, length_).copy_(held->narrow(2, 0, length_));
    *held = wider;
  }
}

void KvCache::append(const at::Tensor& k, const at::Tensor& v) {
  if (keys_.defined() && keys_.size(0) != k.size(0)) {
    throw ShapeError("KvCache: the number of rows has changed");
  }
  const std::int64_t tokens = k.size(2);
  reserve(k, length_ + tokens);
  keys_.narrow(2, length_, tokens).copy_(k);
  values_.narrow(2, length_, tokens).copy_(v);
  length_ += tokens;
}

at::Tensor KvCache::attend(const at::Tensor& q) const {
  const std::int64_t tokens = q.size(2);
  const at::Tensor k = keys_.narrow(2, 0, length_), v = values_.narrow(2, 0, length_);
  if (tokens == 1 || tokens == length_) {
    return at::scaled_dot_product_attention(q, k, v, {}, 0.0, tokens > 1);
  }
  const at::Tensor sees =
      at::ones({tokens, length_}, q.options().dtype(at::kBool)).tril(length_ - tokens);
  return at::scaled_dot_product_attention(q, k, v, sees);
}

std::int64_t KvCache::bytes() const {
  if (length_ == 0) return 0;
  return 2 * length_ * keys_.size(0) * keys_.size(1) * keys_.size(3) * keys_.element_size();
}

}  // namespace depthgrid
