#include "worker/session/probe_tokens.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include "core/base/digest.hpp"
#include "core/config/facts/probe_sample.hpp"
#include "core/config/facts/state_volume.hpp"
#include "core/data/sampler.hpp"

namespace depthgrid {
namespace {

const TokenStream& stream_of(const CellConfig& config, const Dataset& data) {
  const std::string& name = config.word("probes.set.split");
  const auto which = static_cast<Split>(label_index(kSplitNames, name));
  const TokenStream& chosen = data.split(which);
  return chosen.size() > config.integer("data.seq_len") ? chosen : data.train();
}

/// By id, whether it belongs to the class.
using Members = std::vector<bool>;

/// Ids in an order, until they make up a tenth of the training text.
/// @param beyond  whether the id that crosses the tenth belongs to them.
Members tenth(const Dataset& data, bool descending, bool beyond) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(data.vocab_size), 0);
  const TokenStream& train = data.train();
  for (std::int64_t i = 0; i < train.size(); ++i) ++counts[train[i]];
  std::vector<std::size_t> ids(counts.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::ranges::stable_sort(ids, [&](std::size_t a, std::size_t b) {
    return descending ? counts[a] > counts[b] : counts[a] < counts[b];
  });
  Members out(ids.size(), false);
  std::int64_t sum = 0;
  for (const std::size_t id : ids) {
    const bool fits = 10 * (sum + counts[id]) <= train.size();
    if (!fits && (!beyond || 10 * sum >= train.size())) break;
    out[id] = true;
    sum += counts[id];
  }
  return out;
}

Members spaces(const Dataset& data) {
  Members out(static_cast<std::size_t>(data.vocab_size), false);
  if (!data.tokenizer) return out;
  const auto known = std::min<std::int64_t>(data.tokenizer->vocab_size(), data.vocab_size);
  for (std::uint32_t id = 0; id < known; ++id) {
    const std::string text = data.tokenizer->decode(std::array<std::uint32_t, 1>{id});
    out[id] = !text.empty() && text.find_first_not_of(" \t\n\r\f\v") == std::string::npos;
  }
  return out;
}

at::Tensor where(const at::Tensor& inputs, const Members& members) {
  at::Tensor out = at::empty(inputs.sizes(), at::kBool);
  const auto* ids = inputs.const_data_ptr<std::int64_t>();
  bool* to = out.mutable_data_ptr<bool>();
  for (std::int64_t i = 0; i < inputs.numel(); ++i) {
    to[i] = members[static_cast<std::size_t>(ids[i])];
  }
  return out;
}

at::Tensor class_of(const std::string& name, const at::Tensor& inputs, const Dataset& data) {
  if (name == "frequent") return where(inputs, tenth(data, true, true));
  if (name == "rare") return where(inputs, tenth(data, false, false));
  if (name == "space") return where(inputs, spaces(data));
  at::Tensor out = at::full(inputs.sizes(), name == "all", at::kBool);
  if (name == "first") out.select(1, 0).fill_(true);
  return out;
}

/// (n, T + 1)
at::Tensor drawn_windows(const CellConfig& config, const Dataset& data) {
  const TokenStream& stream = stream_of(config, data);
  const std::int64_t length = config.integer("data.seq_len"), n = probe_sequences(config);
  std::vector<std::int64_t> starts(static_cast<std::size_t>(n));
  Sampler(SamplerKind::Iid, stream.size(), length, n)
      .starts(static_cast<std::uint64_t>(config.integer("probes.set.seed")), 0, 0, starts);
  at::Tensor out = at::empty({n, length + 1}, at::kLong);
  auto* to = out.mutable_data_ptr<std::int64_t>();
  for (const std::int64_t start : starts) {
    stream.copy(start, std::span(to, static_cast<std::size_t>(length + 1)));
    to += length + 1;
  }
  return out;
}

}  // namespace

std::int64_t probe_sequences(const CellConfig& config) {
  return probe_set_sequences(config.by_path());
}

std::int64_t probe_sequences(const CellConfig& config, std::string_view path) {
  return sample_sequences(config.by_path(), path);
}

std::string probe_set_digest(const CellConfig& config, const Dataset& data) {
  const at::Tensor windows = drawn_windows(config, data);
  const std::span ids(windows.const_data_ptr<std::int64_t>(),
                      static_cast<std::size_t>(windows.numel()));
  return hex(sha256(std::as_bytes(ids)));
}

ProbeSet probe_tokens(const CellConfig& config, const Dataset& data) {
  ProbeSet set{drawn_windows(config, data), {}};
  const at::Tensor inputs = set.windows.narrow(1, 0, set.tokens()).contiguous();
  for (const std::string& name : config.words("probes.trajectory.token_classes")) {
    set.classes.push_back({name, class_of(name, inputs, data)});
  }
  return set;
}

}  // namespace depthgrid
