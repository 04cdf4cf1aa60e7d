#include "storage/files/journal.hpp"

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <random>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "storage/files/sealed_file.hpp"
#include "tests/storage/pretended_fs.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace journal_test {

using namespace std::chrono_literals;

JournalHeader header(std::int64_t generation = 3) {
  return {
      generation,
      100,
      {{"train", {{"train_loss", 1}, {"train_grad_norm_group", 3}}}, {"eval", {{"eval_loss", 2}}}},
      R"({"host": "n1"})"};
}

/// Five training rows, two evaluations, two events, an end.
std::vector<std::byte> sample(const std::filesystem::path& file) {
  Journal journal(file, header());
  for (int s = 1; s <= 5; ++s) {
    journal.append(0, 100 + s, std::vector<double>{1.0 / s, 1, NAN, s + 0.5});
    if (s % 2 == 0) journal.append(1, 100 + s, std::vector<double>{2.0 * s, -0.0});
  }
  journal.event(103, EventKind::Checkpoint, 1.5, "checkpoint of step 103");
  journal.event(104, EventKind::Warning, NAN, "");
  journal.end(AttemptOutcome::Preempted, 75);
  journal.sync();
  return read_file(file);
}

TEST(Journal, IsSyncedByAWriteFiveSecondsAfterTheLastSync) {
  TemporaryFolder folder;
  auto clock = std::chrono::steady_clock::now();
  std::int64_t syncs = 0;
  const PretendedFs disk;
  disk.state().before = [&](const PretendedFs::Call& call) { syncs += call.name == "sync_data"; };
  Journal journal(folder.path() / "journal-000001", header(1), {.now = [&] { return clock; }},
                  disk);
  syncs = 0;  // without that of the header
  const auto write_after = [&](std::chrono::milliseconds pause) {
    clock += pause;
    journal.event(1, EventKind::Warning, 0, "");
    return syncs;
  };

  EXPECT_EQ(write_after(4900ms), 0);
  EXPECT_EQ(write_after(100ms), 1);
  EXPECT_EQ(write_after(4900ms), 1);
  journal.sync();
  EXPECT_EQ(write_after(4900ms), 2) << "five seconds count from the newest sync";
  EXPECT_EQ(write_after(1h), 3);
}

TEST(Journal, NamesTheAxesOfItsRowsIfThereAreAny) {
  TemporaryFolder folder;
  JournalHeader named = header();
  named.axes = {
      {"depth_edge", 7, {}, {}}, {"class", 2, {"all", "rare"}, {}}, {"bin", 1, {}, {0.5}}};

  Journal(folder.path() / "a", named);
  Journal(folder.path() / "b", header());

  EXPECT_EQ(read_journal(folder.path() / "a").header.axes, named.axes);
  EXPECT_TRUE(read_journal(folder.path() / "b").header.axes.empty());
  const auto bytes = read_file(folder.path() / "b");
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_EQ(text.find("axes"), std::string::npos) << "as it was before there were any";
}

JournalContents read_bytes(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  overwrite(file, bytes);
  return read_journal(file);
}

bool is_prefix(std::span<const double> part, std::span<const double> whole) {
  return part.size() <= whole.size() &&
         (part.empty() || std::memcmp(part.data(), whole.data(), part.size_bytes()) == 0);
}

/// Every row and event that was read is one that was written, and none before it is missing.
void expect_prefix(const JournalContents& part, const JournalContents& whole) {
  ASSERT_LE(part.rows.size(), whole.rows.size());
  for (std::size_t k = 0; k < part.rows.size(); ++k) {
    EXPECT_TRUE(is_prefix(part.rows[k].values, whole.rows[k].values));
    EXPECT_TRUE(std::equal(part.rows[k].steps.begin(), part.rows[k].steps.end(),
                           whole.rows[k].steps.begin()));
  }
  ASSERT_LE(part.events.size(), whole.events.size());
  for (std::size_t i = 0; i < part.events.size(); ++i) {
    EXPECT_EQ(part.events[i].message, whole.events[i].message);
  }
}

TEST(Journal, GivesBackWhatWasAppended) {
  TemporaryFolder folder;
  const auto file = folder.path() / generation_name("journal", 3);
  sample(file);

  const JournalContents all = read_journal(file);

  EXPECT_FALSE(all.torn);
  EXPECT_EQ(all.header.generation, 3);
  EXPECT_EQ(all.header.first_step, 100);
  EXPECT_EQ(all.header.kinds, header().kinds);
  EXPECT_EQ(all.header.attempt_json, R"({"host": "n1"})");
  ASSERT_EQ(all.rows[0].size(), 5U);
  ASSERT_EQ(all.rows[1].size(), 2U);
  EXPECT_EQ(all.rows[0].steps[4], 105);
  EXPECT_EQ(all.rows[0].row(4)[0], 1.0 / 5);
  EXPECT_TRUE(std::isnan(all.rows[0].row(4)[2]));
  EXPECT_TRUE(std::signbit(all.rows[1].row(1)[1]));
  ASSERT_EQ(all.events.size(), 2U);
  EXPECT_EQ(all.events[0].step, 103);
  EXPECT_EQ(all.events[0].kind, EventKind::Checkpoint);
  EXPECT_EQ(all.events[0].value, 1.5);
  EXPECT_EQ(all.events[0].message, "checkpoint of step 103");
  EXPECT_NEAR(all.events[0].time, unix_time(), 60);
  ASSERT_TRUE(all.end.has_value());
  EXPECT_EQ(all.end->outcome, AttemptOutcome::Preempted);
  EXPECT_EQ(all.end->exit_code, 75);
}

TEST(Journal, EveryTruncationGivesAPrefix) {
  TemporaryFolder folder;
  const auto bytes = sample(folder.path() / "journal-000003");
  const auto whole = read_journal(folder.path() / "journal-000003");
  std::size_t complete = 0;

  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const auto part = read_bytes(folder.path() / "cut", std::span(bytes).first(n));
    expect_prefix(part, whole);
    complete += part.torn ? 0 : 1;  // cut exactly between two frames
    EXPECT_FALSE(part.end.has_value());
  }

  EXPECT_EQ(complete, 10U);  // behind the header and behind each of nine frames
}

TEST(Journal, EveryFlippedBitIsDetected) {
  TemporaryFolder folder;
  const auto bytes = sample(folder.path() / "journal-000003");
  const auto whole = read_journal(folder.path() / "journal-000003");

  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      auto damaged = bytes;
      damaged[i] ^= static_cast<std::byte>(1U << bit);
      const auto part = read_bytes(folder.path() / "bad", damaged);
      EXPECT_TRUE(part.torn) << "byte " << i << " bit " << bit;
      expect_prefix(part, whole);
    }
  }
}

TEST(Journal, DamageInTheMiddleShowsByTheWholeFramesBehind) {
  TemporaryFolder folder;
  const auto file = folder.path() / "journal-000003";
  const auto bytes = sample(file);
  EXPECT_EQ(read_journal(file).frames_behind, 0);

  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] ^= std::byte{4};
    const auto part = read_bytes(folder.path() / "bad", damaged);
    const std::size_t last_frame = 8 + 16 + 16;
    EXPECT_EQ(part.frames_behind > 0, i < bytes.size() - last_frame) << "byte " << i;
    EXPECT_EQ(read_bytes(folder.path() / "cut", std::span(bytes).first(i)).frames_behind, 0) << i;
  }
}

TEST(Journal, IsMarkedByTheBytesWrittenSoFar) {
  TemporaryFolder folder;
  const auto file = folder.path() / "journal-000003";
  Journal journal(file, header());
  journal.append(1, 101, std::vector<double>{1, 2});
  const JournalMark early = journal.mark();
  journal.append(1, 102, std::vector<double>{3, 4});

  EXPECT_EQ(early.generation, 3);
  EXPECT_EQ(journal.mark().bytes, std::filesystem::file_size(file));
  EXPECT_EQ(read_journal(file).mark.bytes, journal.mark().bytes);
  EXPECT_EQ(read_journal(file).mark.crc32c, journal.mark().crc32c);
  EXPECT_TRUE(begins_with(file, early));
  auto bytes = read_file(file);
  bytes[early.bytes - 1] ^= std::byte{1};
  overwrite(file, bytes);
  EXPECT_FALSE(begins_with(file, early));
  EXPECT_EQ(marks_from_json(marks_json({early, journal.mark()})),
            (std::vector<JournalMark>{early, journal.mark()}));
  EXPECT_EQ(marks_from_json("[[1]]"), std::nullopt);
}

TEST(Journal, ALongMessageIsCutBetweenTwoCharacters) {
  TemporaryFolder folder;
  const auto file = folder.path() / "journal-000003";
  std::string text = "x";
  for (int i = 0; i < 40000; ++i) text += "\u00e9";
  Journal(file, header()).event(1, EventKind::Warning, 0, text);

  const std::string kept = read_journal(file).events.at(0).message;
  EXPECT_EQ(kept.size(), 4095U);
  EXPECT_TRUE(text.starts_with(kept));
}

TEST(Journal, RandomDamageNeverThrowsAndNeverInventsRows) {
  TemporaryFolder folder;
  const auto bytes = sample(folder.path() / "journal-000003");
  const auto whole = read_journal(folder.path() / "journal-000003");
  std::mt19937 random(7);

  for (int round = 0; round < 2000; ++round) {
    auto damaged = bytes;
    const std::size_t at = random() % damaged.size();
    const std::size_t size = std::min<std::size_t>(1 + random() % 64, damaged.size() - at);
    for (std::size_t i = at; i < at + size; ++i) damaged[i] = static_cast<std::byte>(random());
    if (round % 4 == 0) damaged.resize(at);
    expect_prefix(read_bytes(folder.path() / "bad", damaged), whole);
  }
}

TEST(Journal, ADamagedHeaderGivesNothingAndSaysSo) {
  TemporaryFolder folder;

  const auto empty = read_bytes(folder.path() / "a", {});

  EXPECT_TRUE(empty.torn);
  EXPECT_TRUE(empty.rows.empty());
  EXPECT_THROW(read_journal(folder.path() / "absent"), StorageError);
}

TEST(Journal, HasOneWriterOnly) {
  TemporaryFolder folder;
  Journal first(folder.path() / "journal-000001", header(1));

  EXPECT_THROW(Journal(folder.path() / "journal-000001", header(1)), StorageError);
}

TEST(Journal, RefusesRowsOfAnotherWidthOrKind) {
  TemporaryFolder folder;
  Journal journal(folder.path() / "journal-000001", header(1));

  EXPECT_THROW(journal.append(0, 1, std::vector<double>{1}), Error);
  EXPECT_THROW(journal.append(2, 1, std::vector<double>{1}), Error);
}

TEST(Journal, TakesNothingMoreAfterATornFrame) {
  TemporaryFolder folder;
  const auto file = folder.path() / "journal-000001";
  const pid_t pid = fork();
  if (pid == 0) {
    signal(SIGXFSZ, SIG_IGN);
    Journal journal(file, header(1));
    const auto size = std::filesystem::file_size(file);
    const rlimit limit{size + 100, size + 4000};  // the second row breaks off in its middle
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::vector<double> row = {1, 2, 3, 4};
    int failures = 0;
    for (int s = 1; s <= 4; ++s) {
      if (s == 4) {
        const rlimit more{size + 4000, size + 4000};
        setrlimit(RLIMIT_FSIZE, &more);
      }
      try {
        journal.append(0, s, row);
      } catch (const StorageError& e) {  // each says what the first problem was
        failures += std::strstr(e.what(), "File too large (errno 27)") != nullptr ? 1 : 0;
      }
    }
    _exit(failures);
  }
  int status = 0;
  waitpid(pid, &status, 0);

  const auto left = read_journal(file);

  EXPECT_EQ(WEXITSTATUS(status), 3);  // rows 2, 3 and 4, although there was room for row 4
  EXPECT_EQ(left.rows[0].size(), 1U);
  EXPECT_TRUE(left.torn);
}

TEST(Journal, ARowIsInTheFileOnceAppended) {
  TemporaryFolder folder;
  Journal journal(folder.path() / "journal-000001",
                  {1, 0, {{"train", {{"train_grad_norm_group", 60}}}}, "{}"});
  std::uintmax_t size = std::filesystem::file_size(journal.file());
  for (int step = 1; step < 50; ++step) {
    journal.append(0, step, std::vector<double>(60, 0.25));
    size += 24 + 60 * sizeof(double);
    EXPECT_EQ(std::filesystem::file_size(journal.file()), size);
  }
}

TEST(Journal, NamesCarryTheGeneration) {
  EXPECT_EQ(generation_name("journal", 3), "journal-000003");
  EXPECT_EQ(generation_of("journal-000003", "journal"), 3);
  EXPECT_EQ(generation_of("journal-1000000", "journal"), 1000000);
  EXPECT_EQ(generation_of("journal-00003", "journal"), std::nullopt);
  EXPECT_EQ(generation_of("journal-00000x", "journal"), std::nullopt);
  EXPECT_EQ(generation_of("journal-000000", "journal"), std::nullopt);
  EXPECT_EQ(generation_of("gen-000003", "journal"), std::nullopt);
}

}  // namespace journal_test
}  // namespace depthgrid
