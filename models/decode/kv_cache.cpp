#include "models/decode/kv_cache.hpp"

#include <algorithm>
#include <cmath>

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include "core/base/error.hpp"
#include "models/blocks/attention.hpp"
#include "models/ops/cpu/token_attention_kernel.hpp"
#include "models/ops/host_kernels.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kFirstSlots = 64;
constexpr std::int64_t kGrain = 1 << 16;  // numbers of a cache per thread

}  // namespace

void KvCache::reserve(std::int64_t rows, std::int64_t heads, std::int64_t channels,
                      std::int64_t tokens, const at::TensorOptions& like) {
  if (keys_.defined() && keys_.size(0) != rows) {
    throw ShapeError("KvCache: the number of rows has changed");
  }
  const std::int64_t capacity = keys_.defined() ? keys_.size(2) : 0, slots = length_ + tokens;
  if (slots <= capacity) return;
  const std::int64_t wanted = std::max({slots, 2 * capacity, kFirstSlots});
  for (at::Tensor* held : {&keys_, &values_}) {
    const at::Tensor wider = at::empty({rows, heads, wanted, channels}, like);
    if (length_ > 0) wider.narrow(2, 0, length_).copy_(held->narrow(2, 0, length_));
    *held = wider;
  }
}

at::Tensor KvCache::attend(const ModelOptions& o, const at::Tensor& qkv,
                           const RotaryAngles& angles) {
  if (qkv.size(2) == 1 && qkv.scalar_type() == at::kFloat && host_kernels_serve(qkv)) {
    return attend_token(o, qkv, angles);
  }
  const Heads heads = split_heads(o, qkv, angles);
  const std::int64_t tokens = qkv.size(2);
  reserve(heads.k.size(0), o.heads, heads.k.size(3), tokens, heads.k.options());
  keys_.narrow(2, length_, tokens).copy_(heads.k);
  values_.narrow(2, length_, tokens).copy_(heads.v);
  length_ += tokens;
  const at::Tensor k = keys_.narrow(2, 0, length_), v = values_.narrow(2, 0, length_);
  if (tokens == 1 || tokens == length_) {
    return join_heads(at::scaled_dot_product_attention(heads.q, k, v, {}, 0.0, tokens > 1), qkv);
  }
  const at::Tensor sees =
      at::ones({tokens, length_}, heads.q.options().dtype(at::kBool)).tril(length_ - tokens);
  return join_heads(at::scaled_dot_product_attention(heads.q, k, v, sees), qkv);
}

at::Tensor KvCache::attend_token(const ModelOptions& o, const at::Tensor& input,
                                 const RotaryAngles& angles) {
  const at::Tensor qkv = input.contiguous();
  const std::int64_t rows = qkv.size(0) * qkv.size(1), width = qkv.size(3) / 3;
  const std::int64_t heads = o.heads, channels = width / heads;
  reserve(rows, heads, channels, 1, qkv.options());
  ++length_;
  const at::Tensor out = at::empty({qkv.size(0), qkv.size(1), 1, width}, qkv.options());
  const at::Tensor cosine = angles.cosine.defined() ? angles.cosine.contiguous() : angles.cosine;
  const at::Tensor sine = angles.sine.defined() ? angles.sine.contiguous() : angles.sine;
  const std::int64_t tables = cosine.defined() ? cosine.numel() / (channels / 2) : 0;
  const float* const from = qkv.const_data_ptr<float>();
  auto* const to = out.mutable_data_ptr<float>();
  const float* const c = tables > 0 ? cosine.const_data_ptr<float>() : nullptr;
  const float* const s = tables > 0 ? sine.const_data_ptr<float>() : nullptr;
  auto* const keys = keys_.mutable_data_ptr<float>();
  auto* const values = values_.mutable_data_ptr<float>();
  const std::int64_t head_size = keys_.size(2) * channels;
  const auto work = [&](std::int64_t begin, std::int64_t end) {
    const at::Tensor space = at::empty({token_attention_workspace(length_, channels)}, at::kFloat);
    for (std::int64_t n = begin; n < end; ++n) {
      const std::int64_t row = n / heads, at = row * 3 * width + n % heads * channels;
      const std::int64_t table = tables > 0 ? row * tables / rows * (channels / 2) : 0;
      token_attention(
          {from + at, from + at + width, from + at + 2 * width, keys + n * head_size,
           values + n * head_size, length_, channels, 1 / std::sqrt(static_cast<float>(channels)),
           c ? c + table : nullptr, s ? s + table : nullptr},
          to + n * channels, space.mutable_data_ptr<float>());
    }
  };
  at::parallel_for(0, rows * heads, std::max<std::int64_t>(1, kGrain / (length_ * channels)), work);
  return out;
}

std::int64_t KvCache::bytes() const {
  if (length_ == 0) return 0;
  return 2 * length_ * keys_.size(0) * keys_.size(1) * keys_.size(3) * keys_.element_size();
}

}  // namespace depthgrid
