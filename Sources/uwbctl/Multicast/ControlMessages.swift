// SPDX-License-Identifier: Apache-2.0

/// A request to a running `range`: one line of JSON over its socket.
struct ControlRequest: Codable, Equatable {
  enum Action: String, Codable { case list, add, remove }

  var action: Action
  /// Short addresses.
  var addresses: [UInt16] = []
}

/// The reply of a running `range`: one line of JSON.
struct ControlReply: Codable, Equatable {
  struct Outcome: Codable, Equatable {
    var address: UInt16
    /// The name of the status, and its number; 0 is success.
    var status: String
    var code: UInt8
  }

  /// Which `range` this is.
  var pid: Int32
  var device: String
  var session: UInt32
  /// The present controlees.
  var controlees: [UInt16]
  /// The result for each requested address.
  var outcomes: [Outcome] = []
  /// Why nothing was changed, and what to try.
  var error: String?
  var suggestion: String?
}
