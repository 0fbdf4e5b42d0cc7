// SPDX-License-Identifier: Apache-2.0
import Formats
import JSON
import UCI
import UWB
import Varlink

/// An error reply of the varlink interface.
struct Refusal: Error {
  static let interface = "org.swift-uwb.Chips"

  /// The encoded reply.
  let bytes: [UInt8]
  /// The corresponding status in UCI.
  let status: Status

  /// The reason in one line, for logs.
  var text: String {
    guard let reply = try? VarlinkReply(bytes.dropLast()) else { return "" }
    let name = reply.error?.split(separator: ".").last.map(String.init) ?? ""
    let differences = (reply.parameters["differences"]?.array ?? []).compactMap {
      $0.object?["parameter"]?.string
    }
    return reply.parameters["reason"]?.string
      ?? "\(name): \(differences.joined(separator: ", "))"
  }

  init(_ name: String, _ parameters: JSONLine, status: Status = .rejected) {
    self.status = status
    bytes = VarlinkReply.bytes(parameters.json, error: "\(Self.interface).\(name)")
  }

  private init(_ reply: VarlinkReply, status: Status) {
    (bytes, self.status) = (reply.bytes, status)
  }

  static func invalidParameter(_ name: String) -> Refusal {
    Refusal(VarlinkReply.invalidParameter(name), status: .invalidParameter)
  }

  static func invalidMessage(_ reason: VarlinkMessageError) -> Refusal {
    Refusal("InvalidMessage", ["reason": "\(reason)"])
  }

  static func denied(_ reason: String, _ advice: String) -> Refusal {
    Refusal("Denied", ["reason": reason, "advice": advice])
  }

  static func busy(
    _ chip: String, _ reason: String, _ advice: String, _ borrower: SharedChip.Borrower?,
    _ owners: [PeerCredentials]
  ) -> Refusal {
    Refusal(
      "Busy",
      [
        "chip": chip, "reason": reason, "advice": advice, "borrower": borrower?.json,
        "owners": owners.map(\.json),
      ])
  }

  static func noChip(_ reason: String, _ advice: String) -> Refusal {
    Refusal("NoChip", ["reason": reason, "advice": advice])
  }

  static func noSession(_ reason: String, _ advice: String) -> Refusal {
    Refusal("NoSession", ["reason": reason, "advice": advice])
  }

  /// Returns an error about a chip.
  ///
  /// - Parameter name: The name of an error with these parameters.
  static func chip(
    _ name: String, _ chip: String, _ reason: String, _ advice: String?, status: Status = .failed
  ) -> Refusal {
    Refusal(name, ["chip": chip, "reason": reason, "advice": advice], status: status)
  }

  /// Returns `Refused` for an error of a session, or `ChipUnavailable` for an error of the whole
  /// chip.
  static func chip(_ chip: String, _ error: any Error) -> Refusal {
    let driver = error as? DriverError
    return .chip(
      driver?.concernsChip == true ? "ChipUnavailable" : "Refused", chip, "\(error)",
      driver?.recoverySuggestion, status: driver?.status ?? .failed)
  }

  static func sessionEnded(
    _ chip: String, _ sessionID: UInt32, _ reason: String, _ advice: String?
  ) -> Refusal {
    Refusal(
      "SessionEnded",
      ["chip": chip, "session_id": sessionID, "reason": reason, "advice": advice])
  }
}

extension DriverError {
  /// Whether the error concerns the whole chip rather than one request.
  var concernsChip: Bool {
    switch code {
    case .link, .firmware, .noAnswer, .retriesExhausted, .malformedAnswer, .deviceError,
      .needsReset, .deviceFailed, .deviceRestarted, .recovering, .otherDevice, .closed:
      true
    default: false
    }
  }
}
