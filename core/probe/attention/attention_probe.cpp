#include "core/probe/attention/attention_probe.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/nan.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kWeights = std::int64_t{1} << 21;  // of one cell and step at a time, 8 MiB

/// What has been seen of one cell, by step and head.
struct Seen {
  std::vector<HeadAttention> sums;
  std::vector<std::int64_t> sequences;  // by step
};

/// Adds the sequences of one step, one after the other.
/// @param weights  (B, H, T, T) of one cell
void add(Seen& seen, std::int64_t step, const at::Tensor& weights) {
  const std::int64_t heads = weights.size(1), tokens = weights.size(2);
  const at::Tensor host = weights.to(at::kCPU, at::kFloat).contiguous();
  const auto each = static_cast<std::size_t>(tokens * tokens);
  const float* from = host.const_data_ptr<float>();
  for (std::int64_t b = 0; b < weights.size(0); ++b) {
    for (std::int64_t h = 0; h < heads; ++h, from += each) {
      const HeadAttention one = head_attention(std::span(from, each), tokens);
      HeadAttention& sum = seen.sums[static_cast<std::size_t>(step * heads + h)];
      sum.entropy += one.entropy;
      sum.distance += one.distance;
      sum.first_share += one.first_share;
      sum.self_share += one.self_share;
    }
  }
  seen.sequences[static_cast<std::size_t>(step)] += weights.size(0);
}

/// By step and head; NaN for a step that was not seen.
std::vector<double> means(const Seen& seen, double HeadAttention::* part) {
  const std::size_t heads = seen.sums.size() / seen.sequences.size();
  std::vector<double> out;
  for (std::size_t i = 0; i < seen.sums.size(); ++i) {
    const std::int64_t n = seen.sequences[i / heads];
    out.push_back(n > 0 ? seen.sums[i].*part / static_cast<double>(n) : kNaN);
  }
  return out;
}

}  // namespace

AttentionProbe::AttentionProbe(const ProbeSubject& subject, ProbeSchedule schedule)
    : subject_(subject), schedule_(std::move(schedule)) {}

void AttentionProbe::declare(RecordSink& out) {
  const std::vector<SeriesAxis> axes = {{.name = "depth", .length = subject_.depth()},
                                        {.name = "head", .length = subject_.heads()}};
  entropy_ = out.declare({"attention_entropy", axes});
  distance_ = out.declare({"attention_distance", axes});
  first_ = out.declare({"attention_first_share", axes});
  self_ = out.declare({"attention_self_share", axes});
}

void AttentionProbe::measure(std::int64_t /*step*/, RecordSink& out) {
  const ProbeSet& set = subject_.set();
  const std::int64_t cells = subject_.cells(), depth = subject_.depth(), heads = subject_.heads();
  // Whatever the number of cells is, so that each has the same bits alone.
  const std::int64_t each = heads * set.tokens() * set.tokens();
  const std::int64_t chunk = std::max<std::int64_t>(1, kWeights / each);
  const Seen nothing{std::vector<HeadAttention>(static_cast<std::size_t>(depth * heads)),
                     std::vector<std::int64_t>(static_cast<std::size_t>(depth), 0)};
  std::vector<Seen> seen(static_cast<std::size_t>(cells), nothing);
  for (std::int64_t first = 0; first < set.sequences(); first += chunk) {
    const std::int64_t count = std::min(chunk, set.sequences() - first);
    subject_.attention(first, count, [&](std::int64_t step, const at::Tensor& weights) {
      for (std::size_t e = 0; e < seen.size(); ++e) {
        add(seen[e], step, weights.select(0, static_cast<std::int64_t>(e)));
      }
    });
  }
  for (std::size_t e = 0; e < seen.size(); ++e) {
    out.write(entropy_, e, means(seen[e], &HeadAttention::entropy));
    out.write(distance_, e, means(seen[e], &HeadAttention::distance));
    out.write(first_, e, means(seen[e], &HeadAttention::first_share));
    out.write(self_, e, means(seen[e], &HeadAttention::self_share));
  }
}

HeadAttention head_attention(std::span<const float> weights, std::int64_t tokens) {
  if (tokens < 2) return {kNaN, kNaN, kNaN, kNaN};
  HeadAttention sum;
  for (std::int64_t i = 1; i < tokens; ++i) {
    const float* row = weights.data() + i * tokens;
    double entropy = 0, distance = 0;
    for (std::int64_t j = 0; j <= i; ++j) {
      const double p = row[j];
      distance += p * static_cast<double>(i - j);
      if (p != 0) entropy -= p * std::log(p);  // p ln p -> 0; a NaN stays one
    }
    sum.entropy += entropy / std::log(static_cast<double>(i + 1));
    sum.distance += distance;
    sum.first_share += row[0];
    sum.self_share += row[i];
  }
  const auto queries = static_cast<double>(tokens - 1);
  return {sum.entropy / queries, sum.distance / queries, sum.first_share / queries,
          sum.self_share / queries};
}

}  // namespace depthgrid
