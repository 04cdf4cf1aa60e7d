#include "core/config/schema/schema_rows.hpp"

namespace depthgrid {
namespace {

using enum LeafClass;

constexpr Leaf run_integer(std::string_view path, double min, double max, std::string_view unit,
                           std::string_view default_text, std::string_view doc) {
  return integer(path, min, max, unit, default_text, Execution, doc);
}

constexpr Leaf kEval[] = {
    null_means(
        integer("eval.every", 1, 1e9, "steps", "100", Structural, "steps between evaluations"),
        "at the end only"),
    flag("eval.at_start", "true", Structural, "evaluate at step 0 too"),
    or_null(word("eval.splits", "train dev valid", "null", Structural,
                 "splits evaluated during training; of train, a fixed part", ValueKind::WordList),
            "[train, dev, valid]; without dev where there is none"),
    word("eval.final_splits", "dev valid test", "[valid]", Structural,
         "splits evaluated in full, once, at the end; test needs data.test or data.test_fraction",
         ValueKind::WordList),
    null_means(integer("eval.windows", 1, 1e9, "windows", "64", Structural,
                       "per split, during training: evenly spaced, the same for all cells"),
               "all"),
    null_means(integer("eval.final_windows", 1, 1e9, "windows", "null", Structural,
                       "per split, once at the end"),
               "all"),
    or_null(
        integer(
            "eval.stride", 1, 131072, "tokens", "null", Structural,
            "distance between windows; if less than T, they overlap, and `results` says sliding"),
        "data.seq_len"),
    word("eval.protocol", "standard published_1", "standard", Structural,
         "published_1 adds the published run's validation protocol"),
    flag("eval.by_position", "true", Structural, "loss per position in the window"),
    read(or_null(
             word("eval.modes", "dense teacher_topk teacher_threshold student random skip_all",
                  "null", Structural, "ways of executing the layers that skip, compared on valid",
                  ValueKind::WordList),
             "tdt: all; mod: all but teacher_threshold"),
         "model.family=tdt|mod"),
    read(or_null(word("eval.deciders", "calibrated threshold running_topk", "null", Structural,
                      "deciders of mode student", ValueKind::WordList),
                 "all"),
         "model.family=tdt"),
    read(null_means(integer("eval.mode_windows", 1, 1e9, "windows", "4", Structural,
                            "of valid for each of `eval.modes`, and of dev for thresholds, during "
                            "training; no more than `eval.windows`"),
                    "eval.windows"),
         "model.family=tdt|mod"),
    null_means(
        run_integer("eval.batch_size", 1, 65536, "sequences", "null", "sequences per forward pass"),
        "the planner's choice"),
};

constexpr Leaf kCheckpoint[] = {
    null_means(run_integer("checkpoint.every", 1, 1e9, "steps", "null", "periodic checkpoint"),
               "off"),
    null_means(or_words(run_integer("checkpoint.every_seconds", 1, 1e9, "s", "auto",
                                    "or after this time, whichever comes first; auto: the first "
                                    "after 3 s, then for at most 1 % of the time"),
                        "auto"),
               "off"),
    run_integer("checkpoint.keep_last", 2, 1e6, "–", "2", "verified generations kept"),
    or_null(run_integer("checkpoint.keep_best", 0, 1e6, "–", "null",
                        "best generations kept, by dev loss"),
            "1; 0 where dev is not evaluated"),
    make_row("checkpoint.keep_at", ValueKind::StepList, "steps", "[]", Execution,
             "steps or percentages of train.steps kept for good"),
    flag("checkpoint.keep_final", "true", Execution, "keep the weights of the last step"),
};

constexpr Leaf kResources[] = {
    word("resources.device", "auto cpu cuda", "auto", Execution,
         "kind of device; auto: cuda where there is one, cpu where none was meant, else an error"),
    read(null_means(run_integer("resources.gpus", 0, 1e6, "per node", "null", "GPUs used"),
                    "all visible"),
         "resources.device!=cpu"),
    or_words(run_integer("resources.ranks_per_job", 1, 1e6, "ranks", "auto",
                         "R, ranks that train one job together; the order of sums depends on it. "
                         "auto: 1, and more for cells that alone exceed resources.max_cell_time or "
                         "the memory"),
             "auto"),
    null_means(text("resources.max_cell_time", "2:00:00",
                    "cells whose operations would take longer on one rank get a team, where "
                    "resources.ranks_per_job is auto"),
               "no limit"),
    flag("resources.shard_optimizer", "false", Execution,
         "each rank of a team keeps its part of the optimiser's moments only: the same numbers, "
         "less memory, a third more communication"),
    null_means(run_integer("resources.threads", 1, 4096, "threads", "null", "threads of one rank"),
               "1"),
    flag(
        "resources.allow_inexact", "false", Execution,
        "resume cells of another number of ranks per job or kind of device, whose sums are rounded "
        "otherwise; recorded in the store. Else refused"),
    run_integer("resources.lease", 2, 3600, "s", "90",
                "a process whose heartbeat has not changed for this long counts as dead"),
    run_integer("resources.nodes", 1, 1e6, "nodes", "1", "nodes of one submitted task"),
    null_means(run_integer("resources.cpus_per_gpu", 1, 4096, "cores", "null",
                           "cores beside each GPU of a submitted task"),
               "as the cluster gives"),
    null_means(
        text("resources.mem", "null", "memory of each node of a submitted task, such as 64G"),
        "as the cluster gives"),
    text("resources.time", "4:00:00", "time limit of a submitted task, as sbatch reads it"),
    word(
        "resources.launcher", "auto mpirun srun", "auto", Execution,
        "how a supervisor starts ranks; auto: srun across nodes if it has PMIx, mpirun for several "
        "ranks on one, none for a single rank"),
    word("resources.bind", "auto cores none", "auto", Execution,
         "whether each launch of a supervisor on one node gets cores of its own; auto: in an "
         "allocation of Slurm, which no other program shares"),
    null_means(or_words(run_integer("resources.hang", 1, 1e6, "s", "auto",
                                    "a rank in which nothing has got on for this long ends itself; "
                                    "auto: 900, or twenty times the longest pause so far"),
                        "auto"),
               "never"),
    or_words(run_integer("packing.fuse", 1, 1e6, "cells", "auto", "E, cells per fused job"),
             "auto off"),
    or_words(run_integer("packing.cells_per_launch", 1, 1e6, "jobs", "auto",
                         "fused jobs that one launch of a supervisor trains one after another; "
                         "auto: as many as take a minute together"),
             "auto"),
    or_words(run_integer("packing.cells_per_gpu", 1, 1024, "launches", "auto",
                         "launches of a supervisor that share one card; auto: 1, or as many as fit "
                         "into 80 % of its memory, 4 at most, where cells and card are known"),
             "auto"),
    word("packing.order", "longest_first file", "longest_first", Execution, "order of jobs"),
};

constexpr Leaf kRetry[] = {
    run_integer("retry.crash", 0, 1e6, "–", "3",
                "further attempts at a cell that crashes its process; a kill from outside does not "
                "count"),
    run_integer("retry.oom", 0, 1e6, "–", "1",
                "attempts of a single cell after out of memory, each in a new process"),
    run_integer("retry.hang", 0, 1e6, "–", "3",
                "further launches of a job that hangs without getting on"),
    run_integer("retry.infrastructure", 0, 1e6, "–", "5",
                "the same after a fault of the node, its cards or the network, or a kill"),
    run_integer("retry.error", 0, 1e6, "–", "0",
                "further attempts at a job that ends with an error, which is no crash: the same is "
                "expected of them"),
    run_integer("retry.stop_after_consecutive", 1, 1e6, "–", "8",
                "so many jobs in a row that fail for good stop the run; cells that fail together "
                "count once"),
    real("retry.backoff", 0, 1e6, "s", "10", Execution,
         "before the first new launch of a job; three times as long each time, ± 30 %"),
    run_integer("retry.breaker_failures", 1, 1e6, "–", "5",
                "more launches that fail alike within `retry.breaker_window` stop a supervisor"),
    run_integer("retry.breaker_window", 1, 1e7, "s", "600", "for `retry.breaker_failures`"),
    run_integer("retry.disk_wait", 0, 1e7, "s", "1800",
                "a supervisor whose store's disk is full tries one launch from time to time for so "
                "long before it ends; 0: it ends at once"),
};

// What all runs of a sweep may use together.
constexpr Leaf kBudget[] = {
    null_means(text("budget.wall_time", "null",
                    "time for which runs of the sweep are at work, as resources.time; then they "
                    "stop with checkpoints"),
               "no limit"),
    null_means(above(real("budget.gpu_hours", 0, 1e9, "h", "null", Execution,
                          "hours × ranks of all attempts, as `status` counts them; without cards, "
                          "of the ranks on CPUs")),
               "no limit"),
    null_means(text("budget.store_bytes", "null",
                    "size of the store's folder, such as 64G; a sweep that is predicted to need "
                    "more is refused"),
               "no limit"),
};

constexpr Leaf slurm_word(std::string_view path, std::string_view doc) {
  return null_means(text(path, "null", doc), "the cluster's default");
}

// What `depthgrid submit` writes into a batch script.
constexpr Leaf kSlurm[] = {
    slurm_word("slurm.partition", "partition"),
    slurm_word("slurm.account", "account"),
    slurm_word("slurm.qos", "quality of service"),
    slurm_word("slurm.constraint", "features that nodes must have"),
    slurm_word("slurm.reservation", "reservation"),
    slurm_word("slurm.nodelist", "nodes to use"),
    null_means(text("slurm.gres", "null", "generic resources of each node"),
               "gpu:N, with N of `resources.gpus`"),
    slurm_word("slurm.mail_type", "events of which sbatch sends mail"),
    slurm_word("slurm.mail_user", "whom it sends them to"),
    slurm_word("slurm.dependency", "what the arrays wait for, as sbatch --dependency reads it"),
    text("slurm.exclude", "[]", "nodes to leave out", ValueKind::TextList),
    null_means(run_integer("slurm.nice", -2147483645, 2147483645, "–", "null",
                           "lowers the priority; negative raises it"),
               "0"),
    null_means(run_integer("slurm.array_parallelism", 1, 1e6, "tasks", "null",
                           "tasks of a submission that run at the same time; those "
                           "of all its arrays together"),
               "as many as fit"),
    run_integer("slurm.signal_delay", 10, 3600, "s", "180",
                "checkpoints begin this long before the time limit, or up to 60 s earlier"),
    flag("slurm.requeue", "true", Execution,
         "tasks that are preempted, run out of time or lose their node go back into the queue"),
    flag("slurm.canary", "false", Execution,
         "one cell of each structure first; the rest waits until these have succeeded"),
    text("slurm.extra", "[]", "further options of sbatch, such as --exclusive",
         ValueKind::TextList),
};

constexpr Leaf audit(std::string_view path, std::string_view default_text, std::string_view doc) {
  return word(path, "required warn off", default_text, Execution, doc);
}

constexpr Leaf kAudit[] = {
    audit("audit.causality", "required", "no logit depends on a later token, to the bit"),
    audit("audit.declaration", "required",
          "a mode declared noncausal leaks nothing but what it routes"),
    audit("audit.batch_independence", "required",
          "a sequence gives the same result alone and in a batch"),
    audit("audit.parameter_count", "required",
          "the number of parameters is that of the closed form"),
    audit("audit.gradient_flow", "required",
          "every parameter gets a finite, non-zero gradient, or is declared dead"),
    audit("audit.initial_loss", "required",
          "the first loss is that of logits that know no target; 2 nats above ln V are a warning"),
    audit("audit.overfit_batch", "warn", "one batch can be memorised, to a loss below 0.1"),
    audit("audit.entropy_floor", "required", "no loss below the entropy rate of the data"),
    audit("audit.fusion", "required",
          "fused cells equal the same cells alone; NaN stays in its cell"),
    audit("audit.scores", "required", "losses and scores are what the logits of their passes give"),
    audit("audit.positions", "required",
          "the vector of a position is added to the token at that position"),
    audit("audit.training_step", "required",
          "a step moves every parameter as the optimiser's formula says, by the whole batch"),
    audit("audit.leaves", "required",
          "every leaf that may differ between cells changes some number"),
};

constexpr SchemaSection kRunSections[] = {
    {"Evaluation", kEval}, {"Checkpoints", kCheckpoint}, {"Resources and packing", kResources},
    {"Retry", kRetry},     {"Budget", kBudget},          {"Slurm", kSlurm},
    {"Audit", kAudit},
};

}  // namespace

std::span<const SchemaSection> run_sections() {
  return kRunSections;
}

}  // namespace depthgrid
