// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import FoundationEssentials
internal import Synchronization
package import UWBSite

/// The learned values of a run at one moment, from which another run can continue.
///
/// Its text has two lines of JSON: a header, and the values. The header contains the number of
/// input lines that the values include.
package struct SiteState: Sendable {
  package struct Header: Sendable, Codable, Hashable {
    static let supportedVersion = 1
    package var version = Self.supportedVersion
    /// The checksum of the site file.
    package var site: String
    /// The number of input lines since the start of the run.
    package var lines: Int
    /// The time of the state in seconds by the clock of the run.
    package var now: Double
    /// The time 0 of the run in seconds since 1970; 0 if the input gives the times.
    package var epoch: Double
    /// The checksum of the second line.
    package var check = ""
  }

  struct Values: Sendable, Codable {
    var engine: Engine.State
    var presence: PresenceWatch.State
  }

  /// The longest text in bytes.
  static let longest = 256 << 20

  package var header: Header
  var values: Values

  /// The engine and the presence of a site, restored from a state.
  package struct Resumed: Sendable {
    package var header: Header
    var engine: Engine
    var presence: PresenceWatch
  }

  /// Returns the text of the state.
  package func text() throws -> [UInt8] { try text(body: body()) }

  /// Returns the text of the state with a second line.
  package func text(body: [UInt8]) throws -> [UInt8] {
    var header = header
    header.check = SiteEditor.version(body)
    let end = UInt8(ascii: "\n")
    return Array(try Self.encoder().encode(header)) + [end] + body + [end]
  }

  /// Returns the line of values.
  package func body() throws -> [UInt8] { Array(try Self.encoder().encode(values)) }

  private static func encoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return encoder
  }

  /// Reads the text of a state for a site.
  package static func read(_ text: [UInt8], _ site: Site) throws(Problem) -> Resumed {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard lines.count == 3, text.count <= longest,
      let header = try? decoder.decode(Header.self, from: Data(lines[0]))
    else { throw .damaged }
    guard header.version == Header.supportedVersion else { throw .version(header.version) }
    guard header.check == SiteEditor.version(Array(lines[1])),
      abs(header.now) < 1e12, abs(header.epoch) < 1e12
    else { throw .damaged }
    guard header.site == number(of: site) else { throw .site }
    guard let values = try? decoder.decode(Values.self, from: Data(lines[1])) else {
      throw .damaged
    }
    var engine = Engine(site)
    var presence = PresenceWatch(site, engine)
    guard engine.resume(values.engine), presence.resume(values.presence) else { throw .damaged }
    return Resumed(header: header, engine: engine, presence: presence)
  }

  /// Returns a checksum that changes with the site.
  static func number(of site: Site) -> String { SiteEditor.version(Array(site.json.utf8)) }

  /// The reason why a run does not continue from a state.
  package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
    case damaged
    case version(Int)
    case site
    /// The run has times since 1970 and the state has times of a recording, or the other way round.
    case times

    package var description: String {
      switch self {
      case .damaged: "is damaged"
      case .version(let number): "has version \(number), which this program does not read"
      case .site: "belongs to another site file"
      case .times:
        "has times of another kind: the one is live, the other one has times of its lines"
      }
    }
  }
}

/// The file for the state of a run, which is written on its own thread.
package final class StateFile: Sendable {
  /// The least time in seconds between two states.
  package static let pause = 5.0
  /// The least ratio of a pause to the writing time, so that at most a tenth of a core is used.
  private static let share = 10.0

  private struct Progress {
    var next = -Double.infinity
    var isWriting = false
    var hasFailed = false
  }

  private let path: String
  private let note: @Sendable (String) -> Void
  private let progress = Mutex(Progress())
  private let queue = DispatchQueue(label: "state")

  /// - Parameter note: receives sentences about the file.
  package init(_ path: String, note: @escaping @Sendable (String) -> Void) {
    (self.path, self.note) = (path, note)
  }

  /// Reads the state of an earlier run; nil if there is none for this site.
  ///
  /// - Parameter isLive: whether times count from the start of the run.
  package func read(_ site: Site, isLive: Bool) -> SiteState.Resumed? {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    guard let data = FileManager.default.contents(atPath: path) else {
      note("\(path) cannot be read, and the run begins without it: check its permissions")
      return nil
    }
    do throws(SiteState.Problem) {
      let state = try SiteState.read(Array(data), site)
      guard (state.header.epoch != 0) == isLive else { throw .times }
      return state
    } catch {
      note("\(path) \(error); the run begins without it, and replaces it")
      return nil
    }
  }

  /// Writes a state if it is due and the last state has been written.
  ///
  /// - Parameter now: seconds by a monotonic clock.
  package func offer(_ state: () -> SiteState, at now: Double) {
    let isDue = progress.withLock { progress in
      guard now >= progress.next, !progress.isWriting else { return false }
      progress.isWriting = true
      return true
    }
    guard isDue else { return }
    let state = state()
    queue.async { [self] in
      let cost = write(state)
      progress.withLock { progress in
        progress.isWriting = false
        progress.next = now + max(Self.pause, Self.share * cost)
      }
    }
  }

  /// Writes the last state, and waits until it is written.
  package func finish(_ state: SiteState) { queue.sync { _ = write(state) } }

  /// Writes the state; returns the time in seconds that this took.
  private func write(_ state: SiteState) -> Double {
    let start = ContinuousClock.now
    do {
      let text = Data(try state.text())
      try text.write(to: URL(fileURLWithPath: path), options: .atomic)
      progress.withLock { $0.hasFailed = false }
    } catch {
      let isFirst = progress.withLock { progress in
        defer { progress.hasFailed = true }
        return !progress.hasFailed
      }
      if isFirst {
        note("\(path) cannot be written: check its folder and the space on its disk")
      }
    }
    return (ContinuousClock.now - start) / .seconds(1)
  }
}
