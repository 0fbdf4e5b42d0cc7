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

/// An open connection of sd-bus. It is used only on the thread of `BluetoothActor`.
@safe @BluetoothActor private final class OpenBus: EventSource {
  enum Event {
    case reply(UInt64, DBusMessage)
    /// A reply that cannot be parsed.
    case invalid(UInt64)
    case signal(DBusMessage)
    case call(DBusCall)
    case ended(errno: Int32)
  }

  /// The messages received by `sd_bus_process`, which must not be called from its own callbacks.
  private final class Inbox {
    var messages: [HeldMessage] = []
    let library: SystemdBus
    init(_ library: SystemdBus) { self.library = library }
  }

  /// A reference to a message. It is used only on the thread of `BluetoothActor`.
  @safe private struct HeldMessage: @unchecked Sendable { let pointer: SystemdBus.Message }

  private let library: SystemdBus
  private let bus: SystemdBus.Bus
  private let inbox: Inbox
  private var isClosed = false
  /// The number of received calls without a reply.
  private var unanswered = 0
  private static let limit = 256
  var handle: @BluetoothActor (Event) -> Void = { _ in }

  init(_ library: SystemdBus, _ address: String) throws(BluetoothError) {
    var made: SystemdBus.Bus?
    guard unsafe library.new(&made) >= 0, let bus = unsafe made else {
      throw BluetoothError(bus: address, ENOMEM, isOpen: false)
    }
    self.library = library
    unsafe self.bus = bus
    inbox = Inbox(library)
    let context = unsafe Unmanaged.passUnretained(inbox).toOpaque()
    do throws(BusFailure) {
      unsafe try BusFailure.check(library.setAddress(bus, address))
      unsafe try BusFailure.check(library.setBusClient(bus, 1))
      unsafe try BusFailure.check(library.addFilter(bus, nil, Self.arrived, context))
      unsafe try BusFailure.check(library.start(bus))
    } catch {
      _ = unsafe library.unreference(bus)
      isClosed = true
      throw BluetoothError(bus: address, error.errno, isOpen: false)
    }
  }

  isolated deinit { close() }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    for message in inbox.messages { _ = unsafe library.unreferenceMessage(message.pointer) }
    inbox.messages = []
    unsafe library.close(bus)
    _ = unsafe library.unreference(bus)
  }

  /// A handler that stores a received message or reply. It is called by `process`.
  private nonisolated static let arrived: SystemdBus.Handler = { message, context, _ in
    guard let message = unsafe message, let context = unsafe context else { return 0 }
    let inbox = unsafe Unmanaged<Inbox>.fromOpaque(context).takeUnretainedValue()
    // sd-bus replies to Ping itself.
    if let interface = unsafe inbox.library.interface(message),
      unsafe strcmp(interface, "org.freedesktop.DBus.Peer") == 0
    {
      return 0
    }
    if let message = unsafe inbox.library.reference(message) {
      unsafe inbox.messages.append(HeldMessage(pointer: message))
    }
    return 1
  }

  // MARK: the thread

  func prepare() -> (descriptor: Int32, events: Int16, deadline: UInt64?)? {
    guard !isClosed else { return nil }
    let descriptor = unsafe library.descriptor(bus)
    let events = unsafe library.events(bus)
    guard descriptor >= 0, events >= 0 else { return (-1, 0, 0) }
    var deadline = UInt64.max
    guard unsafe library.timeout(bus, &deadline) >= 0 else { return (-1, 0, 0) }
    // sd-bus counts microseconds.
    let nanoseconds = deadline == .max ? nil : min(deadline, .max / 1_000) * 1_000
    return (descriptor, Int16(truncatingIfNeeded: events), nanoseconds)
  }

  func ready(_ events: Int16) {
    while !isClosed {
      let result = unsafe library.process(bus, nil)
      // sd-bus creates error replies to pending calls when it loses the bus.
      let isOpen = unsafe library.isOpen(bus) > 0
      guard result >= 0, isOpen else { return handle(.ended(errno: max(0, -result))) }
      let messages = inbox.messages
      inbox.messages = []
      for message in messages {
        if !isClosed { unsafe process(message.pointer) }
        _ = unsafe library.unreferenceMessage(message.pointer)
      }
      guard !isClosed else { return }
      if result == 0 { return }
    }
  }

  private func process(_ message: SystemdBus.Message) {
    var type: UInt8 = 0
    _ = unsafe library.type(message, &type)
    var cookie: UInt64 = 0
    // The cookie of the call that this message replies to.
    _ = unsafe library.replyCookie(message, &cookie)
    let read = unsafe self.read(message, type)
    switch (type, read) {
    case (1, .success(let call)):
      guard unsafe library.expectsReply(message) > 0 else {
        return handle(.call(DBusCall(call) { _ in }))
      }
      guard unanswered < Self.limit, let original = unsafe library.reference(message) else {
        return unsafe answer(
          message,
          .error(name: "org.freedesktop.DBus.Error.LimitsExceeded", text: "Too many calls."))
      }
      unanswered += 1
      let pointer = unsafe HeldMessage(pointer: original)
      handle(
        .call(
          DBusCall(call) { [weak self, library] answer in
            if let self, !self.isClosed {
              self.unanswered -= 1
              unsafe self.answer(pointer.pointer, answer)
            }
            _ = unsafe library.unreferenceMessage(pointer.pointer)
          }))
    case (1, .failure):
      unsafe answer(
        message,
        .error(name: "org.freedesktop.DBus.Error.InvalidArgs", text: "It cannot be parsed."))
    case (2, .success(let message)), (3, .success(let message)): handle(.reply(cookie, message))
    case (2, .failure), (3, .failure): handle(.invalid(cookie))
    case (4, .success(let message)): handle(.signal(message))
    default: break
    }
  }

  private func read(
    _ message: SystemdBus.Message, _ type: UInt8
  ) -> Result<DBusMessage, BusFailure> {
    func text(_ pointer: SystemdBus.Text?) -> String {
      unsafe pointer.map { unsafe String(cString: $0) } ?? ""
    }
    return Result { () throws(BusFailure) in
      let kind: DBusMessage.Kind
      switch type {
      case 1: kind = .call
      case 2: kind = .reply
      case 3:
        // struct sd_bus_error: two strings and a number.
        let error = unsafe library.error(message)
        let name = unsafe error?.load(as: SystemdBus.Text?.self)
        let words = unsafe error?.load(
          fromByteOffset: MemoryLayout<UnsafeRawPointer>.size, as: SystemdBus.Text?.self)
        kind = .error(name: unsafe text(name ?? nil), text: unsafe text(words ?? nil))
      default: kind = .signal
      }
      return DBusMessage(
        kind: kind, sender: unsafe text(library.sender(message)),
        path: unsafe text(library.path(message)),
        interface: unsafe text(library.interface(message)),
        member: unsafe text(library.member(message)),
        // An error has only its text.
        body: type == 3 ? [] : unsafe try library.values(in: message))
    }
  }

  // MARK: sending

  /// Sends the message that `make` creates, with `values` appended.
  private func send(
    _ values: [DBusValue], _ make: (SystemdBus.Made) -> Int32,
    _ send: (SystemdBus.Message) -> Int32
  ) throws(BusFailure) {
    var made: SystemdBus.Message?
    unsafe try BusFailure.check(make(&made))
    guard let message = unsafe made else { throw BusFailure(errno: ENOMEM) }
    defer { _ = unsafe library.unreferenceMessage(message) }
    for value in values { unsafe try library.write(value, to: message) }
    unsafe try BusFailure.check(send(message))
  }

  func call(
    _ method: DBusMethod, _ arguments: [DBusValue], within limit: Duration
  ) throws(BusFailure) -> UInt64 {
    let (seconds, attoseconds) = limit.components
    // sd-bus takes 0 as its default of 25 s.
    let time = max(
      1, UInt64(max(0, seconds)) * 1_000_000 + UInt64(max(0, attoseconds) / 1_000_000_000_000))
    let context = unsafe Unmanaged.passUnretained(inbox).toOpaque()
    var cookie: UInt64 = 0
    unsafe try send(
      arguments,
      {
        unsafe library.newCall(
          bus, $0, method.destination, method.path, method.interface, method.member)
      },
      { message in
        let result = unsafe library.callAsync(bus, nil, message, Self.arrived, context, time)
        return result < 0 ? result : unsafe library.cookie(message, &cookie)
      })
    return cookie
  }

  func emit(
    _ path: String, _ interface: String, _ member: String, _ body: [DBusValue]
  ) throws(BusFailure) {
    unsafe try send(
      body, { unsafe library.newSignal(bus, $0, path, interface, member) },
      { unsafe library.send(bus, $0, nil) })
  }

  private func answer(_ call: SystemdBus.Message, _ answer: DBusCall.Answer) {
    // Sending fails if the caller has disconnected.
    switch answer {
    case .values(let values):
      do throws(BusFailure) {
        unsafe try send(
          values, { unsafe library.newReturn(call, $0) }, { unsafe library.send(bus, $0, nil) })
      } catch {
        unsafe self.answer(
          call, .error(name: "org.freedesktop.DBus.Error.Failed", text: "The reply is invalid."))
      }
    case .error(let name, let text):
      unsafe name.withCString { name in
        unsafe text.withCString { text in
          // struct sd_bus_error: two strings and a number.
          let size = MemoryLayout<Int>.size
          let error = UnsafeMutableRawPointer.allocate(byteCount: 3 * size, alignment: size)
          defer { unsafe error.deallocate() }
          unsafe error.storeBytes(of: name, as: SystemdBus.Text.self)
          unsafe error.storeBytes(of: text, toByteOffset: size, as: SystemdBus.Text.self)
          unsafe error.storeBytes(of: 0, toByteOffset: 2 * size, as: Int.self)
          unsafe try? send(
            [], { unsafe library.newError(call, $0, error) },
            { unsafe library.send(bus, $0, nil) })
        }
      }
    }
  }
}
