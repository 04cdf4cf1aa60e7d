#include "core/data/synthetic.hpp"

#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/data/markov_chain.hpp"
#include "core/data/random_words.hpp"

namespace depthgrid {
namespace {

constexpr std::uint64_t kKey = 0;  // the same corpus for every seed
constexpr std::int64_t kHeldOutShare = 20;

std::uint32_t low(std::int64_t i) {
  return static_cast<std::uint32_t>(i);
}
std::uint32_t high(std::int64_t i) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(i) >> 32U);
}

std::vector<std::uint32_t> draw_copy(const SyntheticOptions& options, std::int64_t tokens,
                                     std::string_view stream) {
  const RandomWords random(kKey, stream);
  const auto symbols = static_cast<std::uint64_t>(options.vocab_size);
  std::vector<std::uint32_t> ids(static_cast<std::size_t>(tokens));
  for (std::int64_t i = 0; i < tokens; ++i) {
    const std::int64_t block = i / (2 * options.lag);
    const std::int64_t fresh = block * options.lag + i % options.lag;
    ids[static_cast<std::size_t>(i)] =
        static_cast<std::uint32_t>(random.below(symbols, low(fresh), high(fresh), 0));
  }
  return ids;
}

double copy_entropy_rate(const SyntheticOptions& options) {
  return std::log(static_cast<double>(options.vocab_size)) / 2;
}

std::vector<std::uint32_t> draw_induction(const SyntheticOptions& options, std::int64_t tokens,
                                          std::string_view stream) {
  struct Seen {
    std::int64_t pair = -1;
    std::uint32_t value = 0;
  };
  const RandomWords random(kKey, stream);
  const std::int64_t keys = options.vocab_size / 2;
  const auto values = static_cast<std::uint64_t>(options.vocab_size - keys);
  std::vector<Seen> seen(static_cast<std::size_t>(keys));
  std::vector<std::uint32_t> ids;
  ids.reserve(static_cast<std::size_t>(tokens) + 1);
  for (std::int64_t pair = 0; 2 * pair < tokens; ++pair) {
    const std::uint64_t key =
        random.below(static_cast<std::uint64_t>(keys), low(pair), high(pair), 0);
    Seen& last = seen[key];
    if (last.pair < 0 || 2 * (pair - last.pair) > options.lag) {
      last.value = static_cast<std::uint32_t>(static_cast<std::uint64_t>(keys) +
                                              random.below(values, low(pair), high(pair), 1));
    }
    last.pair = pair;
    ids.push_back(static_cast<std::uint32_t>(key));
    ids.push_back(last.value);
  }
  ids.resize(static_cast<std::size_t>(tokens));
  return ids;
}

double induction_entropy_rate(const SyntheticOptions& options) {
  const auto keys = static_cast<double>(options.vocab_size / 2);
  const double values = static_cast<double>(options.vocab_size) - keys;
  const double fresh = std::pow(1 - 1 / keys, static_cast<double>(options.lag / 2));
  return (std::log(keys) + fresh * std::log(values)) / 2;
}

using Draw =
    std::function<std::vector<std::uint32_t>(std::int64_t tokens, std::string_view stream)>;

/// One synthetic source, ready to be drawn from.
struct Source {
  double entropy_rate;
  Draw draw;
};

Source source_of(const std::string& corpus, const SyntheticOptions& options) {
  if (corpus == "synthetic:markov") {
    MarkovChain chain(options.order, options.vocab_size, options.concentration, kKey);
    return {chain.entropy_rate(), std::bind_front(&MarkovChain::draw, std::move(chain))};
  }
  if (corpus == "synthetic:copy") {
    return {copy_entropy_rate(options), std::bind_front(draw_copy, options)};
  }
  if (corpus == "synthetic:induction") {
    return {induction_entropy_rate(options), std::bind_front(draw_induction, options)};
  }
  throw UserError(ExitCode::Usage,
                  fmt::format("data.corpus: unknown source '{}'; known: synthetic:markov, "
                              "synthetic:copy, synthetic:induction",
                              corpus));
}

}  // namespace

SyntheticData draw_synthetic(const std::string& corpus, const SyntheticOptions& options) {
  if (options.vocab_size < 2 || options.tokens < 1 || options.lag < 1) {
    throw UserError(ExitCode::Usage,
                    fmt::format("data.synthetic: vocab_size {}, tokens {}, lag {}: at least 2, 1 "
                                "and 1 are needed",
                                options.vocab_size, options.tokens, options.lag));
  }
  const Source source = source_of(corpus, options);
  const std::int64_t held_out = options.tokens / kHeldOutShare;
  return {.train = source.draw(options.tokens, corpus + "/train"),
          .dev = source.draw(held_out, corpus + "/dev"),
          .valid = source.draw(held_out, corpus + "/valid"),
          .entropy_rate = source.entropy_rate};
}

}  // namespace depthgrid
