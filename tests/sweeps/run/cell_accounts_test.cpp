#include "sweeps/run/cell_accounts.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/base/machine.hpp"
#include "tests/core/config/sweep_files.hpp"
#include "tests/storage/pretended_fs.hpp"
#include "tests/sweeps/run/pretended_store.hpp"

namespace depthgrid::testing {
namespace cell_accounts_test {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class CellAccountsOf : public PretendedStore {
 protected:
  std::string run() const { return "depthgrid run " + root() + "/sweep.yaml"; }
  std::string submit() const { return "depthgrid submit " + root() + "/sweep.yaml"; }
  std::string retry(std::size_t row) const { return "depthgrid retry " + id(row) + " " + root(); }
  void record(SweepEvent event) { EventLog(store_.root()).add(std::move(event)); }
};

bool notes(const CellAccount& account, const std::string& part) {
  return std::ranges::any_of(account.notes,
                             [&](const std::string& note) { return note.find(part) != note.npos; });
}

TEST_F(CellAccountsOf, WhatNobodyTrainsIsTrainedByACommand) {
  EXPECT_EQ(account(0).answer, CellAnswer::Pending);
  EXPECT_EQ(account_sentence(account(0)), "nobody trains it");
  EXPECT_EQ(account(0).commands, Words{run()});
  submitted();
  EXPECT_EQ(account(0).commands, Words{submit()});
  const auto other = leases_.try_acquire(store_.cell_dir(id(1)));
  EXPECT_EQ(account(0).answer, CellAnswer::Pending);
  EXPECT_EQ(account(0).training, 1) << "whose run may come to it";
}

TEST_F(CellAccountsOf, WhatHasAResultNeedsNothing) {
  finish_cell(store_, stored_plan(sweep_), 0, 5);
  finish_cell(store_, stored_plan(sweep_), 1, 5, CellStatus::Diverged);
  EXPECT_EQ(account(0).answer, CellAnswer::Done);
  EXPECT_EQ(account(1).answer, CellAnswer::Diverged);
  EXPECT_TRUE(account(0).commands.empty());
  EXPECT_TRUE(account(1).commands.empty());
  EXPECT_FALSE(account(0).failure);
}

TEST_F(CellAccountsOf, ADamagedResultIsToldWithTheCommandThatMendsIt) {
  finish_cell(store_, stored_plan(sweep_), 0, 5);
  fs::resize_file(store_.cell_path(id(0)) / "result.h5", 700);
  const CellAccount found = account(0);
  EXPECT_TRUE(notes(found, "result.h5"));
  EXPECT_EQ(found.commands, Words{run()});
}

TEST_F(CellAccountsOf, AProcessThatHasItIsNamed) {
  const auto lease = leases_.try_acquire(store_.cell_dir(id(0)));
  const CellAccount found = account(0);
  EXPECT_EQ(found.answer, CellAnswer::Running);
  ASSERT_TRUE(found.owner);
  EXPECT_EQ(found.owner->process.pid, getpid());
  EXPECT_EQ(found.owner->process.host, host_name());
  EXPECT_TRUE(found.owner->since.ends_with('Z')) << found.owner->since;
  EXPECT_EQ(found.commands, Words{"depthgrid logs " + id(0) + " " + root() + " -f"});
  EXPECT_TRUE(owned_elsewhere(store_, {id(0), id(1)}).empty());
  LeaseKeeper others;
  cancel_cell(store_, id(0), others);
  EXPECT_TRUE(notes(account(0), "has asked that it stop"));
}

TEST_F(CellAccountsOf, AnOwnerOnAnotherMachineMayBeSilentAndOneOfThisDead) {
  ProcessIdentity owner = this_process();
  owner.start_time = 1;  // another process had this number
  claim(0, owner);
  EXPECT_EQ(account(0).answer, CellAnswer::Pending);
  EXPECT_TRUE(notes(account(0), "has died"));
  owner.host = "elsewhere";
  owner.boot_id = "another";
  claim(1, owner);
  EXPECT_EQ(account(1).answer, CellAnswer::Running);
  EXPECT_EQ(owned_elsewhere(store_, {id(0), id(1)}), std::vector<CellId>{id(1)});
  const CellAccount silent = account(1, {}, {id(1)});
  EXPECT_EQ(silent.answer, CellAnswer::Silent);
  EXPECT_EQ(silent.commands, Words{run()});
}

TEST_F(CellAccountsOf, ATaskOfSlurmIsNamedWithItsReason) {
  submitted();
  const auto queued = [&](const std::string& state, const std::string& reason) {
    return account(0, {task({id(0)}, state, reason)});
  };
  EXPECT_EQ(queued("PENDING", "Priority").answer, CellAnswer::Queued);
  EXPECT_EQ(queued("PENDING", "Priority").task->reason, "Priority");
  EXPECT_TRUE(queued("PENDING", "Priority").commands.empty()) << "it waits its turn";
  EXPECT_EQ(queued("PENDING", "DependencyNeverSatisfied").commands,
            (Words{"scancel 7_0", submit()}));
  EXPECT_EQ(queued("PENDING", "JobHeldUser").commands, Words{"scontrol release 7_0"});
  EXPECT_EQ(queued("RUNNING", "None").answer, CellAnswer::Queued);
  EXPECT_EQ(account(1, {task({id(0)}, "PENDING", "Priority")}).answer, CellAnswer::Pending);
  // What has failed and was submitted again waits; what a task that runs has given up has failed.
  fail(0, R"({"class": "crash", "message": "it crashed"})");
  EXPECT_EQ(queued("PENDING", "Priority").answer, CellAnswer::Queued);
  EXPECT_TRUE(queued("PENDING", "Priority").failure);
  EXPECT_EQ(queued("RUNNING", "None").answer, CellAnswer::Failed);
}

TEST_F(CellAccountsOf, AFailureIsToldWithItsBudgetAndWhatComesNext) {
  fail(0, R"({"class": "crash", "message": "it crashed", "job": "l", "host": "n1",)"
          R"( "last_words": "a\nb", "repeat": "depthgrid run x", "plan": 1})");
  CellAccount found = account(0);
  EXPECT_EQ(found.answer, CellAnswer::Failed);
  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->kept.report.kind, "crash");
  EXPECT_EQ(found.failure->kept.report.message, "it crashed");
  EXPECT_EQ(found.failure->kept.report.host, "n1");
  EXPECT_EQ(found.failure->kept.report.last_words, "a\nb");
  EXPECT_EQ(found.failure->kept.repeat, "depthgrid run x");
  EXPECT_EQ(found.failure->budget, "retry.crash");
  EXPECT_EQ(found.failure->allowed, sweep_.cells[0].config.integer("retry.crash"));
  EXPECT_TRUE(found.failure->again);
  EXPECT_EQ(found.commands, Words{run()}) << "a run tries it again by itself";
  submitted();
  EXPECT_EQ(account(0).commands, (Words{retry(0), submit()})) << "submit does not";
  record({.kind = SweepEventKind::CellsGivenUp,
          .launch = "l",
          .cells = {id(0)},
          .allowed = 41,
          .budget = "retry.hang"});
  EXPECT_EQ(account(0).failure->allowed, 41) << "as it was when it was used up";
  EXPECT_EQ(account(0).failure->budget, "retry.hang");
  retry_cell(store_, id(0), leases_);
  EXPECT_EQ(account(0).answer, CellAnswer::Pending);
  EXPECT_TRUE(account(0).failure) << "why it failed before";
}

TEST_F(CellAccountsOf, AFaultOfANodeIsTriedAgainElsewhereUntilTheNodeIsReadmitted) {
  submitted();
  fail(0, R"({"class": "infrastructure", "message": "Xid 79", "host": "n1"})");
  EXPECT_EQ(account(0).commands, Words{submit()});
  record_node_fault(store_.root(), {.node = "n1", .cause = "device", .why = "Xid 79"});
  EXPECT_EQ(account(0).commands, (Words{"depthgrid retry --node n1 " + root(), submit()}));
  readmit_node(store_.root(), "n1");
  EXPECT_EQ(account(0).commands, Words{submit()});
  fail(1, R"({"class": "source", "message": "starts from x"})");
  EXPECT_EQ(account(1).failure->budget, "") << "no budget is its";
}

TEST_F(CellAccountsOf, ACancelledCellSaysByWhom) {
  cancel_cell(store_, id(0), leases_);
  CellAccount found = account(0);
  EXPECT_EQ(found.answer, CellAnswer::Cancelled);
  EXPECT_TRUE(found.cancel->time.ends_with('Z')) << found.cancel->time;
  EXPECT_EQ(found.cancel->user, "") << "nobody has recorded that";
  EXPECT_FALSE(found.failure);
  EXPECT_EQ(found.commands, (Words{retry(0), run()}));
  record({.kind = SweepEventKind::CellsCancelled, .cells = {id(1), id(0)}, .user = "ada"});
  EXPECT_EQ(account(0).cancel->user, "ada");
}

TEST_F(CellAccountsOf, LogsOfWorkersLaunchesAndTasksAreThoseThatAreThere) {
  submitted();
  const auto make = [&](const std::string& name) { scratch_.write("store/" + name, "text\n"); };
  make("logs/a.log");
  make("launches/l/attempt-1.log");
  make("launches/l/attempt-2.log");
  make("launches/other/attempt-1.log");
  make("submissions/5b/logs/7_0.out");
  launched("l", LaunchEnd::Crash);
  launched("gone", LaunchEnd::Crash);
  record({.kind = SweepEventKind::LaunchBegan, .launch = "l", .attempt = 2, .cells = {id(0)}});
  JournalHeader header;
  header.generation = 1;
  header.kinds = synthetic_kinds();
  header.attempt_json =
      R"({"host": "n1", "device": "cpu", "start": 0, "logs": ["a.log", "gone.log"]})";
  Journal(store_.cell_dir(id(0)) / generation_name("journal", 1), header);
  const CellAccount found = account(0);
  EXPECT_EQ(found.worker_logs, std::vector<fs::path>{store_.root() / "logs/a.log"});
  EXPECT_EQ(found.launch_logs, (std::vector<fs::path>{store_.root() / "launches/l/attempt-1.log",
                                                      store_.root() / "launches/l/attempt-2.log"}));
  EXPECT_EQ(found.task_logs, std::vector<fs::path>{store_.root() / "submissions/5b/logs/7_0.out"});
  EXPECT_TRUE(account(1).launch_logs.empty());
}

TEST_F(CellAccountsOf, TheLastEventsAreThoseOfTheCellAndOfItsLaunches) {
  record({.kind = SweepEventKind::SupervisorBegan, .slots = 1});
  record({.kind = SweepEventKind::LaunchBegan, .launch = "l", .attempt = 1, .cells = {id(0)}});
  record({.kind = SweepEventKind::LaunchEnded, .launch = "l", .attempt = 1, .cells = {id(0)}});
  record({.kind = SweepEventKind::LaunchAgain, .launch = "l"});
  record({.kind = SweepEventKind::LaunchBegan, .launch = "m", .attempt = 1, .cells = {id(1)}});
  record({.kind = SweepEventKind::LaunchAgain, .launch = "m"});
  const std::vector<SweepEvent> events = account(0).events;
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events.back().kind, SweepEventKind::LaunchAgain);
  EXPECT_EQ(events.back().launch, "l");
}

struct KeptFiles {
  SweepFiles files;
};

class AccountsOfChains : protected KeptFiles, public PretendedStore {
 protected:
  AccountsOfChains() : PretendedStore(files.load(kPhases)) {}
  std::size_t row(const char* alias) const {
    return static_cast<std::size_t>(&cell_named(sweep_, alias) - sweep_.cells.data());
  }
};

TEST_F(AccountsOfChains, ACellThatStartsFromAnotherWaitsForIt) {
  CellAccount found = account(row("b,s0"));
  EXPECT_EQ(found.answer, CellAnswer::Waiting);
  ASSERT_EQ(found.waits_for.size(), 1U);
  EXPECT_EQ(found.waits_for[0].alias, "a,s0");
  EXPECT_EQ(found.waits_for[0].answer, CellAnswer::Pending);
  EXPECT_EQ(found.commands, account(row("a,s0")).commands);
  cancel_cell(store_, id(row("a,s0")), leases_);
  found = account(row("b,s0"));
  EXPECT_EQ(found.waits_for[0].answer, CellAnswer::Cancelled);
  EXPECT_EQ(found.commands.front(), "depthgrid retry " + id(row("a,s0")) + " " + root());
  EXPECT_EQ(account(row("b,s1")).waits_for[0].answer, CellAnswer::Pending);
  finish_cell(store_, stored_plan(sweep_), row("a,s1"), 5);
  EXPECT_EQ(account(row("b,s1")).answer, CellAnswer::Pending) << "it may begin";
  EXPECT_EQ(account(row("c,s0")).answer, CellAnswer::Pending);
}

TEST_F(AccountsOfChains, LogsOfTheCellThatOneStartsFromAreNotLookedFor) {
  JournalHeader header;
  header.generation = 1;
  header.kinds = synthetic_kinds();
  const fs::path journal = store_.cell_dir(id(row("a,s0"))) / generation_name("journal", 1);
  Journal(journal, header);
  const PretendedFs disk;
  const Store watched = Store::open(store_.root(), disk);
  const Listing cells = listing();
  const StoredPlan plan = read_plan(store_);
  const CellAccounts accounts(watched, {.cells = cells, .plan = plan});
  bool opened = false;
  disk.state().before = [&](const PretendedFs::Call& call) { opened |= call.path == journal; };
  EXPECT_EQ(accounts.of(row("b,s0")).waits_for.at(0).alias, "a,s0");
  EXPECT_FALSE(opened);
  accounts.of(row("a,s0"));
  EXPECT_TRUE(opened);
}

}  // namespace cell_accounts_test
}  // namespace depthgrid::testing
