#pragma once

namespace depthgrid {

/// Exit codes of both programs; the numbers are a contract with scripts (docs/cli.md).
/// 65 and up follow sysexits.h; a child killed by signal n gives 128 + n.
enum class ExitCode : int {
  Done = 0,
  Failed = 1,
  Usage = 2,            // wrong command line or invalid sweep file
  Unfinished = 3,       // status: cells are still pending or running
  Partial = 4,          // finished, but some cells failed
  BadData = 65,         // input exists but is wrong: another corpus, a damaged file
  NoInput = 66,         // input is missing
  Infrastructure = 71,  // a card, its driver or the network has failed
  CantCreate = 73,      // the store cannot be written
  TempFail = 75,        // stopped by a signal, checkpointed: run the same command again
  Hang = 76,            // between workers and who watches them: no progress within the limit
  OutOfMemory = 77,     // a team of several ranks, or a cell alone in a process, does not fit
  BadConfig = 78        // the machine lacks what the file asks for
};

/// The exit code as a number.
constexpr int number_of(ExitCode code) {
  return static_cast<int>(code);
}

}  // namespace depthgrid
