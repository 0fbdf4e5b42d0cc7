// SPDX-License-Identifier: Apache-2.0
public import Foundation

extension NIDiscoveryToken {
  /// Beyond Apple: the bytes to send to a peer, shorter than an archive. Nothing in them is secret.
  /// `PeerToken` describes them.
  public var data: Data { Data(bytes) }

  /// Beyond Apple: the token of a peer from its `data`.
  ///
  /// - Throws: `NIError.invalidConfiguration`; its failure reason names what is wrong.
  public convenience init(data: Data) throws {
    let bytes = [UInt8](data)
    do throws(PeerTokenError) {
      _ = try PeerToken(bytes)
    } catch {
      throw NIError(.invalidConfiguration, reason: error.description, recovery: error.suggestion)
    }
    self.init(.peer, bytes)
  }
}
