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
/// One thread serves all chips. It ends with `stop()` or with the bench.
public final class SimulatedBench: Sendable {
  private let core: BenchCore
  private let thread: ServiceThread

  /// A bench without chips.
  public init(scene: Scene = Scene()) {
    core = BenchCore(scene: scene)
    thread = ServiceThread(core)
  }

  deinit { stop() }

  /// Adds a chip that stays where it is.
  public func add(
    profile: ChipProfile, at position: SIMD3<Double>, name: String? = nil
  ) throws(Errno) -> Chip {
    try add(profile: profile, placement: Placement(at: position), name: name)
  }

  /// Adds a chip. It has power at once, and says so in bytes that wait for its host.
  public func add(
    profile: ChipProfile, placement: Placement, name: String? = nil
  ) throws(Errno) -> Chip {
    Chip(core: core, id: try core.add(profile, placement, name))
  }

  /// All chips, in the order in which they were added.
  public var chips: [Chip] { core.chips.map { Chip(core: core, id: $0) } }

  /// Begins to serve the chips on a thread of its own. Twice is once.
  public func start() { thread.start() }

  /// Stops serving and waits for the thread. The pseudo-terminals stay until the bench goes.
  public func stop() { thread.stop() }

  /// Whether the stamps of exchanges are kept for `takeExchanges()`.
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

    /// What a host opens, like `/dev/pts/5`. Changes with `replug()`.
    public var path: String { core.path(of: id) }
    /// The name given to `add`.
    public var name: String { core.withSimulation { $0.name(of: id) } }
    /// The kind of chip.
    package var profile: ChipProfile { core.withSimulation { $0.profile(of: id) } }
    /// Where it is at this moment.
    public var position: SIMD3<Double> { core.withSimulation { $0.position(of: id) } }
    /// Where it is over time, where it looks, and how good it is.
    public var placement: Placement {
      get { core.withSimulation { $0[placement: id] } }
      nonmutating set { core.withSimulation { $0[placement: id] = newValue } }
    }
    /// What it does wrong on purpose.
    package var faults: ChipFaults {
      get { core.withSimulation { $0[faults: id] } }
      nonmutating set { core.withSimulation { $0[faults: id] = newValue } }
    }

    /// Sends bytes to the host that no chip would: chatter on the line.
    package func chatter(_ bytes: [UInt8]) { core.send([bytes], to: id) }
    /// Lets the chip start anew behind its host's back; the port stays, as with a bridge.
    public func restart() { core.withSimulation { $0.restart(id) } }
    /// Lets the chip fail inside: DEVICE_STATUS ERROR, and nothing more before a reset.
    public func fail() { core.withSimulation { $0.fail(id) } }
    /// Pulls the plug: the host sees a hang-up, the chip loses power and everything it knew.
    public func unplug() { core.unplug(id) }
    /// Plugs it in again, at a new path; a link made by `link(at:)` follows.
    public func replug() throws(Errno) { try core.replug(id) }
    /// Makes a symbolic link to the path, in the place of a link that is there. It is removed when
    /// the chip is unplugged and with the bench.
    public func link(at path: String) throws(Errno) { try core.link(id, at: path) }
  }
}
