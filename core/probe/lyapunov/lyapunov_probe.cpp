#include "core/probe/lyapunov/lyapunov_probe.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/where.h>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "core/config/axis_labels.hpp"
#include "core/probe/lyapunov/directions.hpp"
#include "core/probe/lyapunov/kaplan_yorke.hpp"
#include "core/probe/lyapunov/sequence_moments.hpp"
#include "core/probe/probe_subject.hpp"

namespace depthgrid {
namespace {

/// Bytes of one cell's directions that are in memory at once.
constexpr std::int64_t kDirectionBytes = std::int64_t{16} << 20;

/// Appends the sequences of `next`.
void append(at::Tensor& to, const at::Tensor& next) {
  if (next.defined()) to = to.defined() ? at::cat({to, next}, 1) : next;
}

void append(Stretches& to, const Stretches& next) {
  append(to.log_stretch, next.log_stretch);
  append(to.error, next.error);
  append(to.bound, next.bound);
  append(to.iterations, next.iterations);
  append(to.converged, next.converged);
  append(to.log_det, next.log_det);
  append(to.all, next.all);  // directions are not needed any more
}

double mean_of(const at::Tensor& values) {
  return SequenceMoments(values).mean.front();
}

}  // namespace

LyapunovVariant lyapunov_variant(std::string_view word) {
  const auto at = std::ranges::find(kLyapunovVariantNames, word);
  if (at == kLyapunovVariantNames.end()) {
    std::string known;
    for (const std::string_view name : kLyapunovVariantNames) known += " " + std::string(name);
    throw Error("no variant of the exponents is called '" + std::string(word) +
                "'; known:" + known);
  }
  return static_cast<LyapunovVariant>(at - kLyapunovVariantNames.begin());
}

LyapunovProbe::LyapunovProbe(const ProbeSubject& subject, LyapunovOptions options)
    : subject_(subject), options_(std::move(options)) {
  if (options_.variants.empty()) throw Error("probes.lyapunov.variants is empty");
  if (options_.sequences < 1 || options_.sequences > subject_.set().sequences()) {
    throw Error("the exponents need sequences that the probe set has");
  }
  if (options_.batch < 1) throw Error("the exponents are of one sequence at once, or more");
}

void LyapunovProbe::declare(RecordSink& out) {
  std::vector<std::string> words;
  for (const LyapunovVariant v : options_.variants) {
    words.emplace_back(kLyapunovVariantNames[static_cast<std::size_t>(v)]);
  }
  const SeriesAxis exponent{.name = "exponent", .length = options_.subspace.exponents};
  const SeriesAxis variant{.name = "lyapunov_variant",
                           .length = static_cast<std::int64_t>(words.size()),
                           .labels = words};
  const SeriesAxis depth{.name = "depth", .length = subject_.depth()};
  const SeriesAxis token{.name = "token_position", .length = subject_.set().tokens()};
  const auto add = [&](Series series, const char* name, std::vector<SeriesAxis> axes) {
    series_[series] = out.declare({.name = name, .axes = std::move(axes)});
  };
  add(kExponent, "lyapunov_exponent", {variant, exponent});
  add(kExponentStd, "lyapunov_exponent_std", {variant, exponent});
  add(kExponentError, "lyapunov_exponent_error", {variant, exponent});
  add(kExponentBound, "lyapunov_exponent_bound", {variant, exponent});
  add(kLogStretch, "lyapunov_log_stretch", {variant, exponent});
  add(kIterations, "lyapunov_iterations", {});
  add(kConverged, "lyapunov_converged", {});
  add(kSequences, "lyapunov_sequences", {});
  add(kUpperBound, "lyapunov_upper_bound", {});
  add(kLogDet, "lyapunov_log_det", {});
  add(kKaplanYorke, "lyapunov_kaplan_yorke", {});
  add(kBatchMax, "lyapunov_batch_max", {});
  add(kLocalStretch, "lyapunov_local_stretch", {depth});
  add(kLocalRate, "lyapunov_local_rate", {depth, exponent});
  add(kLogNorm, "lyapunov_log_norm", {depth});
  if (options_.influence_probes > 0) add(kInfluence, "lyapunov_influence", {token});
  if (options_.tong) add(kTong, "lyapunov_tong", {token});
}

DepthSpectrum LyapunovProbe::observe() const {
  const std::unique_ptr<DepthTrack> track = subject_.track(TrackPath::Composed);
  DepthSpectrumOptions o{.subspace = options_.subspace,
                         .influence_probes = options_.influence_probes,
                         .final_norm = {},
                         .tong = options_.tong};
  if (std::ranges::count(options_.variants, LyapunovVariant::Normalised) > 0) {
    o.final_norm = [this](const at::Tensor& x) { return subject_.final_norm(x); };
  }
  // The number of sequences at once must not depend on that of cells, which would change bits.
  const std::int64_t entries = state_entries(subject_.start(0, 1).sizes());
  const bool complete = entries <= kCompleteEntries;
  std::int64_t width = complete ? entries : o.subspace.exponents + o.subspace.oversampling;
  if (o.tong) width += entries / subject_.set().tokens();  // a block per token
  const std::int64_t fit =
      std::clamp<std::int64_t>(kDirectionBytes / (entries * width * 8), 1, options_.batch);
  DepthSpectrum all;
  for (std::int64_t first = 0; first < options_.sequences; first += fit) {
    const at::Tensor start = subject_.start(first, std::min(fit, options_.sequences - first));
    o.subspace.first_sequence = first;
    const DepthSpectrum next = depth_spectrum(*track, subject_.depth(), start, o);
    all.entries = next.entries;
    append(all.raw, next.raw);
    append(all.normalised, next.normalised);
    append(all.growth, next.growth);
    append(all.step_stretch, next.step_stretch);
    append(all.step_log_norm, next.step_log_norm);
    append(all.step_rate, next.step_rate);
    append(all.influence, next.influence);
    append(all.tong, next.tong);
  }
  return all;
}

void LyapunovProbe::measure(std::int64_t step, RecordSink& out) {
  if (options_.wide) {
    const std::unique_ptr<ProbeSubject> wide = subject_.widened();
    if (!wide) throw Error("there are no weights to copy to float64");
    LyapunovOptions same = options_;
    same.wide = false;
    LyapunovProbe of_copy(*wide, std::move(same));
    of_copy.series_ = series_;
    return of_copy.measure(step, out);
  }
  const DepthSpectrum found = observe();
  const at::Tensor times = subject_.edge_times();
  for (std::int64_t e = 0; e < subject_.cells(); ++e) {
    const double span = (times[e][subject_.depth()] - times[e][0]).item<double>();
    write_variants(e, span, found, out);
    write_map(e, span, found, out);
    write_steps(e, times[e], found, out);
  }
}

void LyapunovProbe::write_variants(std::int64_t cell, double span, const DepthSpectrum& found,
                                   RecordSink& out) const {
  std::vector<double> mean, spread, error, bound, stretch;
  const auto add = [](std::vector<double>& to, const std::vector<double>& values) {
    to.insert(to.end(), values.begin(), values.end());
  };
  for (const LyapunovVariant v : options_.variants) {
    const Stretches& of = v == LyapunovVariant::Normalised ? found.normalised : found.raw;
    at::Tensor logs = of.log_stretch[cell];
    if (v == LyapunovVariant::Relative) logs = logs - found.growth[cell].unsqueeze(1);
    const SequenceMoments rates(logs / span);
    add(mean, rates.mean);
    add(spread, rates.spread);
    add(error, SequenceMoments(of.error[cell] / span).mean);
    add(bound, SequenceMoments(of.bound[cell] / span).mean);
    add(stretch, SequenceMoments(logs).mean);
  }
  put(kExponent, cell, mean, out);
  put(kExponentStd, cell, spread, out);
  put(kExponentError, cell, error, out);
  put(kExponentBound, cell, bound, out);
  put(kLogStretch, cell, stretch, out);
}

void LyapunovProbe::write_map(std::int64_t cell, double span, const DepthSpectrum& found,
                              RecordSink& out) const {
  const auto one = [&](Series series, double value) { put(series, cell, {&value, 1}, out); };
  const at::Tensor sound = found.raw.log_stretch[cell].select(1, 0).isnan().logical_not();
  const SequenceMoments rates(found.raw.log_stretch[cell] / span);
  const bool any = rates.count.front() > 0;
  one(kIterations, static_cast<double>(found.raw.iterations[cell].max().item<std::int64_t>()));
  one(kConverged, any && at::where(sound, found.raw.converged[cell], true).all().item<bool>());
  one(kSequences, static_cast<double>(rates.count.front()));
  one(kUpperBound, mean_of(found.step_log_norm[cell].sum(1)));
  one(kLogDet, mean_of(found.raw.log_det[cell]));
  // A complete basis knows all exponents, whatever number of them is recorded.
  std::vector<double> exponents =
      found.raw.all.defined() ? SequenceMoments(found.raw.all[cell] / span).mean : rates.mean;
  if (!found.raw.all.defined()) {
    exponents.resize(
        static_cast<std::size_t>(std::min(options_.subspace.exponents, found.entries)));
  }
  one(kKaplanYorke, kaplan_yorke(std::move(exponents), found.entries));
  one(kBatchMax, rates.most.front());
}

void LyapunovProbe::write_steps(std::int64_t cell, const at::Tensor& times,
                                const DepthSpectrum& found, RecordSink& out) const {
  put(kLocalStretch, cell, SequenceMoments(found.step_stretch[cell]).mean, out);
  std::vector<double> norms = SequenceMoments(found.step_log_norm[cell]).mean;
  for (std::size_t l = 0; l < norms.size(); ++l) {
    const auto i = static_cast<std::int64_t>(l);
    const double length = (times[i + 1] - times[i]).item<double>();
    norms[l] = length > 0 ? norms[l] / length : kNaN;
  }
  put(kLogNorm, cell, norms, out);
  const at::Tensor rates = found.step_rate[cell];  // (B, L, M), M <= k
  const at::Tensor padded =
      at::full({rates.size(0), rates.size(1), options_.subspace.exponents}, kNaN, rates.options());
  padded.narrow(2, 0, rates.size(2)).copy_(rates);
  put(kLocalRate, cell, SequenceMoments(padded.flatten(1)).mean, out);
  if (options_.influence_probes > 0) {
    put(kInfluence, cell, SequenceMoments(found.influence[cell]).mean, out);
  }
  if (options_.tong) put(kTong, cell, SequenceMoments(found.tong[cell]).mean, out);
}

/// A direction that is not stretched at all (ln 0), a depth of no length and a bound that says
/// nothing have no number.
void LyapunovProbe::put(Series series, std::int64_t cell, std::span<const double> values,
                        RecordSink& out) const {
  std::vector<double> numbers(values.size());
  std::ranges::transform(values, numbers.begin(), if_finite);
  out.write(series_[series], static_cast<std::size_t>(cell), numbers);
}

}  // namespace depthgrid
