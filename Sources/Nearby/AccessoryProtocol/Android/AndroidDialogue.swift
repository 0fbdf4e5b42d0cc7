// SPDX-License-Identifier: Apache-2.0

/// The accessory's side of Android's out-of-band protocol with one phone, as a value.
///
/// The phone asks, chooses a session and stops it. Requests may be repeated, a configuration may
/// arrive without a request, and a second configuration replaces the session. Sources: AOSP's
/// packages/modules/Uwb (OobInitiatorProtocol, OobResponderRangingSession), and Google's Find Hub
/// Network Accessory Specification.
package struct AndroidDialogue: Sendable, Hashable {
  /// The next step of the accessory.
  package enum Step: Sendable, Hashable {
    /// Sends the capabilities.
    case answer(AndroidAccessoryMessage)
    /// Ends the session if there is one, begins this one, and sends `configured`.
    case start(AndroidChoice)
    /// Ends the session if there is one, and sends `configured`: nothing is to begin.
    case clear
    /// Ends the session if there is one, and sends `configured`, because of an error.
    case refuse(AccessoryError)
    /// Ends the session if there is one, and sends `stopped`.
    case stop
    /// Sends `stopped`, because the message concerns other technologies.
    case keep
    /// Does nothing.
    case ignore(AccessoryError)
  }

  /// The version of the last answer to a request; nil before a request.
  private(set) package var version: UInt8?
  /// Whether the phone asked for messages about motion.
  private(set) package var wantsMotion = false

  package init() {}

  /// The version of messages to the phone.
  private var ownVersion: UInt8 { version ?? 1 }

  /// Returns the next step after a message of the phone.
  ///
  /// - Parameter capability: the capabilities to offer.
  package mutating func step(
    after bytes: [UInt8], offering capability: AndroidCapability
  ) -> Step {
    let message: AndroidPhoneMessage
    do throws(AccessoryError) {
      message = try AndroidPhoneMessage(bytes)
      if let version, message.version > version, bytes[1] != 0x00 {
        throw AccessoryError(.unsupportedVersion(message.version))
      }
    } catch {
      return bytes.count > 1 && bytes[1] == 0x02 ? .refuse(error) : .ignore(error)
    }
    switch message.content {
    case .capabilityRequest(let set):
      version = min(message.version, AndroidProtocol.newest)
      return .answer(
        AndroidAccessoryMessage(
          .capabilityResponse(set.contains(.uwb) ? capability : nil, .unknown),
          version: ownVersion))
    case .configuration(let uwb, let wantsMotion):
      version = version ?? message.version
      self.wantsMotion = wantsMotion
      return uwb.map { .start($0) } ?? .clear
    case .stop(let set): return set.contains(.uwb) ? .stop : .keep
    }
  }

  /// Returns the answer to a configuration.
  package func configured(_ isStarted: Bool) -> AndroidAccessoryMessage {
    AndroidAccessoryMessage(.configurationResponse(isStarted ? .uwb : []), version: ownVersion)
  }

  /// Returns the answer to a stop.
  package func stopped(_ hasStopped: Bool) -> AndroidAccessoryMessage {
    AndroidAccessoryMessage(.stopResponse(hasStopped ? .uwb : []), version: ownVersion)
  }
}
