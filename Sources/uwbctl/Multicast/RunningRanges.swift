// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage

/// The running `range` commands of this user.
struct RunningRanges {
  struct Entry {
    var path: String
    var about: ControlReply
  }

  private(set) var entries: [Entry] = []

  /// Queries each socket, and removes those of programs that have ended.
  init(folder: String = ControlSocket.folder) {
    for path in ControlSocket.paths(in: folder) {
      do throws(Errno) {
        let connection = try ControlSocket.connect(to: path)
        defer { try? connection.close() }
        let reply = try? Self.exchange(ControlRequest(action: .list), connection)
        if let reply { entries.append(Entry(path: path, about: reply)) }
      } catch {
        if error == .connectionRefused { unlink(path) }
      }
    }
  }

  /// The entries that match what is not nil.
  func matching(device: String?, session: UInt32?, pid: Int32?) -> [Entry] {
    entries.filter { entry in
      (session == nil || entry.about.session == session) && (pid == nil || entry.about.pid == pid)
        && (device == nil || Self.isSame(device ?? "", entry.about.device))
    }
  }

  /// Compares devices by what their paths link to.
  private static func isSame(_ a: String, _ b: String) -> Bool {
    func real(_ path: String) -> String {
      guard let resolved = realpath(path, nil) else { return path }
      defer { free(resolved) }
      return String(cString: resolved)
    }
    return a == b || real(a) == real(b)
  }

  static func ask(_ request: ControlRequest, at path: String) throws -> ControlReply {
    let connection = try ControlSocket.connect(to: path)
    defer { try? connection.close() }
    return try exchange(request, connection)
  }

  private static func exchange(
    _ request: ControlRequest, _ connection: FileDescriptor
  ) throws -> ControlReply {
    try ControlSocket.send(request, over: connection)
    return try ControlSocket.receive(ControlReply.self, over: connection)
  }
}
