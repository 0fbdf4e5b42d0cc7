// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import Varlink

/// An event of a chip or of one of its sessions, for all connections.
enum ChipEvent {
  case measured(PublishedMeasurement)
  /// The chip has sent a packet about a session; with `begins`, the first packet of a message.
  case notified(SharedSession, packet: [UInt8], begins: Bool)
  /// A session has ended. The error is the last reply to the clients that monitor it.
  case ended(SharedSession, ServiceError)
  /// Other users may see a session.
  case shareChanged(SharedSession)
  /// The chip no longer answers. Clients that speak UCI with it are disconnected.
  case unusable(SharedChip)
}

/// Receives the events of chips.
@ServiceActor protocol ChipObserver: AnyObject {
  var listeners: Listeners { get }
  var history: EventHistory { get }
  func handle(_ event: ChipEvent)
  /// Records an event for the clients that watch.
  func record(_ event: Chips.Event)
}

/// The forms of measurements that clients monitor. Other forms are not encoded.
struct Listeners {
  /// Whether a client monitors measurements with the members that are null.
  var wantNulls = false
  /// Whether a client monitors measurements without the members that are null.
  var wantNone = false
  var isEmpty: Bool { !wantNulls && !wantNone }
}

/// The users who may see a session.
enum Audience {
  case everyone
  /// One user, and root.
  case user(UInt32)

  func includes(_ user: PeerCredentials) -> Bool {
    switch self {
    case .everyone: true
    case .user(let uid): user.uid == uid || user.uid == 0
    }
  }
}
