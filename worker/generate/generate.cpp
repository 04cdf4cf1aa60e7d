#include "worker/generate/generate.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/output.hpp"
#include "core/cells/cell_rng.hpp"
#include "core/data/tokenizers/utf8.hpp"
#include "models/decode/decoder.hpp"
#include "worker/data_pool.hpp"
#include "worker/eval/eval_plan.hpp"
#include "worker/eval/mode_evaluation.hpp"
#include "worker/model/stored_model.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kPiece = 256;  // tokens of a prompt read at once: bounds the memory

double draw(std::uint64_t seed, std::int64_t n) {
  const at::Tensor x = at::empty({1, 1, 1}, at::kDouble);
  fill_uniform(x, {seed}, {.stream = stream_id("generate"), .step = n});
  return x.item<double>();
}

/// Reads tokens into the caches. @return logits (V) after the last one.
at::Tensor read(const Model& model, Decoder& decoder, std::span<const std::int64_t> tokens) {
  at::Tensor states;
  for (std::size_t at = 0; at < tokens.size(); at += kPiece) {
    const auto piece = tokens.subspan(at, std::min<std::size_t>(kPiece, tokens.size() - at));
    states = decoder.advance(
        at::tensor(at::ArrayRef<std::int64_t>(piece.data(), piece.size()), at::kLong)
            .view({1, 1, -1}));
  }
  return model.readout(states.narrow(2, states.size(2) - 1, 1)).flatten().contiguous();
}

std::vector<std::int64_t> token_ids(const std::string& prompt, const Dataset& data) {
  std::vector<std::int64_t> out;
  if (data.tokenizer) {
    if (data.tokenizer->needs_utf8()) require_utf8(prompt, "--prompt");
    const std::vector<std::uint32_t> ids = data.tokenizer->encode(prompt);
    out.assign(ids.begin(), ids.end());
  } else {
    std::size_t at = 0;
    while ((at = prompt.find_first_not_of(" ,\t\n", at)) != std::string::npos) {
      const std::size_t end = std::min(prompt.find_first_of(" ,\t\n", at), prompt.size());
      const std::string word = prompt.substr(at, end - at);
      const bool digits = word.size() <= 9 &&
                          std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
      if (!digits || std::stoll(word) >= data.vocab_size) {
        throw UserError(
            ExitCode::Usage,
            fmt::format("--prompt: '{}' is not a token of corpus {}, which has no text: "
                        "give numbers from 0 to {}",
                        word, data.corpus, data.vocab_size - 1));
      }
      out.push_back(std::stoll(word));
      at = end;
    }
  }
  if (out.empty()) {
    throw UserError(ExitCode::Usage, "--prompt is empty: the first token needs one before it");
  }
  return out;
}

/// @throws UserError as require_axes().
Control control_of(const std::vector<double>& u, const ModelOptions& o) {
  if (u.empty()) return {};
  require_axes(u, o);
  return {at::tensor(u, at::kFloat).view({1, 1, 1, o.control.axes})};
}

/// Tokens as text; as numbers if there is no tokeniser.
std::string text_of(const std::vector<std::int64_t>& tokens, const Dataset& data) {
  if (data.tokenizer) {
    const std::vector<std::uint32_t> ids(tokens.begin(), tokens.end());
    return with_valid_utf8(data.tokenizer->decode(ids));
  }
  return fmt::format("{}", fmt::join(tokens, " "));
}

}  // namespace

Generated generate_tokens(const Model& model, const std::vector<std::int64_t>& prompt,
                          std::int64_t tokens, const TokenChoice& choice, std::uint64_t seed,
                          std::int64_t vocabulary, std::optional<Execution> execution,
                          Control control) {
  const at::NoGradGuard no_grad;
  Decoder decoder(model, std::move(execution), std::move(control));
  std::vector<std::int64_t> all = prompt;
  const std::int64_t window = decoder.remaining();
  const auto newest = [&](std::int64_t n) {
    const auto size = static_cast<std::int64_t>(all.size());
    return std::span<const std::int64_t>(all).last(static_cast<std::size_t>(std::min(n, size)));
  };
  Generated out;
  at::Tensor logits = read(model, decoder, newest(window));
  for (std::int64_t n = 0; n < tokens; ++n) {
    if (n > 0 && decoder.remaining() > 0) {
      logits = read(model, decoder, newest(1));
    } else if (n > 0) {
      decoder.restart();
      ++out.restarts;
      logits = read(model, decoder, newest(std::max<std::int64_t>(1, window / 2)));
    }
    const at::Tensor wide = logits.narrow(0, 0, std::min(vocabulary, logits.size(0)));
    const std::int64_t next =
        choose_token({wide.const_data_ptr<float>(), static_cast<std::size_t>(wide.numel())}, choice,
                     choice.temperature == 0 ? 0 : draw(seed, n));
    all.push_back(next);
    out.tokens.push_back(next);
  }
  out.cache_bytes = decoder.bytes();
  return out;
}

int generate(const GenerateCommand& command) {
  const StoredModel stored(command.from);
  DataPool pool(stored.store, DataPool::Use::Reading);
  const auto data = pool.open(stored.config);
  const std::vector<std::int64_t> prompt = token_ids(command.prompt, *data);
  const EvalPlan plan(stored.config, *data, 1);
  ModeEvaluation(*data, plan, *stored.model, *stored.language, {}).calibrate(false);
  const Stopwatch clock;
  const Generated made = generate_tokens(
      *stored.model, prompt, command.tokens,
      {.temperature = command.temperature, .top_k = command.top_k, .top_p = command.top_p},
      static_cast<std::uint64_t>(command.seed), data->vocab_size, stored.language->execution,
      control_of(command.control, stored.options));
  const double seconds = clock.seconds();
  const std::string text = text_of(made.tokens, *data);
  if (command.json) {
    print(fmt::format("{}\n", json_text(Json{{"schema", 1},
                                             {"cell", stored.cell.id},
                                             {"alias", stored.cell.alias},
                                             {"step", stored.step},
                                             {"prompt", command.prompt},
                                             {"prompt_tokens", prompt},
                                             {"control", command.control},
                                             {"solver", solver_json(stored.options)},
                                             {"text", text},
                                             {"tokens", made.tokens},
                                             {"window_moves", made.restarts},
                                             {"cache_bytes", made.cache_bytes},
                                             {"seconds", seconds}})));
    return 0;
  }
  print(fmt::format("{}{}{}\n", command.prompt, data->tokenizer ? "" : " ", text));
  return 0;
}

}  // namespace depthgrid
