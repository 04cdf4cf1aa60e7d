#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace depthgrid {

class CellConfig;
struct CellPlan;

// The protocol between the two programs: `depthgrid-worker VERB` receives one JSON object with
// "schema": 1, and answers by its exit code and on stdout. Commands with few options are passed as
// an argument; requests about structures and models, which may be long, on stdin.

/// What a worker of `depthgrid run` is there for.
enum class RunMode : std::uint8_t {
  Run,      // all of it, as its launcher or a person has started it
  Prepare,  // plan, corpora and audits: launches follow
  Launch,   // trains cells of a prepared sweep
  Apart,    // trains one cell for another worker, which decides what follows
};

/// `depthgrid run`.
struct RunCommand {
  std::string file;   // sweep file
  std::string store;  // its directory
  std::vector<std::string> set;
  bool yes = false;
  std::string progress = "auto";     // auto, plain, quiet or json
  std::string only{};                // condition on the cells to train; empty = all
  std::vector<std::string> rerun{};  // ids of cells to train again although they are done
  RunMode mode = RunMode::Run;
  std::vector<std::string> cells{};  // ids of the cells to train; empty = all
  std::string channel{};             // where it reports how far it is; "" = nowhere
  /// Leaf resources.hang, which must be known before the sweep is read: s; 0 = auto, -1 = never.
  double hang = 0;
  bool shared_group = false;  // the store is shared with its group, see Store::open_or_create()

  /// Whether it publishes the plan, and archives what is to be trained again.
  bool plans() const noexcept { return mode == RunMode::Run || mode == RunMode::Prepare; }
};

/// A cell's weights in a store, and how its depth is to be run with them.
struct CellChoice {
  std::string store;              // its folder
  std::string cell;               // id
  std::string at = "final";       // final, best, or the number of a step
  std::int64_t solver_steps{};    // model.solver.steps; 0 = the cell's
  std::string solver_method{};    // model.solver.method; empty = the cell's
  std::vector<double> control{};  // model.control.u; empty = the cell's
};

/// `depthgrid bench`.
struct BenchCommand {
  std::string what = "step";  // or "optimiser", "journal", "forward", "decode", "kernels"
  std::string family = "time_indexed";
  std::int64_t cells = 1;
  std::int64_t parameters = 1000000;  // per cell, for optimiser
  std::int64_t steps = 50;            // timed, after the warm-up
  std::string dump;  // folder for initial weights, batches and losses; empty = none
  std::vector<std::string> set;
  bool json = false;
  CellChoice from{};           // decode: a trained cell; empty = initial weights
  std::string only{};          // kernels: those whose name contains it
  std::string device = "cpu";  // step, optimiser, forward, decode: or "cuda"
  bool launches = false;       // step: also what a step asks a GPU to do
};

/// `depthgrid export`.
struct ExportCommand {
  CellChoice from;
  std::string layout = "native";  // or hf-gpt2
  std::string out;
  bool json = false;
};

/// `depthgrid eval`.
struct EvalCommand {
  CellChoice from;
  std::string data{};           // a named corpus or a text file; empty = the cell's own
  std::string split = "valid";  // of a corpus
  std::int64_t windows = 0;     // evenly spaced; 0 = all
  bool by_position = false;
  bool json = false;
  std::vector<std::string> modes{};     // words of eval.modes, or "all"; empty = the cell's own
  std::vector<std::string> deciders{};  // for mode student; empty = the cell's, or all for "all"
};

/// `depthgrid probe`.
struct ProbeCommand {
  std::string store;                     // its folder
  std::vector<std::string> cells;        // ids
  std::vector<std::string> probes{};     // names; empty = those whose schedule is on
  std::vector<std::string> at{"final"};  // as CellChoice::at, or all: every stored checkpoint
  std::vector<std::string> set{};        // leaves `probes.*`, as "KEY=VALUE"
  std::vector<double> control{};         // as CellChoice::control
  std::string command{};                 // as the user gave it, for the record
  bool json = false;
};

/// `depthgrid generate`.
struct GenerateCommand {
  CellChoice from;
  std::string prompt;
  std::int64_t tokens = 100;
  double temperature = 1;
  std::int64_t top_k = 0;  // 0 = all
  double top_p = 1;
  std::int64_t seed = 0;
  std::vector<double> control{};  // one number per axis; empty = no signal
  bool json = false;
};

/// `depthgrid report --include tokens`: on which texts probes measure a cell.
struct TokensCommand {
  std::string store;           // its folder
  std::string cell;            // id
  std::int64_t sequences = 1;  // the first ones of the probe set
};

/// Leaf resources.hang as RunCommand::hang.
double hang_of(const CellConfig& run);

/// The JSON argument. @throws UserError (BadData) if a prompt is not UTF-8.
template <typename Command>
std::string command_json(const Command& command);

/// @throws Error naming what is wrong if the text is not such a command.
template <typename Command>
Command parse_command(std::string_view json);

/// The first cell of each structure, in their order; pointers into `cells`.
std::vector<const CellPlan*> first_of_each_structure(const std::vector<CellPlan>& cells);

/// A request to the worker about the cells' structures, as JSON: {"schema": 1, FLAG: value, ...,
/// "structures": [{"structure", "config"}]}. @param cells  see first_of_each_structure().
std::string structure_request(const std::vector<const CellPlan*>& cells,
                              const std::vector<std::pair<const char*, bool>>& flags);

}  // namespace depthgrid
