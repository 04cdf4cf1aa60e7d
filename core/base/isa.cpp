#include "core/base/isa.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"base", "avx2", "avx512"};

bool supported(Isa isa) {
#if defined(__x86_64__)
  // The instructions for which for_each_isa.inc compiles.
  switch (isa) {
    case Isa::Avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl") && supported(Isa::Avx2);
    case Isa::Avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    case Isa::Base:
      return true;
  }
#endif
  return isa == Isa::Base;
}

std::vector<Isa> find_supported() {
  std::vector<Isa> out;
  for (const Isa isa : {Isa::Avx512, Isa::Avx2, Isa::Base}) {
    if (supported(isa)) out.push_back(isa);
  }
  return out;
}

}  // namespace

std::string_view name_of(Isa isa) {
  return kNames[static_cast<std::size_t>(isa)];
}

std::span<const Isa> supported_isas() {
  static const std::vector<Isa> found = find_supported();
  return found;
}

Isa choose_isa(std::string_view place, const char* request, std::span<const Isa> supported) {
  if (request == nullptr || *request == '\0') return supported.front();
  for (const Isa isa : supported) {
    if (name_of(isa) == request) return isa;
  }
  std::vector<std::string_view> words;
  for (const Isa isa : supported) words.push_back(name_of(isa));
  const bool known = std::ranges::find(kNames, std::string_view(request)) != kNames.end();
  throw UserError(ExitCode::BadConfig,
                  fmt::format("{} = {}: {}; expected one of {}, or leave it out for the first of "
                              "them",
                              place, request,
                              known ? "this processor does not support that instruction set"
                                    : "there is no such instruction set",
                              fmt::join(words, ", ")));
}

Isa isa_in_use() {
  static const Isa chosen = choose_isa("DEPTHGRID_ISA", std::getenv("DEPTHGRID_ISA"));
  return chosen;
}

bool has_bf16_products() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16");  // every processor with AMX has it, too
#else
  return true;  // not known
#endif
}

std::map<std::string, std::string> variables_of(Isa isa) {
  std::map<std::string, std::string> out = {{"DEPTHGRID_ISA", std::string(name_of(isa))}};
  if (isa == Isa::Avx512) return out;
  const bool avx2 = isa == Isa::Avx2;
  out["ATEN_CPU_CAPABILITY"] = avx2 ? "avx2" : "default";
  out["MKL_ENABLE_INSTRUCTIONS"] = avx2 ? "AVX2" : "SSE4_2";
  out["ONEDNN_MAX_CPU_ISA"] = avx2 ? "AVX2" : "SSE41";
  return out;
}

}  // namespace depthgrid
