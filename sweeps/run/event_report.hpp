#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "storage/store.hpp"
#include "sweeps/launch/sweep_events.hpp"
#include "sweeps/report/listing.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {

/// From what an event is known.
enum class EventSource : std::uint8_t {
  Recorded,       // as an event
  LaunchRecord,   // launches/ID/attempt-N.json
  Submission,     // submissions/ID/
  FailureReport,  // of a cell
  NodeFault       // nodes/NAME.json
};

struct KnownEvent {
  SweepEvent event;
  EventSource source = EventSource::Recorded;
};

/// What has happened to a sweep, in order.
struct EventReport {
  std::vector<KnownEvent> events;
  bool recorded = false;     // the store has events of its own
  std::int64_t skipped = 0;  // lines that are none, or of a later release
};

/// The events of a store. What its launch records, submissions, nodes at fault and the failure
/// reports of its cells hold beyond them is added, with the times of these files: all of it in a
/// store of an earlier release, and what a run without a supervisor has left.
/// @param cells  of the store.
EventReport known_events(const Store& store, const Listing& cells);

/// What an event says, in a line for people. @param cells  for the aliases of its cells.
std::string event_text(const SweepEvent& event, const Listing& cells);

/// Its members, with the time as UTC.
nlohmann::ordered_json event_json(const SweepEvent& event);

/// A table for people, and a word on what is not known. @param store  as the user named it.
std::string events_text(const EventReport& report, const Listing& cells, Colour colour);

/// {"schema": 1, "store", "recorded", "skipped", "events": [{"time", "kind", "known_from", …}]};
/// docs/cli.md.
std::string events_json(const EventReport& report, const std::string& store);

}  // namespace depthgrid
