// SPDX-License-Identifier: Apache-2.0
package import JSON

extension Chips {
  /// The version of the interface. It increases with each change of meaning. Additions are
  /// `features`.
  package static let protocolVersion = 2

  /// The additions to the interface since version 1.
  package static let features = [
    "counters", "end", "events", "explain", "identity", "nulls", "one_way", "peers", "profile_text",
    "resume", "set_share", "watch",
  ]

  /// The counts of a session since its start.
  package struct Counters: Sendable, Hashable {
    /// The number of measurements with a value.
    package var measured = 0
    /// The number of measurements whose status is an error.
    package var failed = 0
    /// The number of missing measurements of peers in rounds.
    package var missing = 0

    package init() {}
  }

  /// The origin of a measurement.
  package struct Identity: Sendable, Hashable {
    package var run: String
    package var host: String
    /// The name by which the same chip is found after it was plugged in elsewhere.
    package var device: String?
    package var serial: String?
    package var model: String?
    /// The chip's own address in the session.
    package var address: String?

    package init(run: String, host: String, _ chip: Chip, address: String?) {
      (self.run, self.host, self.address) = (run, host, address)
      (device, serial, model) = (chip.device, chip.serial, chip.model)
    }
  }

  /// An event of the service.
  package struct Event: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
      case chipAdded = "chip_added"
      case chipOpened = "chip_opened"
      /// The chip was unplugged, or has failed.
      case chipLost = "chip_lost"
      case chipBack = "chip_back"
      case chipBorrowed = "chip_borrowed"
      case chipReturned = "chip_returned"
      case sessionStarted = "session_started"
      case sessionJoined = "session_joined"
      case sessionLeft = "session_left"
      case sessionEnded = "session_ended"
      case sessionFailed = "session_failed"
      /// The stream has begun.
      case watching
      case counters
    }

    package var kind: Kind
    /// The number of the event in its run.
    package var sequence = 0
    /// Microseconds of CLOCK_MONOTONIC.
    package var monotonic: UInt64 = 0
    /// Microseconds since 1970.
    package var utc: UInt64 = 0
    package var chip: String?
    package var sessionID: UInt32?
    package var user: User?
    package var reason: String?
    package var counters: Counters?

    package init(
      _ kind: Kind, chip: String? = nil, sessionID: UInt32? = nil, user: User? = nil,
      reason: String? = nil, counters: Counters? = nil
    ) {
      (self.kind, self.chip, self.sessionID) = (kind, chip, sessionID)
      (self.user, self.reason, self.counters) = (user, reason, counters)
    }
  }
}

extension Chips.Counters: ChipsValue {
  package init?(_ json: JSON) {
    guard let measured = json["measured"]?.integer else { return nil }
    self.init()
    self.measured = Int(measured)
    failed = Int(json["failed"]?.integer ?? 0)
    missing = Int(json["missing"]?.integer ?? 0)
  }

  package var json: JSON {
    [
      "measured": .integer(Int64(measured)), "failed": .integer(Int64(failed)),
      "missing": .integer(Int64(missing)),
    ]
  }
}

extension Chips.Identity {
  package var json: JSON {
    [
      "run": .string(run), "host": .string(host), "device": .init(device),
      "serial": .init(serial), "model": .init(model), "address": .init(address),
    ]
  }
}

extension Chips.Event {
  package var json: JSON {
    [
      "kind": .string(kind.rawValue), "sequence": .integer(Int64(sequence)),
      "monotonic_us": .integer(Int64(monotonic)), "utc_us": .integer(Int64(utc)),
      "chip": .init(chip), "session_id": sessionID.map { .integer(Int64($0)) } ?? .null,
      "user": user?.json ?? .null, "reason": .init(reason),
      "counters": counters?.json ?? .null,
    ]
  }
}
