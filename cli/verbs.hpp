#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/exit_code.hpp"

namespace depthgrid {

/// The arguments of a verb, after its name.
using Arguments = std::vector<std::string>;

/// Runs the verb. @return exit code. @throws UserError for what the user can fix.
using VerbFunction = int(const Arguments& arguments);

struct Verb {
  const char* name;
  const char* arguments;
  const char* summary;
  VerbFunction* run;
};

// One file each, cli/<what a user does>/verb_<name>.cpp, but for those that share one.
VerbFunction audit_verb, bench_verb, cancel_verb, check_verb, completion_verb, diff_verb,
    doctor_verb, eval_verb, export_verb, gc_verb, generate_verb, logs_verb, pack_verb, plan_verb,
    compare_verb, probe_verb, report_verb, results_verb, retry_verb, run_verb, schema_verb,
    show_verb, status_verb, submit_verb, supervise_verb, validate_verb, why_verb;

/// All verbs, in the order of the usage text.
inline constexpr Verb kVerbs[] = {
    {"validate", "FILE", "check a sweep file", validate_verb},
    {"plan", "FILE", "show cells, jobs, counts and costs", plan_verb},
    {"audit", "FILE", "check models before they train", audit_verb},
    {"run", "FILE", "train what has no result yet", run_verb},
    {"submit", "FILE", "hand what is missing to Slurm", submit_verb},
    {"supervise", "FILE", "the same, each job a watched process of its own", supervise_verb},
    {"status", "[STORE]", "count cells by state, list problems", status_verb},
    {"results", "[STORE]", "table of metrics", results_verb},
    {"compare", "[STORE…]", "effects of factors, with intervals and tests", compare_verb},
    {"report", "[STORE…] -o FILE", "one page of pictures, to be mailed", report_verb},
    {"show", "CELL [STORE]", "a cell's configuration, and where it comes from", show_verb},
    {"diff", "CELL CELL [STORE]", "leaves in which two cells differ", diff_verb},
    {"logs", "CELL [STORE]", "what happened to one cell", logs_verb},
    {"why", "CELL… [STORE]", "why a cell is not done, and what goes on", why_verb},
    {"cancel", "[CELL…] [STORE]", "end cells, and do not train them", cancel_verb},
    {"retry", "[CELL…] [STORE]", "make failed or cancelled cells pending", retry_verb},
    {"eval", "CELL [STORE]", "loss of a cell's weights on data", eval_verb},
    {"probe", "[STORE]", "measure stored checkpoints along depth", probe_verb},
    {"generate", "CELL [STORE]", "continue a prompt", generate_verb},
    {"export", "CELL [STORE]", "write a cell's weights as safetensors", export_verb},
    {"check", "gate|forward|…", "the arithmetic of a model as JSON", check_verb},
    {"pack", "[STORE]", "bring sweep.h5 up to date", pack_verb},
    {"gc", "[STORE]", "remove what killed processes have left", gc_verb},
    {"doctor", "[STORE]", "what this machine and cluster lack, and the cure", doctor_verb},
    {"schema", "[LEAF]", "print the keys of a sweep file", schema_verb},
    {"completion", "bash|zsh", "complete verbs, options and leaves in a shell", completion_verb},
    {"bench", "step|decode|…", "time training steps, decoding, the optimiser", bench_verb}};

/// What `depthgrid help` prints.
std::string usage(std::span<const Verb> verbs);

/// Runs the verb named by the first word on the rest; also handles `help` and `version`.
/// @return exit code. @throws UserError (Usage) for a missing or unknown verb; else what the verb
///         throws.
int dispatch(std::span<const Verb> verbs, Arguments words);

}  // namespace depthgrid
