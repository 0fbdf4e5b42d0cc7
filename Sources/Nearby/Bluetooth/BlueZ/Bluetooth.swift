// SPDX-License-Identifier: Apache-2.0

/// A client of bluetoothd, with its adapters and devices, and the registrations of this program.
///
/// Registrations are renewed after bluetoothd or an adapter was lost.
///
/// ```swift
/// let bluetooth = try await Bluetooth.open()
/// let adapter = try await bluetooth.adapter(for: .peripheral)
/// let server = GATTServer([service])
/// server.handle = { event in … }
/// try await bluetooth.publish(server, on: adapter)
/// try await bluetooth.advertise(Advertisement(services: [service.uuid]), on: adapter)
/// ```
///
/// Registrations end with `close()` or with the program.
@BluetoothActor package final class Bluetooth {
  /// An event outside of a call. Later versions may add more.
  package enum Event: Sendable {
    /// bluetoothd or the bus was lost, and with it all connections. Bonds remain.
    case daemonLost
    case daemonReturned
    case adapterAdded(BluetoothAdapter)
    case adapterRemoved(BluetoothAdapter)
    /// The adapter was switched on or off.
    case adapterChanged(BluetoothAdapter)
    /// The device appeared, or one of its properties changed.
    case deviceChanged(BluetoothDevice)
    case deviceRemoved(BluetoothDevice)
    /// A lost registration was renewed.
    case registered(Registration)
    /// A registration could not be renewed. It is tried again after a pause.
    case registrationFailed(Registration, BluetoothError)
  }

  /// A registration of this program with bluetoothd.
  package struct Registration: Sendable, Hashable, CustomStringConvertible {
    package enum Kind: String, Sendable { case services, advertisement, agent }
    package let kind: Kind
    let number: Int
    package var description: String { kind.rawValue }
  }

  let connection: DBusConnection
  private var mirror = ObjectMirror()
  var objects: BlueZObjects { mirror.objects }
  /// The unique bus name of bluetoothd; nil while it is not running.
  private var owner: String?
  var isRunning: Bool { owner != nil }
  private var isConnecting = false
  private var isClosed = false
  var registrations = Registrations()
  private var lastNumber = 0
  private var watchers: [Int: @BluetoothActor (Change) -> Void] = [:]
  private var subscribers: [Int: AsyncStream<Event>.Continuation] = [:]
  /// A handler that is called with each event before the next D-Bus message is processed.
  ///
  /// It preserves the order of events. Two streams of `events()` are not ordered relative to each
  /// other.
  package var handle: @BluetoothActor (Event) -> Void = { _ in }
  /// The services that each scan looks for, by adapter path and scan number.
  var scans: [String: [Int: Set<BluetoothUUID>]] = [:]
  /// The number of pending connections by adapter path. Scans on these adapters are paused.
  var pausedDiscovery: [String: Int] = [:]
  /// Sockets for writes without response, by the characteristic's path.
  var writers: [String: (socket: PacketSocket, messageLimit: Int)] = [:]
  /// Closures that end the notifications received over sockets.
  var readers: [Int: @BluetoothActor () -> Void] = [:]
  /// The pause before a registration or the bus is tried again.
  let pause: Duration

  /// A change to `objects`.
  enum Change {
    /// An interface changed. The properties are empty if it was added or removed.
    case object(path: String, interface: String, [String: DBusValue])
    /// All objects may have changed.
    case all
  }

  // MARK: opening

  /// Connects to bluetoothd.
  ///
  /// - Parameters:
  ///   - bus: the D-Bus address of the bus; nil for the system bus.
  ///   - pause: the time to wait before a registration or the bus is tried again.
  ///   - libraries: the file names of sd-bus to try; nil for the usual ones.
  /// - Throws: `BluetoothError` if the library, the bus, bluetoothd or a permission is missing.
  package static func open(
    bus: String? = nil, pause: Duration = .seconds(1), libraries: [String]? = nil
  ) async throws(BluetoothError) -> Bluetooth {
    if let failure = EventThread.shared.failure { throw failure }
    let bluetooth = Bluetooth(try DBusConnection(to: bus, libraries: libraries), pause)
    do throws(BluetoothError) {
      try await bluetooth.connect()
    } catch {
      bluetooth.close()
      throw error
    }
    return bluetooth
  }

  private init(_ connection: DBusConnection, _ pause: Duration) {
    self.connection = connection
    self.pause = pause
    connection.received = { [weak self] in self?.process($0) }
    connection.ended = { [weak self] in self?.busEnded() }
    connection.admits = { [weak self] in $0 == self?.owner }
  }

  private func connect() async throws(BluetoothError) {
    isConnecting = true
    defer { isConnecting = false }
    try connection.open()
    try await connection.match(
      "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='org.bluez'")
    try await connection.match("type='signal',sender='org.bluez'")
    owner = try await ownerOfBlueZ()
    try await load()
  }

  /// Returns the unique bus name of bluetoothd, and starts it if the bus can.
  private func ownerOfBlueZ() async throws(BluetoothError) -> String {
    let method = DBusMethod.bus("GetNameOwner")
    var names = try? await connection.call(method, [.string("org.bluez")])
    if names == nil {
      do throws(BluetoothError) {
        _ = try await connection.call(
          .bus("StartServiceByName"), [.string("org.bluez"), .uint32(0)])
        names = try await connection.call(method, [.string("org.bluez")])
      } catch {
        // The error of the bus differs between service managers, so `noDaemon` takes its place.
        throw connection.isOpen ? BluetoothError(.noDaemon) : error
      }
    }
    guard let name = names?.first?.string else {
      throw BluetoothError(.invalidReply("the owner of org.bluez"))
    }
    return name
  }

  /// Closes the connection to the bus. This ends all registrations, and the connections to devices
  /// that no other program uses.
  package func close() {
    guard !isClosed else { return }
    isClosed = true
    closeSockets()
    connection.close()
    registrations.removeAll()
    process(mirror.removeAll())
    for subscriber in subscribers.values { subscriber.finish() }
    subscribers = [:]
  }

  isolated deinit { close() }

  private func closeSockets() {
    for writer in writers.values { writer.socket.close() }
    writers = [:]
    for end in readers.values { end() }
  }

  /// Closes the sockets of notifications, and waits until bluetoothd has noticed.
  ///
  /// BlueZ 5.66 to 5.85 uses freed memory if these sockets close after the program has disconnected
  /// from the bus (bluez/bluez#1781).
  package func endNotifications() async {
    closeSockets()
    let ping = DBusMethod("org.bluez", "/", "org.freedesktop.DBus.Peer", "Ping")
    _ = try? await connection.call(ping, within: .seconds(1))
  }

  /// Returns a stream of the events from now on.
  ///
  /// Any number of streams may exist. A slow consumer loses the oldest events beyond 1024.
  package func events() -> AsyncStream<Event> {
    let (stream, continuation) = AsyncStream<Event>.makeStream(
      bufferingPolicy: .bufferingNewest(1_024))
    guard !isClosed else {
      continuation.finish()
      return stream
    }
    let number = next()
    subscribers[number] = continuation
    continuation.onTermination = { [weak self] _ in
      Task { @BluetoothActor [weak self] in self?.subscribers[number] = nil }
    }
    return stream
  }

  func next() -> Int {
    lastNumber += 1
    return lastNumber
  }

  func report(_ event: Event) {
    handle(event)
    for subscriber in subscribers.values { subscriber.yield(event) }
  }

  // MARK: bluetoothd's objects

  /// Reads all objects.
  private func load() async throws(BluetoothError) {
    let outcome: Result<Void, BluetoothError> = await withCheckedContinuation { continuation in
      // Handle the reply at once, because the signals after it change the objects that it lists.
      connection.call(
        DBusMethod("org.bluez", "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
      ) { [weak self] in
        continuation.resume(returning: $0.flatMap { self?.replaceObjects($0) ?? .success(()) })
      }
    }
    try outcome.get()
  }

  private func replaceObjects(_ values: [DBusValue]) -> Result<Void, BluetoothError> {
    Result { () throws(BluetoothError) in process(try mirror.replace(by: values)) }
  }

  private func process(_ signal: DBusMessage) {
    let body = signal.body
    if signal.sender == "org.freedesktop.DBus", signal.member == "NameOwnerChanged" {
      guard body.first?.string == "org.bluez", let new = body.last?.string else { return }
      return ownerChanged(new)
    }
    if signal.sender == owner { process(mirror.apply(signal)) }
  }

  private func process(_ effects: [ObjectMirror.Effect]) {
    for effect in effects {
      switch effect {
      case .event(let event):
        if case .adapterRemoved(let adapter) = event {
          registrations.lose(on: adapter.address)
          scans[adapter.path] = nil
        }
        report(event)
      case .change(let change): changed(change)
      }
    }
  }

  private func changed(_ change: Change) {
    for watcher in watchers.values { watcher(change) }
    renewLost()
  }

  /// Calls `changed` for each change, until `unwatch`.
  func watch(_ changed: @escaping @BluetoothActor (Change) -> Void) -> Int {
    let number = next()
    watchers[number] = changed
    return number
  }

  func unwatch(_ number: Int) { watchers[number] = nil }

  /// Waits until `condition` returns a value or throws. It is evaluated at once and after each
  /// change.
  ///
  /// - Parameter what: the name of the operation, for the error.
  package func wait<Value: Sendable>(
    _ what: String, within limit: Duration = .seconds(25),
    until condition:
      @escaping @BluetoothActor (Bluetooth) throws(BluetoothError) -> Value?
  ) async throws(BluetoothError) -> Value {
    if let value = try condition(self) { return value }
    let waiter = Waiter<Value>()
    let number = watch { [unowned self] _ in
      do throws(BluetoothError) {
        if let value = try condition(self) { waiter.end(.success(value)) }
      } catch {
        waiter.end(.failure(error))
      }
    }
    defer { unwatch(number) }
    let timer = Task { @BluetoothActor in
      try await Task.sleep(for: limit)
      waiter.end(.failure(BluetoothError(.timeout(what, limit))))
    }
    defer { timer.cancel() }
    return try await withTaskCancellationHandler {
      await withCheckedContinuation { waiter.start($0) }
    } onCancel: {
      Task { @BluetoothActor in waiter.end(.failure(BluetoothError(.cancelled))) }
    }.get()
  }

  @BluetoothActor private final class Waiter<Value: Sendable> {
    private var outcome: Result<Value, BluetoothError>?
    private var continuation: CheckedContinuation<Result<Value, BluetoothError>, Never>?

    func start(_ continuation: CheckedContinuation<Result<Value, BluetoothError>, Never>) {
      if let outcome {
        continuation.resume(returning: outcome)
      } else {
        self.continuation = continuation
      }
    }

    func end(_ outcome: Result<Value, BluetoothError>) {
      guard self.outcome == nil else { return }
      self.outcome = outcome
      continuation.take()?.resume(returning: outcome)
    }
  }

  // MARK: loss and return of bluetoothd and the bus

  private func ownerChanged(_ new: String) {
    guard !isClosed else { return }
    if owner != nil, new != owner { lost() }
    guard !new.isEmpty, owner == nil else { return }
    owner = new
    guard !isConnecting else { return }
    Task { @BluetoothActor [weak self] in
      do throws(BluetoothError) {
        try await self?.load()
        self?.report(.daemonReturned)
        self?.renewLost()
      } catch {
        // bluetoothd was lost again, which is reported separately.
      }
    }
  }

  private func lost() {
    owner = nil
    connection.abandonCalls(to: "org.bluez", BluetoothError(.noDaemon))
    registrations.lose()
    scans = [:]
    process(mirror.removeAll())
    report(.daemonLost)
  }

  private func busEnded() {
    guard !isClosed else { return }
    if owner != nil { lost() }
    Task { @BluetoothActor [weak self, pause] in
      try await Task.sleep(for: pause)
      guard let self, !self.isClosed, !self.connection.isOpen else { return }
      do throws(BluetoothError) {
        try await self.connect()
        self.report(.daemonReturned)
        self.renewLost()
      } catch {
        // If the bus is open, bluetoothd is missing; the bus signals when it starts.
        if !self.connection.isOpen { self.busEnded() }
      }
    }
  }
}
