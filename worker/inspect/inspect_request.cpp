#include "worker/inspect/inspect_request.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> kKinds = {"gate", "forward", "decode", "gradcheck"};
constexpr std::array<std::string_view, 3> kDtypes = {"f32", "f64", "bf16"};

/// The expected form of a member; the reader of the case adds its place.
[[noreturn]] void expected(const std::string& what) {
  throw UserError(ExitCode::BadData, "expected " + what);
}

/// Sizes of nested lists of numbers; all lists of a level must have the same length.
std::vector<std::int64_t> sizes_of(const Json& j) {
  if (!j.is_array()) return {};
  std::vector<std::int64_t> out = {static_cast<std::int64_t>(j.size())};
  if (j.empty()) return out;
  const std::vector<std::int64_t> inner = sizes_of(j.front());
  for (const Json& entry : j) {
    if (sizes_of(entry) != inner) expected("lists of one length at each level");
  }
  out.insert(out.end(), inner.begin(), inner.end());
  return out;
}

void flatten(const Json& j, std::vector<double>& out) {
  if (j.is_array()) {
    for (const Json& entry : j) flatten(entry, out);
  } else if (j.is_boolean()) {
    out.push_back(j.get<bool>() ? 1 : 0);
  } else if (j.is_number()) {
    out.push_back(j.get<double>());
  } else {
    expected(fmt::format("numbers, found {}", json_text(j)));
  }
}

/// Nested lists as a float64 tensor.
at::Tensor array(const Json& j) {
  const std::vector<std::int64_t> sizes = sizes_of(j);
  std::vector<double> values;
  flatten(j, values);
  return at::tensor(values, at::kDouble).view(sizes);
}

/// A mask: booleans, or 0 and 1.
at::Tensor flags(const Json& j) {
  const at::Tensor x = array(j);
  if (!x.eq(0).logical_or(x.eq(1)).all().item<bool>()) expected("true and false, or 0 and 1");
  if (x.dim() != 0 && x.dim() != 3) {
    expected("true, false, or one list of sequences of tokens for each dynamic layer");
  }
  return x.to(at::kBool);
}

at::Tensor residuals(const Json& j, CheckCase& c) {
  const at::Tensor x = array(j);
  if ((x.dim() != 2 && x.dim() != 3) || x.numel() == 0) {
    expected("tokens of channels, or sequences of tokens of channels, not empty");
  }
  c.rows_given = x.dim() == 3;
  return c.rows_given ? x.unsqueeze(0) : x.unsqueeze(0).unsqueeze(0);
}

at::Tensor token_ids(const Json& j) {
  const at::Tensor x = array(j);
  if ((x.dim() != 1 && x.dim() != 2) || x.numel() == 0) {
    expected("tokens, or sequences of tokens, not empty");
  }
  if (!x.eq(x.floor()).logical_and(x.ge(0)).all().item<bool>()) {
    expected("whole numbers of 0 or more");
  }
  return x.to(at::kLong).view({1, x.dim() == 2 ? x.size(0) : 1, -1});
}

std::int64_t whole(const Json& j, std::int64_t least) {
  if (!j.is_number_integer() || j.get<std::int64_t>() < least) {
    expected(fmt::format("a whole number of at least {}, found {}", least, json_text(j)));
  }
  return j.get<std::int64_t>();
}

double real(const Json& j) {
  if (!j.is_number()) expected("a number, there is " + json_text(j));
  return j.get<double>();
}

bool yes_or_no(const Json& j) {
  if (!j.is_boolean()) expected("true or false, there is " + json_text(j));
  return j.get<bool>();
}

template <typename Words>
std::size_t word_of(const Json& j, const Words& words) {
  const std::string word = j.is_string() ? j.get<std::string>() : json_text(j);
  const auto at = std::ranges::find(words, word);
  if (at == std::end(words)) {
    throw UserError(ExitCode::Usage,
                    fmt::format("'{}' is unknown; there are {}", word, fmt::join(words, ", ")));
  }
  return static_cast<std::size_t>(at - std::begin(words));
}

/// A member of a case: which checks read it, and how.
struct Member {
  std::string_view name;
  std::string_view kinds;  // g: gate, f: forward, d: decode, c: gradcheck
  void (*read)(CheckCase&, const Json&);
};

constexpr Member kMembers[] = {
    {"dtype", "gfd",
     [](CheckCase& c, const Json& j) { c.dtype = static_cast<CheckDtype>(word_of(j, kDtypes)); }},
    {"dx", "g", [](CheckCase& c, const Json& j) { c.dx = residuals(j, c); }},
    {"dx_hat", "g", [](CheckCase& c, const Json& j) { c.dx_hat = residuals(j, c); }},
    {"window", "g", [](CheckCase& c, const Json& j) { c.window = whole(j, 1); }},
    {"exclusive", "g", [](CheckCase& c, const Json& j) { c.exclusive = yes_or_no(j); }},
    {"gamma", "g",
     [](CheckCase& c, const Json& j) {
       c.gamma = real(j);
       if (!(*c.gamma >= 0 && *c.gamma <= 1)) expected("a share from 0 to 1");
     }},
    {"min_k", "g", [](CheckCase& c, const Json& j) { c.min_k = whole(j, 0); }},
    {"o_ce", "g", [](CheckCase& c, const Json& j) { c.o_ce = real(j); }},
    {"m_cu", "g", [](CheckCase& c, const Json& j) { c.m_cu = real(j); }},
    {"beta_ce", "g", [](CheckCase& c, const Json& j) { c.beta_ce = real(j); }},
    {"beta_cu", "g", [](CheckCase& c, const Json& j) { c.beta_cu = real(j); }},
    {"seed", "fdc",
     [](CheckCase& c, const Json& j) { c.seed = static_cast<std::uint64_t>(whole(j, 0)); }},
    {"rows", "fdc", [](CheckCase& c, const Json& j) { c.rows = whole(j, 1); }},
    {"length", "fdc", [](CheckCase& c, const Json& j) { c.length = whole(j, 1); }},
    {"tokens", "fdc", [](CheckCase& c, const Json& j) { c.tokens = token_ids(j); }},
    {"mode", "fd",
     [](CheckCase& c, const Json& j) {
       std::vector<std::string_view> words(kExecutionModeNames.begin(), kExecutionModeNames.end());
       words.push_back(kTrainingMode);
       c.mode = words[word_of(j, words)];
     }},
    {"decider", "fd",
     [](CheckCase& c, const Json& j) {
       c.decider = static_cast<Decider>(word_of(j, kDeciderNames));
     }},
    {"masks", "fd", [](CheckCase& c, const Json& j) { c.masks = flags(j); }},
    {"thresholds", "fd",
     [](CheckCase& c, const Json& j) {
       c.thresholds = array(j);
       if (c.thresholds.dim() != 1) expected("one number for each dynamic layer");
     }},
    {"step", "f", [](CheckCase& c, const Json& j) { c.step = whole(j, 1); }},
    {"dump", "fd", [](CheckCase& c, const Json& j) { c.dump = yes_or_no(j); }},
    {"parameters", "fd",
     [](CheckCase& c, const Json& j) {
       if (!j.is_object()) expected("an object of names and values");
       for (const auto& [name, value] : j.items()) c.parameters[name] = array(value);
     }},
    {"prefill", "d", [](CheckCase& c, const Json& j) { c.prefill = whole(j, 0); }},
    {"chunks", "d",
     [](CheckCase& c, const Json& j) {
       if (!j.is_array()) expected("a list of numbers of tokens");
       for (const Json& n : j) c.chunks.push_back(whole(n, 1));
     }},
    {"samples", "c", [](CheckCase& c, const Json& j) { c.samples = whole(j, 1); }},
    {"threshold", "c", [](CheckCase& c, const Json& j) { c.threshold = real(j); }},
};

CheckCase read_case(const Json& members, CheckKind kind, const std::string& place) {
  const char letter = "gfdc"[static_cast<std::size_t>(kind)];
  CheckCase out;
  for (const auto& [name, value] : members.items()) {
    const auto* const at = std::ranges::find(kMembers, name, &Member::name);
    if (at == std::end(kMembers) || at->kinds.find(letter) == std::string_view::npos) {
      std::vector<std::string_view> known;
      for (const Member& m : kMembers) {
        if (m.kinds.find(letter) != std::string_view::npos) known.push_back(m.name);
      }
      throw UserError(ExitCode::Usage, fmt::format("{}: '{}' is unknown; check {} takes {}", place,
                                                   name, name_of(kind), fmt::join(known, ", ")));
    }
    try {
      at->read(out, value);
    } catch (const UserError& e) {
      throw UserError(e.code(), fmt::format("{}: {}: {}", place, name, e.what()));
    }
  }
  return out;
}

}  // namespace

std::string_view name_of(CheckDtype dtype) {
  return kDtypes[static_cast<std::size_t>(dtype)];
}

std::string_view name_of(CheckKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

CheckRequest parse_check_request(std::string_view text) {
  CheckRequest out;
  try {
    const Json root = parse_ordered_json(text);
    out.kind = static_cast<CheckKind>(word_of(root.at("what"), kKinds));
    for (const Json& cell : root.at("cells")) {
      out.cells.push_back({cell.at("alias"), config_from_json(json_text(cell.at("config")))});
    }
    if (const Json& from = root.at("from"); !from.is_null()) {
      out.from = CellChoice{from.at("store"), from.at("cell"), from.at("at"),
                            from.value("solver_steps", std::int64_t{0}),
                            from.value("solver_method", std::string())};
    }
    const std::string word(name_of(out.kind));
    Json common = root.at("defaults"), input = root.at("input");
    if (!input.is_object()) {
      throw UserError(ExitCode::BadData, "check " + word + ": --input: expected one JSON object");
    }
    Json cases = Json::array({Json::object()});
    if (input.contains("cases")) {
      cases = input["cases"];
      input.erase("cases");
      if (!cases.is_array() ||
          !std::ranges::all_of(cases, [](const Json& j) { return j.is_object(); })) {
        throw UserError(ExitCode::BadData, "check " + word + ": cases: expected a list of objects");
      }
    }
    common.update(input);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Json merged = common;
      merged.update(cases[i]);
      out.cases.push_back(read_case(merged, out.kind, fmt::format("check {}, case {}", word, i)));
    }
  } catch (const nlohmann::json::exception& e) {
    throw UserError(ExitCode::BadData, std::string("check: cannot read the request: ") + e.what());
  }
  return out;
}

}  // namespace depthgrid
