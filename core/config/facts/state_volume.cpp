#include "core/config/facts/state_volume.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/config/family_facts.hpp"
#include "core/config/probe_schedule.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kTokens = 1024;  // at least, in the default set: fewer give no CKA
constexpr std::int64_t kSequences = 8;  // at least

std::int64_t integer(const Value& value) {
  const auto* number = value.get_if<std::int64_t>();
  if (number == nullptr) throw Error("no integer: " + canonical_json(value));
  return *number;
}

const std::string& word(const Value& value) {
  const auto* text = value.get_if<std::string>();
  if (text == nullptr) throw Error("no word: " + canonical_json(value));
  return *text;
}

}  // namespace

std::int64_t depth_steps(const ValueOfLeaf& leaf) {
  const std::int64_t layers = integer(leaf("model.n_layers"));
  const FamilyFacts& family = facts_of(word(leaf("model.family")));
  if (family.timed) return integer(leaf("model.solver.steps"));
  if (!family.flow) return layers;
  const ValueList& range = *leaf("model.replaced_layers").get_if<ValueList>();
  const std::int64_t replaced = integer(range.back()) - integer(range.front());
  return layers - replaced + integer(leaf("model.solver.steps"));
}

double StateVolume::measurement_bytes() const {
  double out = 1;
  for (const std::int64_t size : {edges, sequences, tokens, channels, item_bytes}) {
    out *= static_cast<double>(size);
  }
  return out;
}

std::int64_t probe_set_sequences(const ValueOfLeaf& leaf) {
  if (const Value& given = leaf("probes.set.sequences"); !given.is_null()) return integer(given);
  const std::int64_t length = integer(leaf("data.seq_len"));
  return std::max(kSequences, (kTokens + length - 1) / length);
}

StateVolume state_volume(const ValueOfLeaf& leaf) {
  StateVolume out;
  out.sequences = integer(leaf("probes.trajectory.state_sequences"));
  if (out.sequences == 0) return out;
  const std::int64_t width = integer(leaf("model.d_model"));
  const Value& channels = leaf("probes.trajectory.state_channels");
  out.set = probe_set_sequences(leaf);
  out.edges = depth_steps(leaf) + 1;
  out.tokens = integer(leaf("data.seq_len"));
  out.channels = channels.is_null() ? width : std::min(width, integer(channels));
  out.item_bytes = word(leaf("probes.trajectory.state_dtype")) == "f16" ? 2 : 4;
  out.measurements =
      ProbeSchedule(leaf("probes.trajectory.schedule"), integer(leaf("train.steps"))).count();
  out.most_bytes = leaf("probes.trajectory.max_bytes").number();
  return out;
}

std::string state_refusal(const StateVolume& v) {
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  if (v.sequences == 0 || v.measurements == 0) return {};
  if (v.sequences > v.set) {
    return "`probes.trajectory.state_sequences: " + text(v.sequences) +
           "` keeps sequences of the probe set, which has " + text(v.set) +
           ": keep fewer, or enlarge it by `probes.set.sequences`";
  }
  if (v.bytes() <= v.most_bytes) return {};
  return "raw states take " + text(std::llround(v.bytes())) +
         " bytes per cell: " + text(v.measurements) +
         (v.measurements == 1 ? " measurement" : " measurements") + " x " + text(v.edges) +
         " states x " + text(v.sequences) + (v.sequences == 1 ? " sequence" : " sequences") +
         " x " + text(v.tokens) + " tokens x " + text(v.channels) + " channels x " +
         text(v.item_bytes) + " bytes; expected at most `probes.trajectory.max_bytes: " +
         text(std::llround(v.most_bytes)) +
         "`: measure less often (`schedule`), keep less (`state_sequences`, `state_channels`, "
         "`state_dtype: f16`), or raise `max_bytes`";
}

}  // namespace depthgrid
