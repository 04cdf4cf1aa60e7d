#include "worker/eval/eval_cell.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/nan.hpp"
#include "core/base/output.hpp"
#include "core/data/corpus.hpp"
#include "core/data/kept_text.hpp"
#include "worker/data_pool.hpp"
#include "worker/eval/eval_plan.hpp"
#include "worker/eval/mode_evaluation.hpp"
#include "worker/model/stored_model.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kCorpora[] = {"wikitext-2", "tiny-shakespeare", "self"};

/// One mode of execution and its results.
struct ModeRow {
  DeclaredMode mode;
  EvalResult result;
  std::vector<double> executed = {};  // (L) share of each layer; empty where all execute everything
  double share = kNaN;                // of the dynamic layers
};

Split split_of(const std::string& name) {
  const std::size_t at = label_index(kSplitNames, name);
  if (at == kSplitNames.size()) {
    throw UserError(ExitCode::Usage,
                    fmt::format("--split {}: there are {}", name, fmt::join(kSplitNames, ", ")));
  }
  return static_cast<Split>(at);
}

/// Text of a file, or of the split of a named corpus.
std::string text_of(const EvalCommand& command, const CellConfig& config, bool utf8) {
  if (std::ranges::find(kCorpora, command.data) != std::end(kCorpora)) {
    DataOptions options = data_options(config);
    options.corpus = command.data;
    options.paths.clear();
    options.test.clear();
    return read_corpus(options, nullptr, utf8).text(split_of(command.split));
  }
  if (!fs::is_regular_file(command.data)) {
    throw UserError(ExitCode::NoInput,
                    fmt::format("--data {}: there is no such file, and the corpora are {}",
                                command.data, fmt::join(kCorpora, ", ")));
  }
  DataOptions options = data_options(config);
  if (options.format == "tokens") options.format = "auto";
  std::vector<SourceFile> files;
  return user_text(command.data, "--data", options, utf8, files);
}

/// Tokens of another text, made by the cell's tokeniser.
TokenStream other_stream(const EvalCommand& command, const StoredModel& stored,
                         const Dataset& data) {
  if (!data.tokenizer) {
    throw UserError(ExitCode::Usage, fmt::format("--data: corpus {} has no tokeniser that could "
                                                 "cut another text; leave --data out",
                                                 data.corpus));
  }
  const std::string text = text_of(command, stored.config, data.tokenizer->needs_utf8());
  const std::vector<std::uint32_t> ids = data.tokenizer->encode(text);
  const auto stream =
      TokenStream::from_ids(ids, data.vocab_size, static_cast<std::int64_t>(text.size()));
  const bool kept = keeps_text(stored.config.word("data.tokenizer"), stream);
  return kept ? stream : stream.with_bytes(0);
}

template <typename Words>
bool holds(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// Checks that the words of `given` are among `known`.
void require_known(const char* option, const std::vector<std::string>& given,
                   const std::vector<std::string_view>& known) {
  for (const std::string& word : given) {
    if (holds(known, word)) continue;
    throw UserError(ExitCode::Usage,
                    fmt::format("{} {}: there are {}", option, word, fmt::join(known, ", ")));
  }
}

/// The family's modes selected by --mode and --decider; without them the mode in which the cell
/// itself is evaluated.
std::vector<DeclaredMode> chosen_modes(const EvalCommand& command, const Model& model) {
  const RoutingOptions& o = model.options().routing;
  const std::vector<DeclaredMode> declared = model.family().modes();
  std::vector<std::string_view> modes = {"all"}, deciders;
  for (const DeclaredMode& m : declared) {
    if (!holds(modes, name_of(m.mode))) modes.push_back(name_of(m.mode));
    if (m.decider) deciders.push_back(name_of(*m.decider));
  }
  require_known("--mode", command.modes, modes);
  require_known("--decider", command.deciders, deciders);
  const std::string_view own = name_of(o.own_mode());
  const bool all = holds(command.modes, "all");
  std::vector<DeclaredMode> out;
  for (const DeclaredMode& m : declared) {
    const std::string_view word = name_of(m.mode);
    const bool decides = !m.decider || holds(command.deciders, name_of(*m.decider)) ||
                         (command.deciders.empty() && (all || *m.decider == o.decider));
    const bool wanted = all || (command.modes.empty() ? word == own : holds(command.modes, word));
    if (wanted && decides) out.push_back(m);
  }
  return out;
}

/// Figures that are not finite become null.
Json row_json(const ModeRow& row, bool by_position) {
  const EvalResult& r = row.result;
  Json json = {{"mode", row.mode.name},
               {"causal", row.mode.causal},
               {"executed_share", row.share},
               {"executed_by_layer", row.executed},
               {"tokens", r.tokens},
               {"loss", r.loss},
               {"loss_error", r.error},
               {"perplexity", r.perplexity},
               {"bits_per_byte", r.bits_per_byte},
               {"accuracy", r.accuracy}};
  if (by_position) json["loss_by_position"] = r.by_position;
  return json;
}

/// Name of a mode, with a mark if its figures are not those of a prediction.
std::string shown(const DeclaredMode& mode) {
  return std::string(mode.name) + (mode.causal ? "" : " *");
}

/// Runs the modes one after another with thresholds calibrated as in `run`: as at its end, or, for
/// the number of windows of its periodic evaluations, as in those.
std::vector<ModeRow> evaluate_modes(const EvalCommand& command, const StoredModel& stored,
                                    const Dataset& data, const TokenStream& stream) {
  const EvalPlan plan(stored.config, data, 1);
  const std::vector<DeclaredMode> chosen = chosen_modes(command, *stored.model);
  ModeEvaluation evaluation(data, plan, *stored.model, *stored.language, chosen);
  const bool final = command.windows == 0 ||
                     stored.config.integer_if("eval.final_windows").value_or(0) == command.windows;
  evaluation.calibrate(final);
  const auto windows = command.windows > 0 ? std::optional(command.windows) : std::nullopt;
  std::vector<ModeRow> rows;
  for (const DeclaredMode& mode : chosen) {
    CellLanguageModel model(*stored.model, {});
    model.execution = evaluation.execution(mode);
    ModeRow& row = rows.emplace_back();
    row.mode = mode;
    row.result = plan.on(model, stream, windows).front();
    if (stored.options.routing.layers.empty()) continue;
    row.executed = executed_shares(model.executed, 0);
    row.share = dynamic_share(stored.options.routing, row.executed);
  }
  return rows;
}

std::string table(const std::vector<ModeRow>& rows, bool by_position) {
  std::string text =
      fmt::format("{:<21} {:>10} {:>10} {:>10} {:>12} {:>13} {:>9} {:>9}\n", "mode", "tokens",
                  "nats", "±", "perplexity", "bits per byte", "accuracy", "executed");
  for (const ModeRow& row : rows) {
    const EvalResult& r = row.result;
    text +=
        fmt::format("{:<21} {:>10} {:>10.5f} {:>10.5f} {:>12.4f} {:>13} {:>9.4f} {:>9}\n",
                    shown(row.mode), r.tokens, r.loss, r.error, r.perplexity,
                    std::isfinite(r.bits_per_byte) ? fmt::format("{:.5f}", r.bits_per_byte) : "–",
                    r.accuracy, std::isfinite(row.share) ? fmt::format("{:.4f}", row.share) : "–");
  }
  for (const ModeRow& row : rows) {
    if (!row.mode.causal) text += fmt::format("* looks ahead: {}\n", row.mode.reason);
  }
  if (!by_position) return text;
  text += "\nposition";
  for (const ModeRow& row : rows) text += fmt::format(" {:>21}", shown(row.mode));
  for (std::size_t t = 0; t < rows.front().result.by_position.size(); ++t) {
    text += fmt::format("\n{:>8}", t);
    for (const ModeRow& row : rows) text += fmt::format(" {:>21.5f}", row.result.by_position[t]);
  }
  return text + "\n";
}

}  // namespace

int eval_cell(const EvalCommand& command) {
  const StoredModel stored(command.from);
  DataPool pool(stored.store, DataPool::Use::Reading);
  const auto data = pool.open(stored.config);
  const bool own = command.data.empty() || command.data == data->corpus;
  const Split split = split_of(command.split);
  const TokenStream stream = own ? data->split(split) : other_stream(command, stored, *data);
  const std::string place = own ? data->corpus : command.data;
  if (stream.size() < 2) {
    throw UserError(
        ExitCode::NoInput,
        fmt::format("{}: the split '{}' is absent, or has no two tokens", place, command.split));
  }
  const std::vector<ModeRow> rows = evaluate_modes(command, stored, *data, stream);
  if (command.json) {
    Json modes = Json::array();
    for (const ModeRow& row : rows) modes.push_back(row_json(row, command.by_position));
    print(fmt::format(
        "{}\n",
        json_text(Json{{"schema", 1},
                       {"cell", stored.cell.id},
                       {"alias", stored.cell.alias},
                       {"step", stored.step},
                       {"data", place},
                       {"split", fs::is_regular_file(place) && !own ? Json() : Json(command.split)},
                       {"windows", command.windows > 0 ? Json(command.windows) : Json()},
                       {"solver", solver_json(stored.options)},
                       {"modes", modes}})));
    return 0;
  }
  const std::string& tokenizer = stored.config.word("data.tokenizer");
  const bool lost = data->tokenizer && stream.bytes() == 0;
  print(fmt::format(
      "{} after {} steps on {}{}{}\n{}{}", stored.cell.alias, stored.step, place,
      fs::is_regular_file(place) && !own ? "" : ", " + command.split, solver_text(stored.options),
      table(rows, command.by_position),
      lost ? "no bits per byte: tokens of " + tokenizer + " do not keep every byte of this text\n"
           : ""));
  return 0;
}

}  // namespace depthgrid
