// SPDX-License-Identifier: Apache-2.0
import NearbyInteraction
import Testing

/// A replacement for sessions in an app's tests: a subclass with the initialiser of any NSObject.
class SilentSession: NISession, @unchecked Sendable {
  private(set) var runs: [NIConfiguration] = []
  private(set) var wasEnded = false

  override init() { super.init() }
  override func run(_ configuration: NIConfiguration) { runs.append(configuration) }
  override func invalidate() {
    wasEnded = true
    super.invalidate()
  }
}

/// A subclass without its own initialiser.
final class CountedSession: NISession, @unchecked Sendable {
  var pauses = 0
  override func pause() { pauses += 1 }
}

/// A protocol in place of sessions, so that tests can replace them.
protocol Rangefinder: AnyObject {
  var delegate: NISessionDelegate? { get set }
  var discoveryToken: NIDiscoveryToken? { get }
  var configuration: NIConfiguration? { get }
  func run(_ configuration: NIConfiguration)
  func pause()
  func invalidate()
}
extension NISession: Rangefinder {}

/// A delegate with subclasses.
class NearestOnly: NSObject, NISessionDelegate {
  var seen = 0
  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) { seen += 1 }
}

final class NearestTwice: NearestOnly {
  override func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    super.session(session, didUpdate: nearbyObjects)
    seen += 1
  }
}

@Suite struct StandInTests {
  @Test func sessionsCanBeSubclassed() throws {
    let silent = SilentSession()
    let finder: any Rangefinder = silent
    let accessory = try NINearbyAccessoryConfiguration(data: AppTests.accessoryData)
    finder.run(accessory)
    #expect(silent.runs.first === accessory && finder.configuration == nil)
    finder.invalidate()
    #expect(silent.wasEnded)
    let counted = CountedSession()
    counted.pause()
    #expect(counted.pauses == 1 && counted != silent)
  }

  @Test func delegatesCanBeSubclassed() {
    let delegate: any NISessionDelegate = NearestTwice()
    delegate.session(SilentSession(), didUpdate: [])
    #expect((delegate as? NearestOnly)?.seen == 2)
  }
}
