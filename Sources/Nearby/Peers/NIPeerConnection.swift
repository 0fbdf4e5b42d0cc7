// SPDX-License-Identifier: Apache-2.0
internal import Channels
internal import System

/// A connection to a peer after the exchange of tokens. Not part of Apple's API.
///
/// The peer is not verified until users have compared the codes.
public final class NIPeerConnection: Sendable {
  /// The announced name. Any program can announce any name.
  public let name: String
  /// The code, such as `042 117`. Users compare it with the code at the other machine.
  public let code: String

  private struct State {
    var isConfirmed = false
    var end: NIPeerError?
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let wire: PeerWire
  private let peer: PeerToken
  private let proof: [UInt8]
  private let limits: NINearbyPeers.Limits
  private let state = Locked(State())
  private let reading = Locked<Task<Void, Never>?>(nil)

  init(
    _ wire: PeerWire, named name: String, _ transcript: PeerTranscript, isA: Bool,
    _ identity: PeerIdentity, _ theirs: PeerOpening, _ limits: NINearbyPeers.Limits
  ) throws(NIPeerError) {
    (self.wire, self.name, self.limits) = (wire, name, limits)
    let expected: [UInt8]
    do throws(PeerTokenError) {
      peer = try PeerToken(theirs.token)
      // Chips that cannot range with each other need no comparison.
      _ = try identity.session(with: peer)
      proof = try transcript.proof(ofA: isA, identity, peer)
      expected = try transcript.proof(ofA: !isA, identity, peer)
    } catch { throw NIPeerError(error) }
    code = transcript.code
    let task = Task { [weak self] in
      do throws(NIPeerError) {
        while true {
          switch try await wire.next() {
          case .confirmation(let proof) where proof.isEqual(to: expected): self?.peerConfirmed()
          case .refusal: throw .refused
          default: throw .damaged
          }
        }
      } catch {
        wire.channel.close()
        self?.end(error)
      }
    }
    reading.withLock { $0 = task }
  }

  deinit { reading.withLock { $0 }?.cancel() }

  /// Confirms that the codes are equal, and waits for the confirmation of the other machine.
  package func confirmed() async throws -> PeerToken {
    // If sending fails, the connection has ended, and `end` has the cause.
    try? await wire.send(.confirmation(proof: proof))
    let timer = limits.timer(limits.person) { [weak self] in self?.fail(.silent) }
    defer { timer.cancel() }
    await withTaskCancellationHandler {
      await wait { $0.isConfirmed || $0.end != nil }
    } onCancel: {
      fail(.closed)
    }
    let (isConfirmed, end) = state.withLock { ($0.isConfirmed, $0.end) }
    guard isConfirmed else { throw end ?? .closed }
    return peer
  }

  /// Reports to the peer that the codes differ, and ends the connection.
  public func refuse() async {
    end(.closed)
    await wire.refuse()
  }

  /// Ends the connection. Ranging does not depend on it.
  public func close() { fail(.closed) }

  /// Waits until the connection has ended.
  ///
  /// - Returns: the cause; nil if the task was cancelled.
  public func ended() async -> NIPeerError? {
    await withTaskCancellationHandler {
      await wait { $0.end != nil }
    } onCancel: {
      wake()
    }
    return state.withLock { $0.end }
  }

  private func fail(_ error: NIPeerError) {
    end(error)
    wire.channel.close()
  }

  private func peerConfirmed() {
    state.withLock { if $0.end == nil { $0.isConfirmed = true } }
    wake()
  }

  /// Records the end of the connection; only the first end counts. A connection that was refused or
  /// closed here cannot be confirmed afterwards.
  private func end(_ error: NIPeerError) {
    state.withLock { state in
      state.end = state.end ?? error
      if error == .closed { state.isConfirmed = false }
    }
    wake()
  }

  private func wake() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  private func wait(_ isOver: @Sendable (State) -> Bool) async {
    while !Task.isCancelled {
      let isReady = state.withLock { isOver($0) }
      if isReady { return }
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if isOver(state) || Task.isCancelled { return true }
          state.waiting.append(continuation)
          return false
        }
        if isReady { continuation.resume() }
      }
    }
  }
}

extension [UInt8] {
  /// Compares in a time that does not depend on the bytes.
  func isEqual(to other: [UInt8]) -> Bool {
    count == other.count && zip(self, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
