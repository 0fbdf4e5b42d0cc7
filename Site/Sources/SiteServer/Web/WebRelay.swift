// SPDX-License-Identifier: Apache-2.0

internal import FlyingFox
internal import Foundation
internal import UWBSite
internal import Varlink

/// Relays the messages of a WebSocket to the service. One text is one message, without the zero
/// byte that ends messages on a Unix socket.
struct SocketHandler: WSHandler {
  let path: String

  func makeFrames(
    for client: AsyncThrowingStream<WSFrame, any Error>
  ) async throws -> AsyncStream<WSFrame> {
    let relay = WebRelay(path)
    let task = Task { await relay.run(client) }
    return AsyncStream(unfolding: { await relay.frames.next() }, onCancel: { task.cancel() })
  }
}

/// A WebSocket. Its calls are performed one after the other, as on a Unix socket.
private actor WebRelay {
  /// The length of the longest call in bytes.
  private static let longest = 65_536

  nonisolated let frames = FrameQueue()
  private let path: String
  private var client: VarlinkClient?
  private var isBusy = false
  private var call: Task<Void, Never>?

  init(_ path: String) { self.path = path }

  /// Handles frames until the page disconnects.
  func run(_ input: AsyncThrowingStream<WSFrame, any Error>) async {
    var text = Data()
    var end = WSFrame.close()
    do {
      for try await frame in input {
        switch frame.opcode {
        case .ping:
          var pong = frame
          pong.opcode = .pong
          await frames.add(pong)
        case .text, .continuation:
          text += frame.payload
          guard text.count <= Self.longest else { throw WebFailure.message }
          guard frame.fin else { continue }
          guard !isBusy else { throw WebFailure.message }
          begin(Array(text))
          text = Data()
        case .pong: break
        default: throw WebFailure.ended
        }
      }
    } catch WebFailure.message {
      end = .close(message: "The message is too long, or the last call has not ended.")
    } catch {}
    call?.cancel()
    client?.close()
    await frames.close(end)
  }

  private func begin(_ message: [UInt8]) {
    isBusy = true
    call = Task {
      do throws(VarlinkError) { try await perform(message) } catch {
        let name = JSONValue.string(error.name).description
        await send(#"{"error":\#(name),"parameters":"#, error.parameters, "}")
      }
      isBusy = false
    }
  }

  private func perform(_ message: [UInt8]) async throws(VarlinkError) {
    guard let value = try? JSONValue(message), case .string(let method)? = value["method"] else {
      throw VarlinkError(
        "\(SiteCalls.interface).InvalidMessage",
        Array(#"{"reason":"The message is not a call: it needs a method."}"#.utf8))
    }
    var parameters: [UInt8] = []
    if let given = value["parameters"], given != .null { parameters = Array("\(given)".utf8) }
    let client = try await connected()
    guard value["more"] == .bool(true) else {
      return await send(#"{"parameters":"#, try await client.call(method, parameters), "}")
    }
    do {
      for try await reply in client.replies(to: method, parameters) {
        await send(#"{"parameters":"#, reply, #","continues":true}"#)
      }
    } catch { throw error as? VarlinkError ?? VarlinkError("Connection.Ended") }
    await send(#"{"parameters":"#, Array("{}".utf8), "}")
  }

  private func connected() async throws(VarlinkError) -> VarlinkClient {
    if let client { return client }
    let client = try await VarlinkClient.connect(to: path)
    self.client = client
    return client
  }

  /// Sends one message, as soon as the page has accepted the previous message.
  private func send(_ beginning: String, _ parameters: [UInt8], _ end: String) async {
    let payload = Data(beginning.utf8) + Data(parameters) + Data(end.utf8)
    await frames.send(WSFrame(fin: true, opcode: .text, mask: nil, payload: payload))
  }
}

private enum WebFailure: Error { case message, ended }

/// The frames on their way to a page. A sender waits while a frame waits.
private actor FrameQueue {
  private var frames: [WSFrame] = []
  private var isClosed = false
  private var reader: CheckedContinuation<Void, Never>?
  private var senders: [CheckedContinuation<Void, Never>] = []

  func send(_ frame: WSFrame) async {
    while !frames.isEmpty, !isClosed {
      await withCheckedContinuation { continuation in
        // Other jobs may run before the continuation is created.
        if frames.isEmpty || isClosed {
          continuation.resume()
        } else {
          senders.append(continuation)
        }
      }
    }
    guard !isClosed else { return }
    frames.append(frame)
    reader.take()?.resume()
  }

  /// Adds a frame without waiting, unless too many frames wait.
  func add(_ frame: WSFrame) {
    guard !isClosed, frames.count < 8 else { return }
    frames.append(frame)
    reader.take()?.resume()
  }

  func next() async -> WSFrame? {
    while frames.isEmpty {
      guard !isClosed else { return nil }
      await withCheckedContinuation { continuation in
        if frames.isEmpty, !isClosed { reader = continuation } else { continuation.resume() }
      }
    }
    let frame = frames.removeFirst()
    resumeSenders()
    return frame
  }

  /// Adds the last frame. Senders that wait return at once.
  func close(_ frame: WSFrame) {
    add(frame)
    isClosed = true
    reader.take()?.resume()
    resumeSenders()
  }

  private func resumeSenders() {
    let waiting = senders
    senders = []
    for sender in waiting { sender.resume() }
  }
}
