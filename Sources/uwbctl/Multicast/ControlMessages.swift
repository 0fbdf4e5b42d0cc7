// SPDX-License-Identifier: Apache-2.0

/// What is asked of a running `range`: one line of JSON over its socket.
struct ControlRequest: Codable, Equatable {
  enum Action: String, Codable { case list, add, remove }

  var action: Action
  /// Short addresses.
  var addresses: [UInt16] = []
}

/// What a running `range` answers: one line of JSON.
struct ControlReply: Codable, Equatable {
  struct Outcome: Codable, Equatable {
    var address: UInt16
    /// The name of the status, and its number; 0 is done as asked.
    var status: String
    var code: UInt8
  }

  /// Which `range` this is.
  var pid: Int32
  var device: String
  var session: UInt32
  /// Whom it ranges with now.
  var controlees: [UInt16]
  /// What became of each address asked for.
  var outcomes: [Outcome] = []
  /// Why nothing was done, and what to try.
  var error: String?
  var suggestion: String?
}
