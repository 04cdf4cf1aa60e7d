#include "worker/audit/audit_structure.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "core/base/clock.hpp"
#include "core/base/nan.hpp"
#include "core/train/train_options.hpp"
#include "models/closed_form.hpp"
#include "models/cost_model.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audited_mode.hpp"
#include "worker/process/memory_use.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kRows = 8;  // sequences over which the cost of generated weights is spread

/// "layers.3.attn.qkv.weight" -> "layers.*.attn"; "modulation.q.w1" -> "modulation.q".
std::string module_of(const std::string& parameter) {
  std::vector<std::string> parts(1);
  for (const char c : parameter) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  std::size_t depth = 2;
  for (std::string& part : parts) {
    if (!part.empty() &&
        std::ranges::all_of(part, [](unsigned char c) { return std::isdigit(c); })) {
      part = "*";
      depth = 3;
    }
  }
  std::string name = parts.front();
  for (std::size_t i = 1; i + 1 < parts.size() && i < depth; ++i) name += "." + parts[i];
  return name;
}

void count(StructureAudit& audit, const AuditSubject& subject, const ModelOptions& o) {
  const ParameterLayout layout = layout_of(subject, o);
  audit.family = o.family;
  audit.parameters = layout.size();
  audit.trainable = 0;
  audit.modules.clear();
  for (const ParameterSlot& slot : layout.slots()) {
    if (!subject.frozen[static_cast<std::size_t>(slot.spec.group)]) audit.trainable += slot.count;
    const std::string module = module_of(slot.spec.name);
    const auto at =
        std::ranges::find(audit.modules, module, &std::pair<std::string, std::int64_t>::first);
    if (at == audit.modules.end()) {
      audit.modules.emplace_back(module, slot.count);
    } else {
      at->second += slot.count;
    }
  }
  audit.effective = effective_parameters(o, layout);
  audit.closed_form = closed_form_parameters(o);
  audit.flops_per_token = flops_per_token(o, kRows, subject.tokens);
}

/// A check that runs out of memory is skipped, like that of a structure known to be too large:
/// training will show whether the structure can train.
AuditResult made(const AuditCheckRow& row, AuditRoom& room) {
  try {
    return row.run(room);
  } catch (const std::exception& e) {
    if (!is_out_of_memory(e)) throw;
    return unjudged(AuditVerdict::Skipped, kNaN, kNaN, "there is not enough memory for it");
  }
}

}  // namespace

AuditSubject subject_of(const CellConfig& config, double memory_bytes) {
  AuditSubject subject;
  subject.options = [&config](std::int64_t cells) {
    return model_options(std::vector<const CellConfig*>(static_cast<std::size_t>(cells), &config));
  };
  subject.tokens = config.integer("data.seq_len");
  subject.frozen = train_options({&config}).frozen;
  subject.memory_bytes = memory_bytes;
  return subject;
}

StructureAudit audit_facts(const AuditSubject& subject) {
  StructureAudit audit;
  count(audit, subject, subject.options(1));
  // The family of a twin declares the same modes and takes little memory.
  const AuditModel twin = AuditRoom(subject).twin(kPassTwin);
  for (const AuditedMode& c : audited_modes(twin.model().family())) {
    audit.modes.push_back({c.name, c.causal, c.reason});
  }
  for (const DeadParameter& d : twin.model().family().dead_parameters()) {
    audit.dead.emplace_back(d.name, d.reason);
  }
  return audit;
}

std::optional<StructureAudit> audit_structure(const AuditSubject& subject,
                                              const AuditLevels& levels, StructureAudit known,
                                              const std::function<bool()>& stop) {
  const Stopwatch clock;
  StructureAudit audit = audit_facts(subject);
  audit.structure = known.structure;
  audit.preset = known.preset;
  audit.changed = known.changed;
  AuditRoom room(subject);
  for (const AuditCheckRow& row : audit_checks()) {
    if (stop && stop()) return std::nullopt;
    const auto level = levels.find(row.name);
    const AuditResult* before = known.find(row.name);
    AuditResult result{"", AuditVerdict::Off, kNaN, kNaN, ""};
    if (before != nullptr) {
      result = *before;
    } else if (level == levels.end() || level->second != AuditLevel::Off) {
      result = made(row, room);
    }
    result.name = row.name;
    audit.checks.push_back(std::move(result));
  }
  audit.seconds = known.seconds + clock.seconds();
  return audit;
}

}  // namespace depthgrid
