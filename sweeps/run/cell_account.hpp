#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/cell.hpp"
#include "storage/files/process_identity.hpp"
#include "sweeps/launch/sweep_events.hpp"
#include "sweeps/report/failure_report.hpp"
#include "sweeps/report/listing.hpp"
#include "sweeps/slurm/scheduler.hpp"

namespace depthgrid {

/// What keeps a cell from its result, or that nothing does.
enum class CellAnswer : std::uint8_t {
  Done,
  Diverged,   // which is a result
  Running,    // a process at work has it
  Silent,     // a process has it that gives no sign of life
  Queued,     // a task of Slurm has it
  Waiting,    // for a cell that it starts from
  Pending,    // nobody has it
  Failed,     //
  Cancelled,  // by a user
};

/// "done", "running", …
std::string_view name_of(CellAnswer answer) noexcept;

/// Why a cell is not done, and what to do about it. Gathered by CellAccounts.
struct CellAccount {
  CellId id;
  std::string alias;
  CellStatus status = CellStatus::Pending;
  std::int64_t step = 0, steps = 0;
  CellAnswer answer = CellAnswer::Pending;
  std::int64_t training = 0;  // cells of the store that train now

  /// The process that has it, of Running and Silent.
  struct Owner {
    ProcessIdentity process{};
    std::string since{};  // UTC
  };
  std::optional<Owner> owner{};

  std::optional<QueuedTask> task{};  // of Slurm, that has it

  /// Why it failed the last time, also of a cell that is tried again.
  struct Failure {
    KeptFailure kept{};
    std::string budget{};      // leaf whose retries are used up; empty: its class has none
    std::int64_t allowed = 0;  // by it
    bool again = false;        // it would fail again: `submit` leaves it out until `retry`
  };
  std::optional<Failure> failure{};

  /// The request of a user.
  struct Cancel {
    std::string time{};          // UTC
    std::string user{}, host{};  // empty: not recorded
  };
  std::optional<Cancel> cancel{};

  /// Of Waiting: the cell that it starts from, and so on, up to the one that decides.
  struct Source {
    CellId id{};
    std::string alias{};
    CellAnswer answer = CellAnswer::Pending;
  };
  std::vector<Source> waits_for{};

  std::vector<std::string> notes{};                  // sentences on what else is known
  std::vector<std::filesystem::path> worker_logs{};  // of those that attempted it
  std::vector<std::filesystem::path> launch_logs{}, task_logs{};
  std::vector<SweepEvent> events{};     // the last ones that concern it
  std::vector<std::string> commands{};  // that go on, one after the other
};

/// The answer in a sentence: "process 12 on n1 since … trains it: step 5 of 20".
std::string account_sentence(const CellAccount& account);

/// For people: a paragraph for each cell. @param lines  of what its launch said last.
/// @param cells  for the names in events.
std::string accounts_text(const std::vector<CellAccount>& accounts, const Listing& cells,
                          std::size_t lines);

/// {"schema": 1, "store", "cells": [{"id", "alias", "status", "answer", "why", …}]}; docs/cli.md.
/// @param store  as the user named it.
std::string accounts_json(const std::vector<CellAccount>& accounts, const std::string& store);

}  // namespace depthgrid
