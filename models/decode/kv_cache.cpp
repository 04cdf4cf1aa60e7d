#include "models/decode/kv_cache.hpp"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

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
    if (longest_ > 0) wider.narrow(2, 0, longest_).copy_(held->narrow(2, 0, longest_));
    *held = wider;
  }
}

void KvCache::append(const at::Tensor& k, const at::Tensor& v, const at::Tensor& kept) {
  const std::int64_t rows = k.size(0), tokens = k.size(2);
  if (lengths_.empty()) lengths_.assign(static_cast<std::size_t>(rows), 0);
  if (static_cast<std::int64_t>(lengths_.size()) != rows) {
    throw ShapeError("KvCache: the number of rows has changed");
  }
  reserve(k, longest_ + tokens);
  const at::TensorOptions whole = k.options().dtype(at::kLong);
  const at::Tensor before = at::tensor(lengths_, at::kLong).to(k.device()).unsqueeze(1);
  if (uniform_ && !kept.defined()) {
    keys_.narrow(2, longest_, tokens).copy_(k);
    values_.narrow(2, longest_, tokens).copy_(v);
    visible_ = before + at::arange(1, tokens + 1, whole);
    longest_ += tokens;
    lengths_.assign(lengths_.size(), longest_);
    return;
  }
  uniform_ = false;
  const at::Tensor enters =
      kept.defined() ? kept : at::ones({rows, tokens}, k.options().dtype(at::kBool));
  visible_ = before + enters.cumsum(1);
  for (std::int64_t r = 0; r < rows; ++r) {
    const at::Tensor places = enters[r].nonzero().flatten();
    const std::int64_t n = places.size(0);
    if (n == 0) continue;
    std::int64_t& length = lengths_[static_cast<std::size_t>(r)];
    keys_[r].narrow(1, length, n).copy_(k[r].index_select(1, places));
    values_[r].narrow(1, length, n).copy_(v[r].index_select(1, places));
    length += n;
  }
  longest_ = *std::ranges::max_element(lengths_);
}

at::Tensor KvCache::attend(const at::Tensor& q) const {
  const std::int64_t tokens = q.size(2);
  const at::Tensor k = keys_.narrow(2, 0, longest_), v = values_.narrow(2, 0, longest_);
  if (uniform_ && (tokens == 1 || tokens == longest_)) {
    return at::scaled_dot_product_attention(q, k, v, {}, 0.0, tokens > 1);
  }
  if (longest_ == 0) return at::zeros_like(q);
  const at::Tensor slots = at::arange(longest_, visible_.options());
  const at::Tensor sees = (slots < visible_.unsqueeze(2)).unsqueeze(1);  // (R, 1, T, slots)
  if (uniform_) return at::scaled_dot_product_attention(q, k, v, sees);
  // Slots behind a row's own are whatever memory held: they must not reach a product.
  const at::Tensor own = at::tensor(lengths_, at::kLong).to(q.device()).unsqueeze(1);
  const at::Tensor held = (slots < own).unsqueeze(1).unsqueeze(3);  // (R, 1, slots, 1)
  const at::Tensor mixed =
      at::scaled_dot_product_attention(q, k.masked_fill(~held, 0), v.masked_fill(~held, 0), sees);
  return mixed.masked_fill((visible_ == 0).unsqueeze(1).unsqueeze(3), 0);
}

std::int64_t KvCache::bytes() const {
  std::int64_t slots = 0;
  for (const std::int64_t length : lengths_) slots += length;
  if (slots == 0) return 0;
  return 2 * slots * keys_.size(1) * keys_.size(3) * keys_.element_size();
}

}  // namespace depthgrid
