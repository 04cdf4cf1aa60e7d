#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace depthgrid {

/// Instruction sets for which kernels are compiled (for_each_isa.inc), in rising order. Base is
/// what every processor of the architecture has: SSE2 on x86-64.
enum class Isa : std::uint8_t { Base, Avx2, Avx512 };

/// "base", "avx2", "avx512": the words of DEPTHGRID_ISA.
std::string_view name_of(Isa isa);

/// Those that this processor and its operating system support, best first; never empty.
std::span<const Isa> supported_isas();

/// The variant that a request chooses.
/// @param place  where it was made, for messages: "DEPTHGRID_ISA", "--isa"
/// @param request  a word; null or empty for the best one.
/// @param supported  best first.
/// @throws UserError (BadConfig) if the word is unknown or the processor does not support it.
Isa choose_isa(std::string_view place, const char* request,
               std::span<const Isa> supported = supported_isas());

/// The variant that this process's kernels use: that of the variable DEPTHGRID_ISA, the same
/// for the life of the process. The worker calls it before anything else, so that a wrong value
/// ends it with a message. @throws as `choose_isa`.
Isa isa_in_use();

/// Whether this processor multiplies matrices of bfloat16 (AVX512_BF16, AMX); true where
/// that is not known, on other architectures.
bool has_bf16_products();

/// Environment variables under which a process of this program, LibTorch, oneDNN and MKL use
/// nothing above `isa`, for comparisons; they are read when a library is loaded. Two limits: with
/// Base the libraries may still use SSE4, and MKL heeds its variable on Intel processors only (on
/// AMD's it has kernels for AVX2 whatever the request). bench/machine.py and tests/CMakeLists.txt
/// have the same values.
std::map<std::string, std::string> variables_of(Isa isa);

}  // namespace depthgrid
