#include "sweeps/run/cell_account.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"

namespace depthgrid {
namespace cell_account_test {

using enum CellAnswer;

CellAccount account_of(CellAnswer answer) {
  CellAccount out{.id = "0123456789ab", .alias = "lr=1,s0", .step = 5, .steps = 20};
  out.answer = answer;
  return out;
}

CellAccount held(CellAnswer answer) {
  CellAccount out = account_of(answer);
  out.owner.emplace();
  out.owner->process.pid = 12;
  out.owner->process.host = "n1";
  out.owner->since = "2026-01-01T00:00:00Z";
  return out;
}

CellAccount queued(const char* state, const char* reason) {
  CellAccount out = account_of(Queued);
  out.task.emplace();
  out.task->job = "7_0";
  out.task->state = state;
  out.task->reason = reason;
  return out;
}

CellAccount failed() {
  CellAccount out = account_of(Failed);
  out.failure.emplace();
  out.failure->kept.report.kind = "crash";
  out.failure->kept.report.message = "it crashed";
  out.failure->kept.report.host = "n1";
  out.failure->kept.report.last_words = "one\ntwo\nthree\n";
  out.failure->kept.time = "2026-01-01T00:00:00Z";
  out.failure->kept.repeat = "depthgrid run x";
  out.failure->budget = "retry.crash";
  out.failure->allowed = 3;
  return out;
}

TEST(CellAccount, EveryAnswerHasASentence) {
  EXPECT_EQ(account_sentence(account_of(Done)), "it has a result");
  EXPECT_EQ(account_sentence(account_of(Diverged)),
            "it has diverged at step 5, which is its result");
  EXPECT_EQ(account_sentence(held(Running)),
            "process 12 on n1 since 2026-01-01T00:00:00Z trains it: step 5 of 20");
  EXPECT_NE(account_sentence(held(Silent)).find("resources.lease"), std::string::npos);
  EXPECT_EQ(account_sentence(queued("PENDING", "Priority")),
            "task 7_0 of Slurm has it: PENDING, Priority");
  EXPECT_EQ(account_sentence(queued("RUNNING", "None")),
            "task 7_0 of Slurm has it: RUNNING; other cells of the task come first");
  CellAccount waiting = account_of(Waiting);
  waiting.waits_for = {{"ab", "a,s0", Cancelled}};
  EXPECT_EQ(account_sentence(waiting), "it starts from a,s0, which is cancelled");
  EXPECT_EQ(account_sentence(failed()), "crash: it crashed");
  CellAccount cancelled = account_of(Cancelled);
  cancelled.cancel.emplace();
  EXPECT_EQ(account_sentence(cancelled), "it was cancelled");
  cancelled.cancel->user = "ada";
  cancelled.cancel->time = "2026-01-01T00:00:00Z";
  EXPECT_EQ(account_sentence(cancelled), "it was cancelled by ada, 2026-01-01T00:00:00Z");
  CellAccount pending = account_of(Pending);
  EXPECT_EQ(account_sentence(pending), "nobody trains it");
  pending.training = 1;
  EXPECT_EQ(account_sentence(pending),
            "no process has it yet; 1 cell of the store trains now, and its run may come to it");
  pending.training = 2;
  EXPECT_EQ(account_sentence(pending),
            "no process has it yet; 2 cells of the store train now, and their run may come to it");
}

TEST(CellAccount, TheTextSaysWhatAPersonDoesNext) {
  CellAccount account = failed();
  account.notes = {"a note"};
  account.worker_logs = {"st/logs/a.log"};
  account.launch_logs = {"st/launches/l/attempt-1.log"};
  account.commands = {"depthgrid retry x", "depthgrid submit y"};
  EXPECT_EQ(accounts_text({account, account_of(Done)}, {}, 2),
            "0123456789ab  lr=1,s0  failed\n"
            "  crash: it crashed\n"
            "  a note\n"
            "  failed    2026-01-01T00:00:00Z on n1\n"
            "  budget    retry.crash = 3\n"
            "  last said two\n"
            "            three\n"
            "  alone     depthgrid run x\n"
            "  logs      st/logs/a.log\n"
            "            st/launches/l/attempt-1.log\n"
            "  go on     depthgrid retry x\n"
            "            depthgrid submit y\n"
            "\n"
            "0123456789ab  lr=1,s0  done\n"
            "  it has a result\n");
}

TEST(CellAccount, TheJsonHasTheSameMembersForEveryAnswer) {
  CellAccount cancelled = account_of(Cancelled);
  cancelled.cancel.emplace();
  CellAccount waiting = account_of(Waiting);
  waiting.waits_for = {{"ab", "a,s0", Cancelled}};
  const std::vector<CellAccount> accounts = {
      account_of(Done), held(Running), failed(), cancelled, queued("PENDING", "Priority"), waiting};
  const auto json = parse_json(accounts_json(accounts, "st"));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["store"], "st");
  ASSERT_EQ(json["cells"].size(), accounts.size());
  for (const auto& cell : json["cells"]) {
    EXPECT_EQ(cell.size(), json["cells"][0].size()) << cell["answer"];
  }
  EXPECT_EQ(json["cells"][0]["answer"], "done");
  EXPECT_TRUE(json["cells"][0]["owner"].is_null());
  EXPECT_EQ(json["cells"][1]["owner"]["pid"], 12);
  EXPECT_EQ(json["cells"][2]["failure"]["class"], "crash");
  EXPECT_EQ(json["cells"][2]["failure"]["budget"], "retry.crash");
  EXPECT_EQ(json["cells"][2]["failure"]["allowed"], 3);
  EXPECT_EQ(json["cells"][2]["failure"]["last_words"], "one\ntwo\nthree\n");
  EXPECT_EQ(json["cells"][3]["cancelled"]["user"], "");
  EXPECT_EQ(json["cells"][4]["task"]["reason"], "Priority");
  EXPECT_EQ(json["cells"][5]["waits_for"][0]["answer"], "cancelled");
}

}  // namespace cell_account_test
}  // namespace depthgrid
