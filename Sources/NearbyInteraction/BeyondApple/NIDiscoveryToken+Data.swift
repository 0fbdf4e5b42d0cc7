// SPDX-License-Identifier: Apache-2.0
public import Foundation

extension NIDiscoveryToken {
  /// Beyond Apple: the token as bytes, shorter than an archive. Not secret.
  public var data: Data { Data(bytes) }

  /// Beyond Apple: decodes the token of a peer from its `data`.
  ///
  /// - Throws: `NIError.invalidConfiguration`; its failure reason names what is wrong.
  public convenience init(data: Data) throws {
    let bytes = [UInt8](data)
    do throws(PeerTokenError) {
      _ = try PeerToken(bytes)
    } catch {
      throw NIError(
        .invalidConfiguration, reason: error.description, recovery: error.recoverySuggestion)
    }
    self.init(.peer, bytes)
  }
}
