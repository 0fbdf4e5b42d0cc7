// SPDX-License-Identifier: Apache-2.0

/// A received message.
package struct DBusMessage: Sendable {
  package enum Kind: Sendable, Hashable {
    case call
    case reply
    case error(name: String, text: String)
    case signal
  }
  package let kind: Kind
  /// The unique bus name of the sender, such as `:1.7`.
  package let sender: String
  package let path: String
  package let interface: String
  package let member: String
  package let body: [DBusValue]
}

/// The destination, path, interface and name of a method.
package struct DBusMethod: Sendable, Hashable {
  package let destination: String
  package let path: String
  package let interface: String
  package let member: String

  package init(_ destination: String, _ path: String, _ interface: String, _ member: String) {
    self.destination = destination
    self.path = path
    self.interface = interface
    self.member = member
  }

  /// Returns a method of the bus itself.
  package static func bus(_ member: String) -> Self {
    Self("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", member)
  }
}

/// A call from another program. It has one reply.
@BluetoothActor package final class DBusCall: Sendable {
  package let message: DBusMessage
  private var answer: (@BluetoothActor (Answer) -> Void)?

  package enum Answer: Sendable {
    case values([DBusValue])
    case error(name: String, text: String)
  }

  init(_ message: DBusMessage, _ answer: @escaping @BluetoothActor (Answer) -> Void) {
    self.message = message
    self.answer = answer
  }

  isolated deinit { fail("org.freedesktop.DBus.Error.Failed", "There was no reply.") }

  package func reply(_ values: [DBusValue] = []) { end(.values(values)) }

  package func fail(_ name: String, _ text: String = "") { end(.error(name: name, text: text)) }

  private func end(_ outcome: Answer) {
    let answer = answer.take()
    answer?(outcome)
  }
}

/// An interface of an object that this program exports.
@BluetoothActor package struct DBusInterface {
  let name: String
  let properties: @BluetoothActor () -> [(String, DBusValue)]
  let set: (@BluetoothActor (String, DBusValue) -> String?)?
  let call: @BluetoothActor (DBusCall) -> Void

  /// Creates an interface.
  ///
  /// - Parameters:
  ///   - properties: returns the current values.
  ///   - set: changes a property. It returns the name of an error if it cannot.
  ///   - call: answers a method call, at once or later.
  package init(
    _ name: String, properties: @escaping @BluetoothActor () -> [(String, DBusValue)] = { [] },
    set: (@BluetoothActor (String, DBusValue) -> String?)? = nil,
    call: @escaping @BluetoothActor (DBusCall) -> Void = { $0.failAsUnknown() }
  ) {
    self.name = name
    self.properties = properties
    self.set = set
    self.call = call
  }
}

extension DBusCall {
  package func failAsUnknown() {
    fail("org.freedesktop.DBus.Error.UnknownMethod", "There is no \(message.member).")
  }
}
