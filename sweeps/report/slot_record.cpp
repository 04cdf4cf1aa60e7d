#include "sweeps/report/slot_record.hpp"

#include <string_view>

#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "storage/files/loose_text.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

fs::path slots_folder(const fs::path& store) {
  return store / "supervisors";
}

}  // namespace

void keep_slots(const fs::path& store, const SlotRecord& record, const Fs& disk) {
  make_folders(slots_folder(store), disk);
  const nlohmann::ordered_json json = {{"schema", 1},
                                       {"cards", record.cards},
                                       {"slot_seconds", record.seconds},
                                       {"busy_seconds", record.busy},
                                       {"wall_seconds", record.wall}};
  const std::string text = json_text(json) + "\n";
  publish_replace(slots_folder(store) / (record.name + ".json"), std::string_view(text), disk);
}

SlotSums slot_sums(const fs::path& store, const Fs& disk) {
  SlotSums out;
  for (const fs::path& file : disk.entries(slots_folder(store))) {
    if (file.extension() != ".json") continue;
    const auto json = parse_json_or_discard(loose_text(file, 0, disk));
    if (!json.is_object()) continue;
    const auto number = [&](const char* name) {
      const auto at = json.find(name);
      return at != json.end() && at->is_number() ? at->get<double>() : 0.0;
    };
    out.seconds += number("slot_seconds");
    out.busy += number("busy_seconds");
    out.wall += number("wall_seconds");
    out.cards = out.cards || json.value("cards", nlohmann::json()) == true;
  }
  return out;
}

}  // namespace depthgrid
