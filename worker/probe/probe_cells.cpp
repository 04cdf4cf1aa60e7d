#include "worker/probe/probe_cells.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/log.hpp"
#include "core/base/output.hpp"
#include "core/config/facts/probe_sample.hpp"
#include "core/config/facts/state_volume.hpp"
#include "core/config/sweep/observation.hpp"
#include "core/train/train_options.hpp"
#include "storage/cells/probe_record.hpp"
#include "storage/hdf5/checkpoint.hpp"
#include "storage/plan_sequence.hpp"
#include "worker/data_pool.hpp"
#include "worker/model/stored_model.hpp"
#include "worker/probe/measurement_rows.hpp"
#include "worker/session/probe_table.hpp"
#include "worker/session/probe_tokens.hpp"
#include "worker/session/state_files.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// What was found in one cell.
struct CellMeasurements {
  CellId id;
  std::string alias;
  std::vector<std::int64_t> steps;
  std::vector<std::string> probes;
  std::vector<std::string> without{};  // asked for by name, but with nothing to measure here
  std::size_t variables = 0;
  fs::path file;
  std::vector<fs::path> states;  // files of raw states
  double seconds = 0;
};

void require_probes(const std::vector<std::string>& names) {
  std::vector<std::string_view> known;
  for (const ProbeFacts& probe : known_probes()) known.emplace_back(probe.name);
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw UserError(ExitCode::Usage,
                    fmt::format("--probe {}: there are {}", name, fmt::join(known, ", ")));
  }
}

/// The probes asked for; else those that the cell's leaves switch on. In the order of the table.
std::vector<std::string> names_for(const ProbeCommand& command, const CellConfig& leaves) {
  std::vector<std::string> out;
  for (const ProbeFacts& probe : known_probes()) {
    const std::string name = probe.name;
    const auto* word = leaves.at("probes." + name + ".schedule").get_if<std::string>();
    const bool on = word == nullptr || *word != "off";
    const bool asked = std::ranges::find(command.probes, name) != command.probes.end();
    if (command.probes.empty() ? on : asked) out.push_back(name);
  }
  return out;
}

/// The choices of --at, each checkpoint of a cell for `all`.
std::vector<std::string> choices_at(const ProbeCommand& command, const Store& store,
                                    const CellId& id) {
  std::vector<std::string> out;
  for (const std::string& at : command.at) {
    if (at != "all") {
      out.push_back(at);
      continue;
    }
    std::set<std::int64_t> steps;
    for (const CheckpointFile& file : list_checkpoints(store.cell_path(id), store.fs()))
      steps.insert(file.step);
    for (const std::int64_t step : steps) out.push_back(std::to_string(step));
    if (steps.empty()) out.emplace_back("final");  // which says that there is none
  }
  return out;
}

/// The leaves by which the probes measure. @param control  under which, if not the cell's own.
std::string settings_json(const CellConfig& leaves, const std::vector<double>& control) {
  Json out = Json::object();
  if (!control.empty()) out[kSignalOfProbes] = control;
  const Json given = parse_ordered_json(leaves.json());
  for (const auto& [path, value] : given.items()) {
    if (path.starts_with("probes.")) out[path] = value;
  }
  return json_text(out);
}

/// @throws UserError if one of these probes takes more sequences than the probe set has.
void require_sequences(const CellConfig& leaves, const std::vector<std::string>& names) {
  for (const ProbeSampleLeaf& sample : probe_sample_leaves()) {
    if (std::ranges::find(names, sample.probe) == names.end()) continue;
    const std::string problem = sample_refusal(leaves.by_path(), sample.path);
    if (!problem.empty()) throw UserError(ExitCode::Usage, "probe: " + problem);
  }
}

/// @throws UserError if the raw states of so many measurements are more than the leaves allow.
void require_space(const CellConfig& leaves, std::size_t measurements) {
  StateVolume volume = state_volume(leaves.by_path());
  volume.measurements = static_cast<std::int64_t>(measurements);
  if (const std::string problem = state_refusal(volume); !problem.empty()) {
    throw UserError(ExitCode::Usage, "probe: " + problem);
  }
}

/// Probes and rows of one cell at one checkpoint after another.
class CellProbing {
 public:
  CellProbing(const ProbeCommand& command, const Store& store, const StoredPlan& plan)
      : command_(command), store_(store), plan_(plan), data_(store, DataPool::Use::Reading) {}

  CellMeasurements measure(const CellId& id) {
    const Stopwatch clock;
    CellMeasurements out;
    out.id = id;
    MeasurementRows rows([&](const StateRecord& record) {
      out.states.push_back(
          store_states(store_.cell_path(id), id, record, store_.fs(), command_.control));
    });
    std::optional<StoredCell> cell;
    std::string settings;
    std::optional<ProbeSet> set;
    std::string set_sha256;
    const std::map<std::int64_t, std::string> choices = steps_at(id);
    for (const auto& [step, at] : choices) {
      StoredModel stored(
          {.store = command_.store, .cell = id, .at = at, .control = command_.control});
      const CellConfig leaves = with_observations(stored.config, command_.set);
      const std::vector<std::string> names = names_for(command_, leaves);
      require_sequences(leaves, names);
      if (std::ranges::count(names, "trajectory") > 0) {
        require_space(leaves, choices.size());
      }
      if (!set) {
        const auto data = data_.open(stored.config);
        set = probe_tokens(leaves, *data);
        set_sha256 = probe_set_digest(leaves, *data);
      }
      out.probes = measure_cell(stored, leaves, *set, rows);
      settings = settings_json(leaves, command_.control);
      cell = stored.cell;
    }
    out.alias = cell->alias;
    out.steps = rows.steps();
    out.variables = rows.series();
    for (const std::string& name : command_.probes) {
      if (std::ranges::find(out.probes, name) == out.probes.end()) out.without.push_back(name);
    }
    if (out.variables > 0) {
      store_.upgrade();
      out.file = publish_probe_record(store_.cell_path(id),
                                      {.plan = *cell,
                                       .sweep = plan_,
                                       .layout = rows.layout(),
                                       .rows = rows.rows(),
                                       .probes = fmt::format("{}", fmt::join(out.probes, " ")),
                                       .settings = settings,
                                       .command = command_.command,
                                       .set_sha256 = set_sha256},
                                      store_.fs());
    }
    out.seconds = clock.seconds();
    return out;
  }

 private:
  /// The choices by their steps, all of them there: a measurement keeps raw states at once, and one
  /// that then found a checkpoint missing would leave files of states without its numbers.
  std::map<std::int64_t, std::string> steps_at(const CellId& id) const {
    std::map<std::int64_t, std::string> out;
    for (const std::string& at : choices_at(command_, store_, id)) {
      out.try_emplace(stored_step({.store = command_.store, .cell = id, .at = at}), at);
    }
    return out;
  }

  /// @return names of the probes that found something to measure.
  std::vector<std::string> measure_cell(StoredModel& stored, const CellConfig& leaves,
                                        const ProbeSet& set, MeasurementRows& rows) {
    const TrainOptions train = train_options({&stored.config});
    const ProbedJob job{.leaves = leaves,
                        .model = *stored.model,
                        .arena = *stored.arena,
                        .set = [&set] { return set; },
                        .steps = train.steps,
                        .sequences = std::max<std::int64_t>(1, train.batch / train.accumulation)};
    std::vector<std::string> measured;
    for (const std::string& name : names_for(command_, leaves)) {
      const JobProbes probes = make_probes(job, {name});
      for (const auto& probe : probes.probes) {
        probe->declare(rows);
        probe->measure(stored.step, rows);
        measured.push_back(name);
      }
    }
    rows.end_measurement(stored.step);
    return measured;
  }

  const ProbeCommand& command_;
  const Store& store_;
  const StoredPlan& plan_;
  DataPool data_;
};

std::vector<std::string> file_names(const std::vector<fs::path>& files) {
  std::vector<std::string> out;
  for (const fs::path& file : files) out.push_back(file.string());
  return out;
}

Json json_of(const CellMeasurements& measured) {
  return {{"cell", measured.id},
          {"alias", measured.alias},
          {"steps", measured.steps},
          {"probes", measured.probes},
          {"without", measured.without},
          {"variables", measured.variables},
          {"file", measured.file.empty() ? Json() : Json(measured.file.string())},
          {"states", file_names(measured.states)},
          {"seconds", measured.seconds}};
}

std::string text_of(const CellMeasurements& measured) {
  if (measured.variables == 0) {
    return fmt::format("{}: nothing that these probes could measure\n", measured.alias);
  }
  std::string out = fmt::format("{}: {} at step {}, {} variables, {:.1f} s: {}\n", measured.alias,
                                fmt::join(measured.probes, ", "), fmt::join(measured.steps, ", "),
                                measured.variables, measured.seconds, measured.file.string());
  if (!measured.without.empty()) {
    out +=
        fmt::format("  nothing to measure in this cell: {}\n", fmt::join(measured.without, ", "));
  }
  for (const fs::path& file : measured.states)
    out += fmt::format("  raw states: {}\n", file.string());
  return out;
}

}  // namespace

int probe_cells(const ProbeCommand& command) {
  require_probes(command.probes);
  with_observations(CellConfig(), command.set);  // refused once, not for each cell
  const Store store = Store::open(command.store);
  const StoredPlan plan = read_plan(store);
  CellProbing probing(command, store, plan);
  Json cells = Json::array(), problems = Json::array();
  ExitCode code = ExitCode::Done;
  bool found = false;
  for (const std::string& id : command.cells) {
    try {
      const CellMeasurements measured = probing.measure(id);
      cells.push_back(json_of(measured));
      found = found || measured.variables > 0;
      if (!command.json) print(text_of(measured));
    } catch (const UserError& problem) {
      if (problems.empty()) code = problem.code();
      problems.push_back({{"cell", id}, {"problem", problem.what()}});
      log(LogLevel::Error, problem.what());
    }
  }
  if (command.json) {
    print(json_text(Json{{"schema", 1}, {"cells", cells}, {"problems", problems}}) + "\n");
  } else if (found) {
    print(fmt::format("depthgrid pack {} brings them into sweep.h5\n", command.store));
  } else if (!cells.empty()) {
    print("no cell has anything that these probes could measure: nothing was written\n");
  }
  return static_cast<int>(code);
}

}  // namespace depthgrid
