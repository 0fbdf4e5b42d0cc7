// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A connection to a message bus. It can be opened again after its end, and keeps its exported
/// objects.
@BluetoothActor package final class DBusConnection {
  private let library: SystemdBus
  package let address: String

  private struct Pending {
    let destination: String
    let end: (Result<DBusMessage, BluetoothError>) -> Void
  }

  private var bus: OpenBus?
  private var pending: [UInt64: Pending] = [:]
  private var objects: [(path: String, interfaces: [DBusInterface])] = []

  /// A handler of each signal that matches a rule.
  package var received: @BluetoothActor (DBusMessage) -> Void = { _ in }
  /// A handler of the loss of the bus.
  package var ended: @BluetoothActor () -> Void = {}
  /// A function that returns whether the program with this unique bus name may call the objects.
  package var admits: @BluetoothActor (String) -> Bool = { _ in true }

  /// The address of the system bus.
  package nonisolated static var systemAddress: String {
    guard let text = unsafe getenv("DBUS_SYSTEM_BUS_ADDRESS") else {
      return "unix:path=/run/dbus/system_bus_socket"
    }
    return unsafe String(cString: text)
  }

  /// Creates a connection, which is closed until `open`.
  ///
  /// - Parameters:
  ///   - address: the D-Bus address of the bus; nil for the system bus.
  ///   - libraries: the file names of sd-bus to try; nil for the usual ones.
  package nonisolated init(
    to address: String? = nil, libraries: [String]? = nil
  ) throws(BluetoothError) {
    library = if let libraries { try SystemdBus(libraries) } else { try SystemdBus.shared.get() }
    self.address = address ?? Self.systemAddress
  }

  isolated deinit { close() }

  package var isOpen: Bool { bus != nil }

  /// Opens the connection. Messages sent before the bus has replied are queued.
  package func open() throws(BluetoothError) {
    guard bus == nil else { return }
    let bus = try OpenBus(library, address)
    bus.handle = { [weak self] in self?.process($0) }
    self.bus = bus
    EventSources.add(bus)
  }

  /// Closes the connection, which ends all registrations over it. Pending calls fail.
  package func close() { close(BluetoothError(.busLost)) }

  private func close(_ error: BluetoothError) {
    guard let bus else { return }
    self.bus = nil
    bus.close()
    EventSources.remove(bus)
    let waiting = pending
    pending = [:]
    for call in waiting.values { call.end(.failure(error)) }
  }

  // MARK: calls

  /// Calls a method.
  ///
  /// - Parameters:
  ///   - limit: the time to wait for the reply.
  ///   - answered: a closure that is called once, in the order of received messages.
  /// - Returns: a number for `cancel`; nil if nothing was sent.
  @discardableResult
  package func call(
    _ method: DBusMethod, _ arguments: [DBusValue] = [], within limit: Duration = .seconds(25),
    answered: @escaping @BluetoothActor (Result<[DBusValue], BluetoothError>) -> Void
  ) -> UInt64? {
    guard let bus else {
      answered(.failure(BluetoothError(.busLost)))
      return nil
    }
    do throws(BusFailure) {
      let cookie = try bus.call(method, arguments, within: limit)
      pending[cookie] = Pending(destination: method.destination) { result in
        answered(
          result.flatMap { message in
            guard case .error(let name, let text) = message.kind else {
              return .success(message.body)
            }
            return .failure(BluetoothError(method, name, text, limit))
          })
      }
      return cookie
    } catch {
      answered(.failure(BluetoothError(.unsendable(method.member, error.errno))))
      return nil
    }
  }

  /// Calls a method, and waits for the reply without blocking.
  ///
  /// - Throws: `BluetoothError`, with the reason `cancelled` if the task is cancelled.
  package func call(
    _ method: DBusMethod, _ arguments: [DBusValue] = [], within limit: Duration = .seconds(25)
  ) async throws(BluetoothError) -> [DBusValue] {
    let cookie = Cookie()
    return try await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        cookie.value = call(method, arguments, within: limit) {
          continuation.resume(returning: $0)
        }
      }
    } onCancel: {
      Task { @BluetoothActor in self.cancel(cookie.value) }
    }.get()
  }

  /// Stops waiting for a reply.
  private func cancel(_ cookie: UInt64?) {
    guard let cookie else { return }
    end(cookie, .failure(BluetoothError(.cancelled)))
  }

  private func end(_ cookie: UInt64, _ outcome: Result<DBusMessage, BluetoothError>) {
    pending.removeValue(forKey: cookie)?.end(outcome)
  }

  /// Fails the pending calls to a program that has disconnected from the bus.
  func abandonCalls(to destination: String, _ error: BluetoothError) {
    for (cookie, call) in pending where call.destination == destination {
      end(cookie, .failure(error))
    }
  }

  @BluetoothActor private final class Cookie {
    var value: UInt64?
    nonisolated init() {}
  }

  /// Adds a match rule for signals to receive. The sender in the rule may be a well-known name.
  package func match(_ rule: String) async throws(BluetoothError) {
    _ = try await call(.bus("AddMatch"), [.string(rule)])
  }

  /// Sends a signal. Does nothing if the connection is closed.
  package func emit(_ path: String, _ interface: String, _ member: String, _ body: [DBusValue]) {
    try? bus?.emit(path, interface, member, body)
  }

  // MARK: objects

  /// Exports an object. It lists the exported objects below its path, in the order of their export.
  package func export(_ path: String, _ interfaces: [DBusInterface] = []) {
    withdraw(path)
    objects.append((path, interfaces))
  }

  /// Removes an object and the objects below it.
  package func withdraw(_ path: String) {
    objects.removeAll { $0.path == path || $0.path.hasPrefix(path + "/") }
  }

  private func process(_ event: OpenBus.Event) {
    switch event {
    case .reply(let cookie, let message): end(cookie, .success(message))
    case .invalid(let cookie): end(cookie, .failure(BluetoothError(.invalidReply("its values"))))
    case .signal(let message): received(message)
    case .call(let call): serve(call)
    case .ended(let errno):
      close(BluetoothError(bus: address, errno, isOpen: true))
      ended()
    }
  }

  private func serve(_ call: DBusCall) {
    let message = call.message
    guard admits(message.sender) else {
      return call.fail("org.freedesktop.DBus.Error.AccessDenied", "This program may not call it.")
    }
    guard let object = objects.first(where: { $0.path == message.path }) else {
      return call.fail(
        "org.freedesktop.DBus.Error.UnknownObject", "There is no \(message.path).")
    }
    let interfaces = object.interfaces
    switch (message.interface, message.member) {
    case ("org.freedesktop.DBus.Properties", "GetAll"):
      let name = message.body.first?.string
      let properties = interfaces.first { $0.name == name }?.properties() ?? []
      call.reply([.properties(properties)])
    case ("org.freedesktop.DBus.Properties", "Get"):
      let names = message.body.compactMap(\.string)
      let properties = interfaces.first { $0.name == names.first }?.properties() ?? []
      guard names.count == 2, let property = properties.first(where: { $0.0 == names[1] }) else {
        return call.fail("org.freedesktop.DBus.Error.InvalidArgs", "There is no such property.")
      }
      call.reply([.variant(property.1)])
    case ("org.freedesktop.DBus.Properties", "Set"):
      let names = message.body.prefix(2).compactMap(\.string)
      let interface = interfaces.first { $0.name == names.first }
      guard message.body.count == 3, names.count == 2, let set = interface?.set else {
        return call.fail("org.freedesktop.DBus.Error.PropertyReadOnly", "It is read-only.")
      }
      if let error = set(names[1], message.body[2].content) {
        call.fail(error)
      } else {
        call.reply()
      }
    case ("org.freedesktop.DBus.ObjectManager", "GetManagedObjects"):
      call.reply([managed(below: message.path)])
    default:
      guard let interface = interfaces.first(where: { $0.name == message.interface }) else {
        return call.failAsUnknown()
      }
      interface.call(call)
    }
  }

  /// Returns the objects below a path, as `a{oa{sa{sv}}}`.
  private func managed(below root: String) -> DBusValue {
    let prefix = root == "/" ? "/" : root + "/"
    let entries = objects.filter { $0.path != root && $0.path.hasPrefix(prefix) }.map {
      DBusValue.Entry(.path($0.path), Self.described($0.interfaces))
    }
    return .dictionary(entries, of: "oa{sa{sv}}")
  }

  /// Returns interfaces with their properties, as `a{sa{sv}}`.
  package static func described(_ interfaces: [DBusInterface]) -> DBusValue {
    .dictionary(
      interfaces.map { DBusValue.Entry(.string($0.name), .properties($0.properties())) },
      of: "sa{sv}")
  }
}
