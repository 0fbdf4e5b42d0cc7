// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage
import Testing
import UWB

@testable import NearbyInteraction
@testable import UWBLink

/// Errors and advice for users without permission to open the device.
@Suite struct AuthorizationTests {
  @Test func deniedAccessHasARecoverySuggestion() throws {
    let access = DeviceAccess(owner: "root", group: "dialout", mode: 0o660, isAllowed: false)
    let error = Authorization.denial("/dev/ttyACM0", access)
    #expect(error.code == .userDidNotAllow)
    let recovery = try #require(error.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String)
    #expect(recovery.contains("udev/60-uwb.rules") && recovery.contains("usermod -aG dialout"))
    var member = access
    member.needsNewLogin = true
    #expect(
      Authorization.denial("/dev/ttyACM0", member).description.contains("log in again"))
    let link = DriverError.link(
      LinkError(.permissionDenied, endpoint: "/dev/ttyACM0", detail: "dialout"))
    #expect(NIError(link).code == .userDidNotAllow && !link.isTransient)
    #expect(NIError(link).description.contains("usermod -aG dialout"))
  }

  /// Runs in a process of its own, which drops root's privileges: root may open every device.
  @Test(.timeLimit(.minutes(10))) func usersWithoutAccessAreDenied() async {
    await #expect(processExitsWith: .success) {
      let path = "\(NSTemporaryDirectory())/ni-denied-\(UUID().uuidString)"
      #expect(FileManager.default.createFile(atPath: path, contents: nil))
      try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
      let nobody: uid_t = 65_534
      let wasRoot = geteuid() == 0
      if wasRoot { try #require(seteuid(nobody) == 0) }
      let recorder = Recorder()
      let session = recorder.session(on: path)
      guard case .denied = session.authorizationStatus else {
        Issue.record("\(session.authorizationStatus)")
        return
      }
      session.run(NIDLTDOAConfiguration(networkIdentifier: 1))
      #expect(await recorder.wait { $0 == [.invalidated(.userDidNotAllow)] })
      // An app finds this out by running a session with itself. With permission, such a session
      // ends with another error.
      let asking = Recorder()
      let own = asking.session(on: path)
      let token = try #require(own.discoveryToken)
      own.run(NINearbyPeerConfiguration(peerToken: token))
      #expect(await asking.wait { $0 == [.invalidated(.userDidNotAllow)] })
      if wasRoot { _ = seteuid(0) }
      unlink(path)
    }
  }

  @Test func theRecoverySuggestionDependsOnTheNode() {
    func recovery(_ change: (inout DeviceAccess) -> Void) -> String {
      var access = DeviceAccess(owner: "root", group: "dialout", mode: 0o660, isAllowed: false)
      change(&access)
      let error = Authorization.denial("/dev/ttyACM0", access)
      #expect(error.code == .userDidNotAllow)
      return error.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String ?? ""
    }
    #expect(recovery { _ in }.contains("usermod -aG dialout $USER"))
    // The user is in the group already.
    #expect(!recovery { $0.needsNewLogin = true }.contains("usermod"))
    #expect(recovery { $0.needsNewLogin = true }.contains("dialout already"))
    // Nobody should join root's group.
    #expect(!recovery { $0.group = "root" }.contains("usermod"))
    #expect(recovery { $0.group = "root" }.contains("udev/60-uwb.rules"))
  }
}
