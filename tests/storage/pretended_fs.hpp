#pragma once

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/real_fs.hpp"

namespace depthgrid {

/// The disk of this machine, with what a test wants of it: it counts the calls, lets the n-th of
/// them fail, and closes folders to the user. A call that fails does nothing, but that a failing
/// write leaves half of its bytes.
///
/// For one thread at a time.
class PretendedFs final : public Fs {
 public:
  struct Call {
    std::string name;
    std::filesystem::path path;
  };
  struct State {
    std::int64_t calls = 0;
    std::int64_t failing = 0;  // this call fails; 0: none
    int error = 0;             // with this errno
    Call failed;               // what it was; no name: none has failed
    std::function<void(const Call&)> before;
    std::map<std::filesystem::path, std::uint32_t> owners;  // of files, instead of their own
    std::filesystem::path closed;  // nothing below it can be reached, nor what is in it be listed
    std::uint32_t user = real_fs().user();
    std::optional<DiskSpace> space;  // of every folder, instead of its own
  };

  PretendedFs() : PretendedFs(real_fs(), std::make_shared<State>()) {}

  State& state() const { return *state_; }

  /// From here on the n-th call, 1 for the next, fails.
  void fail(std::int64_t n, int error) const {
    state_->failing = state_->calls + n;
    state_->error = error;
    state_->failed = {};
  }

  FileAccess access() const override { return disk_.access(); }
  const Fs& with(FileAccess access) const override {
    if (access == disk_.access()) return *this;
    if (!other_) other_.reset(new PretendedFs(disk_.with(access), state_));
    return *other_;
  }
  void set_umask() const override { disk_.set_umask(); }
  std::uint32_t user() const override { return state_->user; }

  Tried<std::unique_ptr<OpenFile>> open(const std::filesystem::path& file,
                                        OpenHow how) const override {
    if (const int error = begin("open", file); error != 0) return {nullptr, error};
    return file_of(disk_.open(file, how), file);
  }
  Tried<std::unique_ptr<OpenFolder>> open_folder(
      const std::filesystem::path& folder) const override {
    if (const int error = begin("open_folder", folder, folder); error != 0) return {nullptr, error};
    auto out = disk_.open_folder(folder);
    if (!out) return out;
    return {std::make_unique<Folder>(*this, std::move(out.value), folder), 0};
  }
  Tried<std::unique_ptr<OpenFile>> adopt(const std::filesystem::path& file) const override {
    if (const int error = begin("adopt", file); error != 0) return {nullptr, error};
    return file_of(disk_.adopt(file), file);
  }
  Tried<FileFacts> facts(const std::filesystem::path& file, Links links) const override {
    if (const int error = begin("facts", file); error != 0) return {{}, error};
    auto out = disk_.facts(file, links);
    if (const auto owner = state_->owners.find(file); owner != state_->owners.end()) {
      out.value.owner = owner->second;
    }
    return out;
  }
  Tried<std::vector<FolderEntry>> list(const std::filesystem::path& folder) const override {
    if (const int error = begin("list", folder, folder); error != 0) return {{}, error};
    return disk_.list(folder);
  }
  Tried<DiskSpace> space(const std::filesystem::path& folder) const override {
    if (const int error = begin("space", folder); error != 0) return {{}, error};
    if (state_->space) return {*state_->space, 0};
    return disk_.space(folder);
  }
  int may_make_in(const std::filesystem::path& folder) const override {
    const int error = begin("may_make_in", folder, folder);
    return error != 0 ? error : disk_.may_make_in(folder);
  }
  int make_folder(const std::filesystem::path& folder) const override {
    const int error = begin("make_folder", folder);
    return error != 0 ? error : disk_.make_folder(folder);
  }
  int rename(const std::filesystem::path& from, const std::filesystem::path& to) const override {
    const int error = begin("rename", to);
    return error != 0 ? error : disk_.rename(from, to);
  }
  int rename_to_new(const std::filesystem::path& from,
                    const std::filesystem::path& to) const override {
    const int error = begin("rename_to_new", to);
    return error != 0 ? error : disk_.rename_to_new(from, to);
  }
  int link(const std::filesystem::path& from, const std::filesystem::path& to) const override {
    const int error = begin("link", to);
    return error != 0 ? error : disk_.link(from, to);
  }
  int remove(const std::filesystem::path& file) const override {
    const int error = begin("remove", file);
    return error != 0 ? error : disk_.remove(file);
  }
  int set_mode(const std::filesystem::path& file, FileKind kind) const override {
    const int error = begin("set_mode", file);
    return error != 0 ? error : disk_.set_mode(file, kind);
  }

 private:
  class File final : public OpenFile {
   public:
    File(const PretendedFs& on, std::unique_ptr<OpenFile> file, std::filesystem::path path)
        : on_(on), file_(std::move(file)), path_(std::move(path)) {}
    Tried<std::size_t> write(std::span<const std::byte> bytes) override {
      if (const int error = on_.begin("write", path_); error != 0) {
        file_->write(bytes.first(bytes.size() / 2));
        return {0, error};
      }
      return file_->write(bytes);
    }
    Tried<std::size_t> write_at(std::span<const std::byte> bytes, std::uint64_t at) override {
      if (const int error = on_.begin("write_at", path_); error != 0) {
        file_->write_at(bytes.first(bytes.size() / 2), at);
        return {0, error};
      }
      return file_->write_at(bytes, at);
    }
    Tried<std::size_t> read_at(std::span<std::byte> buffer, std::uint64_t at) override {
      if (const int error = on_.begin("read_at", path_); error != 0) return {0, error};
      return file_->read_at(buffer, at);
    }
    int sync() override {
      const int error = on_.begin("sync", path_);
      return error != 0 ? error : file_->sync();
    }
    int sync_data() override {
      const int error = on_.begin("sync_data", path_);
      return error != 0 ? error : file_->sync_data();
    }
    Tried<FileFacts> facts() override {
      if (const int error = on_.begin("facts", path_); error != 0) return {{}, error};
      return file_->facts();
    }

   private:
    const PretendedFs& on_;
    std::unique_ptr<OpenFile> file_;
    std::filesystem::path path_;
  };

  class Folder final : public OpenFolder {
   public:
    Folder(const PretendedFs& on, std::unique_ptr<OpenFolder> folder, std::filesystem::path path)
        : on_(on), folder_(std::move(folder)), path_(std::move(path)) {}
    Tried<std::unique_ptr<OpenFile>> create(const std::string& name) override {
      if (const int error = on_.begin("create", path_ / name); error != 0) return {nullptr, error};
      return on_.file_of(folder_->create(name), path_ / name);
    }
    int rename(const std::string& from, const std::string& to) override {
      const int error = on_.begin("rename", path_ / to);
      return error != 0 ? error : folder_->rename(from, to);
    }
    int link(const std::string& from, const std::string& to) override {
      const int error = on_.begin("link", path_ / to);
      return error != 0 ? error : folder_->link(from, to);
    }
    int remove(const std::string& name) override {
      const int error = on_.begin("remove", path_ / name);
      return error != 0 ? error : folder_->remove(name);
    }
    Tried<FileFacts> facts(const std::string& name) override {
      if (const int error = on_.begin("facts", path_ / name); error != 0) return {{}, error};
      return folder_->facts(name);
    }
    int sync() override {
      const int error = on_.begin("sync_folder", path_);
      return error != 0 ? error : folder_->sync();
    }

   private:
    const PretendedFs& on_;
    std::unique_ptr<OpenFolder> folder_;
    std::filesystem::path path_;
  };

  PretendedFs(const Fs& disk, std::shared_ptr<State> state)
      : disk_(disk), state_(std::move(state)) {}

  Tried<std::unique_ptr<OpenFile>> file_of(Tried<std::unique_ptr<OpenFile>> file,
                                           const std::filesystem::path& path) const {
    if (!file) return file;
    return {std::make_unique<File>(*this, std::move(file.value), path), 0};
  }

  /// Counts a call. @param inside  the folder that it looks into. @return its errno, 0: go on.
  int begin(const char* name, const std::filesystem::path& path,
            const std::filesystem::path& inside = {}) const {
    State& now = *state_;
    ++now.calls;
    const Call call = {name, path};
    if (now.before) now.before(call);
    const std::filesystem::path below = inside.empty() ? path.parent_path() : inside;
    if (!now.closed.empty() && (below / "").string().starts_with((now.closed / "").string())) {
      return EACCES;
    }
    if (now.calls != now.failing) return 0;
    now.failed = call;
    return now.error;
  }

  const Fs& disk_;
  std::shared_ptr<State> state_;
  mutable std::unique_ptr<PretendedFs> other_;
};

/// Lets `work` meet the error at its first call, then at its second, and so on, until it is through
/// without meeting it. @param work  (disk): gets one of its own. @param check  (disk, work's
/// result)
template <class Work, class Check>
void fail_at_each_call(int error, Work work, Check check) {
  constexpr std::int64_t kMost = 10000;
  for (std::int64_t n = 1; n < kMost; ++n) {
    const PretendedFs disk;
    disk.fail(n, error);
    check(disk, work(disk));
    if (disk.state().failed.name.empty()) return;
  }
}

}  // namespace depthgrid
