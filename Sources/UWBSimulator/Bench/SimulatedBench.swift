// SPDX-License-Identifier: Apache-2.0

public import SystemPackage

/// Simulated chips on pseudo-terminals, in one scene, against the real clock.
///
/// ```swift
/// let bench = SimulatedBench(scene: Scene(seed: 7))
/// let a = try bench.add(profile: .qm33, at: SIMD3(0, 0, 0))
/// let b = try bench.add(profile: .qm33, at: SIMD3(3, 0, 0))
/// bench.start()
/// // Open a.path and b.path like serial ports.
/// ```
///
/// One thread serves all chips. `stop()` or releasing the bench ends it.
public final class SimulatedBench: Sendable {
  private let core: BenchCore
  private let thread: ServiceThread

  /// Creates a bench without chips.
  public init(scene: Scene = Scene()) {
    core = BenchCore(scene: scene)
    thread = ServiceThread(core)
  }

  deinit { stop() }

  /// Adds a chip at rest, at a position in metres.
  public func add(
    profile: ChipProfile, at position: SIMD3<Double>, name: String? = nil
  ) throws(Errno) -> Chip {
    try add(profile: profile, placement: Placement(at: position), name: name)
  }

  /// Adds a chip and powers it up; its first packets wait for the host.
  public func add(
    profile: ChipProfile, placement: Placement, name: String? = nil
  ) throws(Errno) -> Chip {
    Chip(core: core, id: try core.add(profile, placement, name))
  }

  /// All chips, in the order in which they were added.
  public var chips: [Chip] { core.chips.map { Chip(core: core, id: $0) } }

  /// Starts a thread that serves the chips. Does nothing if it is running.
  public func start() { thread.start() }

  /// Stops the thread and waits for it. The pseudo-terminals exist until the bench is released.
  public func stop() { thread.stop() }

  /// Whether the stamps of exchanges are recorded for `takeExchanges()`.
  package var recordsExchanges: Bool {
    get { core.withSimulation { $0.recordsExchanges } }
    set { core.withSimulation { $0.recordsExchanges = newValue } }
  }

  /// The exchanges since the last call, if `recordsExchanges` is set; at most 100 000.
  package func takeExchanges() -> [RecordedExchange] {
    core.withSimulation { $0.takeExchanges() }
  }

  /// A chip on the bench.
  public struct Chip: Sendable {
    let core: BenchCore
    let id: Simulation.ChipID

    /// The path for the host to open, like `/dev/pts/5`. Changes with `replug()`.
    public var path: String { core.path(of: id) }
    /// The name given to `add`.
    public var name: String { core.withSimulation { $0.name(of: id) } }
    package var profile: ChipProfile { core.withSimulation { $0.profile(of: id) } }
    /// The current position in metres.
    public var position: SIMD3<Double> { core.withSimulation { $0.position(of: id) } }
    /// The movement and orientation, and the errors of clock and calibration.
    public var placement: Placement {
      get { core.withSimulation { $0[placement: id] } }
      nonmutating set { core.withSimulation { $0[placement: id] = newValue } }
    }
    package var faults: ChipFaults {
      get { core.withSimulation { $0[faults: id] } }
      nonmutating set { core.withSimulation { $0[faults: id] = newValue } }
    }

    /// Sends arbitrary bytes to the host.
    package func chatter(_ bytes: [UInt8]) { core.send([bytes], to: id) }
    /// Restarts the chip without closing the port, as with a serial bridge.
    public func restart() { core.withSimulation { $0.restart(id) } }
    /// Simulates an internal failure: DEVICE_STATUS ERROR, then nothing until a reset.
    public func fail() { core.withSimulation { $0.fail(id) } }
    /// Unplugs the chip: the host sees a hang-up, the chip loses power and its state.
    public func unplug() { core.unplug(id) }
    /// Plugs the chip in again at a new path; a link created by `link(at:)` follows.
    public func replug() throws(Errno) { try core.replug(id) }
    /// Creates a symbolic link to the path, replacing an existing link. It is removed when the chip is
    /// unplugged and with the bench.
    public func link(at path: String) throws(Errno) { try core.link(id, at: path) }
  }
}
