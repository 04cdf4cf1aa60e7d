#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "distributed/collective.hpp"
#include "models/options/model_options.hpp"
#include "storage/cells/cell_history.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/files/lease_keeper.hpp"
#include "storage/plan_sequence.hpp"
#include "sweeps/queue/job_queue.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "worker/model/fused_model.hpp"
#include "worker/session/job_session.hpp"

namespace depthgrid::testing {

/// A run of one process on a Markov chain, in a store of its own: the sweep of two cells that
/// differ in their learning rate, ready to claim jobs.
class SmallRun {
 public:
  struct Options {
    std::string rates = "[1e-3, 3e-3]";  // of the two cells
    std::vector<std::string> set = {};   // "leaf=value"
    std::filesystem::path folder = {};   // of the store, if it outlives this
    std::string data =
        "{corpus: synthetic:markov, synthetic: {vocab_size: 16, tokens: 20000}, seq_len: 8}";
  };

  explicit SmallRun(const Options& options)
      : folder_(options.folder.empty() ? scratch_.path() : options.folder),
        command{.file = write(folder_, options),
                .store = (folder_ / "store").string(),
                .set = options.set,
                .progress = "quiet"},
        sweep(load_sweep({.file = command.file, .set = command.set})),
        store(planned()),
        run(command, sweep, store, *world_, 0, 1, watchdog) {}

  SmallRun() : SmallRun(Options{}) {}

  /// Takes the cells of these rows for one fused job.
  Claim claim(std::vector<std::size_t> rows = {0, 1}) {
    FusedJob job;
    job.cells = std::move(rows);
    JobQueue queue(sweep, store, leases, {job}, parameters, 3);
    std::optional<Claim> out;
    queue.next(out);
    return std::move(out).value();
  }

  static std::int64_t parameters(const CellConfig& config) {
    return layout_of(model_options({&config})).size();
  }

  std::filesystem::path folder(std::size_t row) const {
    return store.cell_dir(sweep.cells[row].id);
  }
  CellHistory history(std::size_t row) const { return read_history(folder(row)); }
  std::vector<double> column(std::size_t row, const char* kind, const char* name) const {
    return history(row).find(kind)->column(name);
  }
  /// Number of recorded events of a kind.
  std::size_t events(std::size_t row, EventKind kind) const {
    const CellHistory all = history(row);
    return static_cast<std::size_t>(
        std::ranges::count(all.events, kind, [](const JournalEvent& e) { return e.kind; }));
  }
  std::vector<std::int64_t> checkpoints(std::size_t row) const {
    std::vector<std::int64_t> out;
    for (const CheckpointFile& file : list_checkpoints(folder(row))) out.push_back(file.step);
    std::ranges::sort(out);
    return out;
  }

 private:
  TemporaryFolder scratch_;
  std::filesystem::path folder_;
  std::unique_ptr<Collective> world_ = make_self_collective();

  static std::string write(const std::filesystem::path& folder, const Options& options) {
    const std::filesystem::path file = folder / "sweep.yaml";
    std::ofstream(file) << "data: " << options.data << R"(
name: small
model: {family: standard, d_model: 16, n_layers: 2, n_heads: 2}
train: {steps: 6, batch_size: 2}
eval: {every: 3, windows: 8, final_windows: 8}
checkpoint: {every: 4}
parameters:
  train.lr: )" << options.rates
                        << '\n';
    return file.string();
  }
  Store planned() const {
    Store out = Store::open_or_create(command.store);
    publish_plan(out, sweep);
    return out;
  }

 public:
  RunCommand command;
  Sweep sweep;
  Store store;
  Watchdog watchdog;
  RunContext run;
  /// Added to the clock on which leases are timed.
  std::atomic<std::chrono::seconds> later{};
  LeaseKeeper leases{{.ttl = std::chrono::seconds(20),
                      .now = [this] { return std::chrono::steady_clock::now() + later.load(); }}};
};

}  // namespace depthgrid::testing
