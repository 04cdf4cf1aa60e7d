#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/base/cell.hpp"
#include "core/base/real_fs.hpp"
#include "storage/files/process_identity.hpp"

namespace depthgrid {

/// Why a cell ended other than completed.
struct StoredFailure {
  std::int64_t generation = 0;
  CellStatus status = CellStatus::Failed;
  std::string json;  // the report as given, an object
};

/// What stands in the place of a cell's result.
struct ResultState {
  enum class Kind : std::uint8_t {
    Absent,
    Sound,       // sealed, whole and this cell's
    Damaged,     // can never be read, or does not count
    Unreachable  // not readable now: permissions, an I/O error
  };
  Kind kind = Kind::Absent;
  std::string problem;  // of Damaged and Unreachable, with the file's name
};

class ResultChecks;

/// The folder of one sweep's results: STORE.json, sweep.yaml, plan.h5 (plan-2.h5, ...),
/// cells/ab/<id>/, corpora/, texts/, logs/, sweep.h5. Any number of processes may use one store at
/// the same time.
class Store {
 public:
  /// Whether the folder is a store, by its STORE.json; nothing is read.
  /// @throws StorageError (CantCreate) if that cannot be known.
  static bool is_at(const std::filesystem::path& root, const Fs& disk = real_fs());

  /// Creates the folder and STORE.json if absent, after testing what its filesystem can do. For who
  /// is about to plan a sweep there: a damaged STORE.json or plan is quarantined, to be written
  /// anew. A store of an earlier format becomes one of this, see upgrade(). Sets the process's
  /// umask as the store's access asks, which STORE.json says.
  /// @param wanted  Group: a new store is shared with its group, one of the owner becomes so.
  /// @param disk    outlives the store and its copies.
  /// @throws StorageError (CantCreate) naming the missing capability or the unsafe permission;
  ///         BadData if STORE.json is of a later format.
  static Store open_or_create(const std::filesystem::path& root,
                              FileAccess wanted = FileAccess::Owner, const Fs& disk = real_fs());

  /// Sets the umask as well where the store is shared.
  /// @throws StorageError: CantCreate if it is closed to this user, NoInput if there is none,
  /// BadData if STORE.json is damaged or of a
  ///         later format.
  static Store open(const std::filesystem::path& root, const Fs& disk = real_fs());

  /// By which what lies in a store is kept by who knows its folder only: with the access that
  /// STORE.json says, the owner's if that says nothing.
  static const Fs& fs_at(const std::filesystem::path& root, const Fs& disk = real_fs());

  /// Before anything is written that a release of an earlier format cannot read: from then on such
  /// a release refuses the store with a sentence. Does nothing to a store of this format.
  /// @throws StorageError (CantCreate).
  void upgrade() const;

  const std::filesystem::path& root() const { return root_; }
  /// By which all files of the store are read and made, with the store's access.
  const Fs& fs() const { return *disk_; }

  /// plan.h5, plan-2.h5, plan-3.h5, ...: see plan_sequence.hpp.
  std::filesystem::path plan_file(std::int64_t generation = 1) const;
  /// The sweep file of the newest plan.
  std::filesystem::path sweep_yaml() const { return root_ / "sweep.yaml"; }
  /// sweep-1.yaml, sweep-2.yaml, ...: of a plan that is no longer the newest.
  std::filesystem::path sweep_yaml(std::int64_t generation) const;
  /// Log lines of the workers, one file per process.
  std::filesystem::path log_dir() const { return root_ / "logs"; }
  /// Left by a worker that a fault of its own has ended; see worker/process/crash_mark.hpp.
  std::filesystem::path crash_mark(const ProcessIdentity& process) const;
  /// Folders in which the ranks of running `run`s report their progress.
  std::filesystem::path live_dir() const { return root_ / "live"; }
  /// What users have asked of running cells: sweeps/queue/cell_requests.hpp.
  std::filesystem::path requests_dir() const { return root_ / "orders"; }
  /// The request to stop a cell, there or not. @throws UserError (Usage) as cell_dir().
  std::filesystem::path stop_request(const CellId& id) const {
    return requests_dir() / ("stop-" + cell_path(id).filename().string());
  }
  std::filesystem::path packed_file() const { return root_ / "sweep.h5"; }

  /// cells/ab/<id>, created on demand. @throws UserError (Usage) unless the id is 12 hex digits.
  std::filesystem::path cell_dir(const CellId& id) const;
  /// The same path; nothing is created.
  std::filesystem::path cell_path(const CellId& id) const;

  /// True if result.h5 is there, whole and this cell's: the only sign that a cell is done. It is
  /// read once by a store object and its copies, and again when it has changed.
  bool completed(const CellId& id) const;
  /// What stands in the place of the result, and why it cannot be used.
  ResultState result(const CellId& id) const;
  /// For this object and its copies the cell has no result. @param why  as ResultState::problem.
  void disregard_result(const CellId& id, std::string why) const;

  /// failed-<generation>.json. @param status  Failed, Oom or Cancelled. @param json  an object.
  void publish_failure(const CellId& id, std::int64_t generation, CellStatus status,
                       const std::string& json) const;
  /// The report of the newest failed generation; nothing if none failed. Of a damaged report only
  /// that it is damaged.
  std::optional<StoredFailure> newest_failure(const CellId& id) const;

  /// Remembers the SHA-256 (64 hex digits) of a corpus's raw files at first use.
  /// @param bytes  the digest by which release 0.1 would have pinned the same files, where that is
  ///               another one; empty = the same.
  /// @throws UserError (BadData) with both digests if the store remembers a different one.
  void pin_corpus(const std::string& name, const std::string& sha256,
                  const std::string& bytes = {}) const;
  /// Rules by which the texts of a pinned corpus became tokens (kTextRules); those of now if none
  /// is pinned.
  int pinned_text_rules(const std::string& name) const;
  /// The pinned corpora whose texts became tokens by the rules of an earlier release, with the
  /// number of these.
  std::map<std::string, int> older_text_rules() const;
  /// Why pin_corpus() would refuse this digest; empty if it would not. Changes nothing.
  std::string corpus_refusal(const std::string& name, const std::string& sha256,
                             const std::string& bytes = {}) const;
  std::optional<std::string> pinned_corpus(const std::string& name) const;

  /// Keeps `text` under `name` for good unless one is already kept. @return  the kept text.
  std::string freeze_text(const std::string& name, const std::string& text) const;
  std::optional<std::string> read_text(const std::string& name) const;

 private:
  Store(std::filesystem::path root, const Fs& disk);

  std::filesystem::path root_;
  const Fs* disk_;
  std::shared_ptr<ResultChecks> checks_;
};

}  // namespace depthgrid
