// SPDX-License-Identifier: Apache-2.0
import NearbyInteraction

/// The example of the page on porting an app.
final class ReadmeApp: NSObject, NISessionDelegate {
  let session = NISession()
  var regions = NIProximityRegions([1.5, 3])  // beyond Apple: metres, with hysteresis

  func begin(_ accessoryConfigurationData: Data) throws {
    session.delegate = self
    session.run(try NINearbyAccessoryConfiguration(data: accessoryConfigurationData))
  }
  func session(
    _ session: NISession, didGenerateShareableConfigurationData data: Data,
    for object: NINearbyObject
  ) { /* send 0x0B and the data to the accessory */  }
  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    for change in regions.update(nearbyObjects[0]) { print(change.event, change.radius) }
  }
}
