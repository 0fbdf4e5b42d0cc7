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

  private struct Registered {
    let registration: Registration
    /// The adapter's address; nil for agents, which serve all adapters.
    let adapter: String?
    let path: String
    let register:
      @BluetoothActor (Bluetooth, BluetoothAdapter?) async throws(BluetoothError) -> Void
    let unregister: @BluetoothActor (BluetoothAdapter?) -> DBusMethod
    var isRegistered = false
  }

  let connection: DBusConnection
  private(set) var objects: BlueZObjects = [:]
  /// The unique bus name of bluetoothd; nil while it is not running.
  private var owner: String?
  private var isConnecting = false
  private var isClosed = false
  private var registered: [Registered] = []
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
  private var isReconciling = false
  private var mustReconcile = false
  /// The number of times that bluetoothd or an adapter was lost.
  private var losses = 0
  /// The pause before a registration or the bus is tried again.
  private let pause: Duration

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
    connection.received = { [weak self] in self?.take($0) }
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
        // The error depends on the service manager.
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
    registered = []
    forgetObjects()
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

  private func report(_ event: Event) {
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
    guard let entries = values.first?.entries else {
      return .failure(BluetoothError(.invalidReply("its objects")))
    }
    // Sort adapters before their devices.
    let all = entries.compactMap { entry in
      entry.key.path.flatMap { path in entry.value.entries.map { (path, $0) } }
    }.sorted { $0.0 < $1.0 }
    let names = Dictionary(
      all.map { ($0, Set($1.compactMap(\.key.string))) }, uniquingKeysWith: { $1 })
    // Objects that the reply lists as well stay, so that they are not reported as removed.
    for (path, interfaces) in objects {
      remove(path, interfaces.keys.filter { names[path]?.contains($0) != true })
    }
    for (path, interfaces) in all { add(path, interfaces) }
    changed(.all)
    return .success(())
  }

  private func add(_ path: String, _ interfaces: [DBusValue.Entry]) {
    for entry in interfaces {
      guard let name = entry.key.string, let properties = entry.value.properties else { continue }
      let before = objects[path]
      objects[path, default: [:]][name] = properties
      told(path, before)
    }
  }

  private func remove(_ path: String, _ interfaces: [String]) {
    for name in interfaces {
      guard let before = objects[path], before[name] != nil else { continue }
      objects[path]?[name] = nil
      if objects[path]?.isEmpty == true { objects[path] = nil }
      told(path, before)
      changed(.object(path: path, interface: name, [:]))
    }
  }

  private func forgetObjects() {
    for (path, interfaces) in objects { remove(path, Array(interfaces.keys)) }
  }

  /// Reports the difference between an object's former and current state.
  private func told(_ path: String, _ before: [String: [String: DBusValue]]?) {
    let now = objects[path]
    let adapters = (
      before.flatMap { BluetoothAdapter(path, $0) }, now.flatMap { BluetoothAdapter(path, $0) }
    )
    switch adapters {
    case (nil, let adapter?): report(.adapterAdded(adapter))
    case (let adapter?, nil):
      for index in registered.indices where registered[index].adapter == adapter.address {
        registered[index].isRegistered = false
      }
      losses += 1
      scans[path] = nil
      report(.adapterRemoved(adapter))
    case (let old?, let new?) where old.isPowered != new.isPowered: report(.adapterChanged(new))
    default: break
    }
    let devices = (
      before.flatMap { BluetoothDevice(path, $0) }, now.flatMap { BluetoothDevice(path, $0) }
    )
    switch devices {
    case (let old, let device?) where old != device: report(.deviceChanged(device))
    case (let device?, nil): report(.deviceRemoved(device))
    default: break
    }
  }

  private func take(_ message: DBusMessage) {
    let body = message.body
    if message.sender == "org.freedesktop.DBus", message.member == "NameOwnerChanged" {
      guard body.first?.string == "org.bluez", let new = body.last?.string else { return }
      return ownerChanged(new)
    }
    guard message.sender == owner else { return }
    switch (message.interface, message.member) {
    case ("org.freedesktop.DBus.ObjectManager", "InterfacesAdded"):
      guard body.count == 2, let path = body[0].path, let interfaces = body[1].entries else {
        return
      }
      add(path, interfaces)
      for name in interfaces.compactMap(\.key.string) {
        changed(.object(path: path, interface: name, [:]))
      }
    case ("org.freedesktop.DBus.ObjectManager", "InterfacesRemoved"):
      guard body.count == 2, let path = body[0].path, let names = body[1].strings else { return }
      remove(path, names)
    case ("org.freedesktop.DBus.Properties", "PropertiesChanged"):
      guard body.count == 3, let name = body[0].string, let properties = body[1].properties,
        let invalid = body[2].strings, let before = objects[message.path], before[name] != nil
      else { return }
      objects[message.path]?[name]?.merge(properties) { $1 }
      for property in invalid { objects[message.path]?[name]?[property] = nil }
      told(message.path, before)
      changed(.object(path: message.path, interface: name, properties))
    default: break
    }
  }

  private func changed(_ change: Change) {
    for watcher in watchers.values { watcher(change) }
    reconcile()
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
        self?.reconcile()
      } catch {
        // bluetoothd was lost again, which is reported separately.
      }
    }
  }

  private func lost() {
    owner = nil
    connection.abandonCalls(to: "org.bluez", BluetoothError(.noDaemon))
    for index in registered.indices { registered[index].isRegistered = false }
    losses += 1
    scans = [:]
    forgetObjects()
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
        self.reconcile()
      } catch {
        // If the bus is open, bluetoothd is missing; the bus signals when it starts.
        if !self.connection.isOpen { self.busEnded() }
      }
    }
  }

  // MARK: registrations

  /// Registers an object now, and again after each loss.
  func register(
    _ kind: Registration.Kind, _ path: String, on adapter: BluetoothAdapter?,
    _ register:
      @escaping @BluetoothActor (Bluetooth, BluetoothAdapter?) async throws(BluetoothError) -> Void,
    unregister: @escaping @BluetoothActor (BluetoothAdapter?) -> DBusMethod
  ) async throws(BluetoothError) -> Registration {
    let registration = Registration(kind: kind, number: next())
    let losses = losses
    try await register(self, adapter)
    registered.append(
      Registered(
        registration: registration, adapter: adapter?.address, path: path, register: register,
        unregister: unregister, isRegistered: losses == self.losses))
    reconcile()
    return registration
  }

  /// Ends a registration. Does nothing if it has ended.
  package func unregister(_ registration: Registration) async {
    guard let index = registered.firstIndex(where: { $0.registration == registration }) else {
      return
    }
    let entry = registered.remove(at: index)
    if entry.isRegistered {
      // The call fails if bluetoothd has already dropped the registration.
      _ = try? await connection.call(
        entry.unregister(entry.adapter.flatMap(adapter(address:))), [.path(entry.path)])
    }
    connection.withdraw(entry.path)
  }

  /// Registers an object again, such as an advertisement after a connection.
  func renew(_ registration: Registration) async throws(BluetoothError) {
    guard let entry = registered.first(where: { $0.registration == registration }) else { return }
    let adapter = entry.adapter.flatMap(adapter(address:))
    _ = try? await connection.call(entry.unregister(adapter), [.path(entry.path)])
    do throws(BluetoothError) {
      try await entry.register(self, adapter)
    } catch {
      released(entry.path)
      throw error
    }
  }

  /// Marks the registration at `path` as ended by bluetoothd, and renews it after a pause.
  func released(_ path: String) {
    for index in registered.indices where registered[index].path == path {
      registered[index].isRegistered = false
    }
    Task { @BluetoothActor [weak self, pause] in
      try await Task.sleep(for: pause)
      self?.reconcile()
    }
  }

  private func adapter(address: String) -> BluetoothAdapter? {
    adapters.first { $0.address == address }
  }

  /// Renews the registrations that are lost, one after the other.
  private func reconcile() {
    guard registered.contains(where: { !$0.isRegistered }), owner != nil else { return }
    mustReconcile = true
    guard !isReconciling else { return }
    isReconciling = true
    Task { @BluetoothActor [weak self] in
      while let self, self.mustReconcile {
        self.mustReconcile = false
        await self.registerLost()
      }
      self?.isReconciling = false
    }
  }

  private func registerLost() async {
    for entry in registered where !entry.isRegistered {
      let adapter = entry.adapter.flatMap(adapter(address:))
      let losses = losses
      // The adapter or bluetoothd may return later.
      guard entry.adapter == nil || adapter != nil, owner != nil else { continue }
      do throws(BluetoothError) {
        if let adapter, !adapter.isPowered { try await powerOn(adapter) }
        do throws(BluetoothError) {
          try await entry.register(self, adapter)
        } catch {
          guard case .refused(_, "AlreadyExists", _) = error.reason else { throw error }
        }
        guard
          let index = registered.firstIndex(where: { $0.registration == entry.registration })
        else { continue }
        // bluetoothd may have replied just before it was lost.
        guard losses == self.losses else {
          mustReconcile = true
          continue
        }
        registered[index].isRegistered = true
        report(.registered(entry.registration))
      } catch {
        report(.registrationFailed(entry.registration, error))
        released(entry.path)
      }
    }
  }
}
