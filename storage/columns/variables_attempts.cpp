#include "storage/columns/variables.hpp"

namespace depthgrid {

using enum DataType;

constexpr std::string_view kJournalFile = "storage/files/journal.hpp";
constexpr std::string_view kProvenance = "worker/process/provenance.hpp";

constexpr Variable kAttemptsVariables[] = {
    // Audit
    {"audit_verdict", "cell, audit_check", Int8, "1",
     "flag: -1 not run, 0 pass, 1 warn, 2 fail, 3 off, 4 undecided", "before training",
     "docs/audit.md"},
    {"audit_value", "cell, audit_check", Float64, "1", "number behind the verdict",
     "before training", "docs/audit.md"},
    {"audit_threshold", "cell, audit_check", Float64, "1", "bound that the number is compared with",
     "before training", "docs/audit.md"},
    {"audit_declaration", "cell", Text, "1", "modes that look ahead and why; empty = none",
     "before training", "docs/audit.md"},
    // Attempts, events, provenance
    {"job_cells", "job", Int32, "1", "cells fused (E)", "plan", kProvenance},
    {"job_ranks", "job", Int32, "1", "ranks (R)", "start", kProvenance},
    {"attempt_cell", "attempt", Text, "1", "cell", "at start", kJournalFile},
    {"attempt_job", "attempt", Text, "1", "fused job", "at start", kProvenance},
    {"attempt_generation", "attempt", Int32, "1", "lease generation", "at start", kJournalFile},
    {"attempt_first_step", "attempt", Int64, "1", "step resumed from", "at start", kJournalFile},
    {"attempt_last_step", "attempt", Int64, "1", "last step journalled", "at end", kJournalFile},
    {"attempt_start", "attempt", Float64, kInstantUnits, "start", "at start", kProvenance},
    {"attempt_end", "attempt", Float64, kInstantUnits, "end", "at end", kJournalFile},
    {"attempt_outcome", "attempt", Int8, "1",
     "flag: 0 done, 1 preempted, 2 crash, 3 hang, 4 oom, 5 infrastructure, 6 error, 7 deposed, 8 "
     "diverged",
     "at end", kJournalFile},
    {"attempt_exit_code", "attempt", Int32, "1", "exit code; -1 = unknown", "at end",
     "docs/cli.md, Exit codes"},
    {"attempt_host", "attempt", Text, "1", "first host", "at start", kProvenance},
    {"attempt_device", "attempt", Text, "1", "device model and count", "at start", kProvenance},
    {"attempt_instruction_sets", "attempt", Text, "1",
     "instruction sets of the kernels and of LibTorch on the CPU; empty = before they were "
     "recorded",
     "at start", kProvenance},
    {"attempt_scheduler_id", "attempt", Text, "1", "Slurm job and task; empty = none", "at start",
     kProvenance},
    {"attempt_code_version", "attempt", Text, "1", "git hash and state", "at start", kProvenance},
    {"attempt_environment", "attempt", Text, "1", "allow-listed variables, JSON", "at start",
     kProvenance},
    {"replayed_steps", "cell", Int64, "1", "steps recomputed after crashes", "end",
     "storage/cells/cell_history.hpp"},
    {"replay_mismatches", "cell", Int64, "1", "of these, not bit-equal", "end",
     "storage/cells/cell_history.hpp"},
    {"event_cell", "event", Text, "1", "cell", "at event", kJournalFile},
    {"event_step", "event", Int64, "1", "step", "at event", kJournalFile},
    {"event_time", "event", Float64, kInstantUnits, "instant", "at event", kJournalFile},
    {"event_kind", "event", Int8, "1",
     "flag: 0 resume seam, 1 checkpoint, 2 checkpoint rejected, 3 diverged, 4 failure, 5 early "
     "stop, 6 lease lost, 7 team size changed, 8 solver status, 9 phase change, 10 warning, 11 "
     "start weights, 12 damage",
     "at event", kJournalFile},
    {"event_value", "event", Float64, "1",
     "number of the event (resume seam: loss of the first step less that of the step before)",
     "at event", kJournalFile},
    {"event_message", "event", Text, "1", "text", "at event", kJournalFile},
    {"weights_sha256", "cell", Text, "1", "digest of the final weights", "end",
     "docs/store-format.md, How a file comes to be"},
    {"start_weights", "cell", Text, "1",
     "what it started from: cell:<id>, file:<SHA-256 of the files>; empty = drawn", "start",
     "core/config/start_name.hpp"},
    {"start_weights_sha256", "cell", Text, "1",
     "weights_sha256 of the cell it started from; empty = none", "start",
     "worker/session/final_weights.hpp"},
    {"result_sha256", "cell", Text, "1", "seal of the cell's result.h5", "pack",
     "docs/store-format.md, How a file comes to be"},
    {"looks_sha256", "cell", Text, "1",
     "digest of the seals of the cell's probe-N.h5 that are in its row; empty = none", "pack",
     "storage/cells/probe_record.hpp"},
    {"look_settings", "cell", Text, "1",
     "JSON array, one object for each probe-N.h5 in the row, and for a result that was measured by "
     "other leaves than the plan's: file, probes, steps, and set, the leaves probes.* that differ "
     "from those of the plan; empty = none",
     "pack", "storage/cells/probe_record.hpp"},
    {"tokens_sha256", "cell", Text, "1", "digest of the training tokens", "start",
     "core/data/dataset.hpp"},
    {"text_rules", "cell", Int32, "1",
     "number of the rules by which the texts became tokens; -1 = synthetic, or before 0.2", "start",
     "core/config/text_format.hpp"},
    {"probe_set_sha256", "cell", Text, "1",
     "digest of the windows of the probe set, ids as little-endian int64", "start",
     "worker/session/probe_tokens.hpp"},
    {"corpus_variant", "cell", Text, "1",
     "which of the texts published under the corpus's name it is; empty = unknown", "start",
     "core/data/corpus.hpp"},
    {"precision_settings", "cell", Text, "1",
     "dtype or TF32, then determinism, threads, ranks and kind of device as key=value", "start",
     "docs/configuration.md, Training"},
};

std::span<const Variable> attempt_variables() {
  return kAttemptsVariables;
}

}  // namespace depthgrid
