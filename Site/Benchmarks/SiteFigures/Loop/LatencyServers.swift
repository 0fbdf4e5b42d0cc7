// SPDX-License-Identifier: Apache-2.0

import Foundation
import SiteScenarios
import SiteServer
import Synchronization
import UWBSite

/// A history and a service in a folder of their own, with clients that read each reply.
final class LatencyServers {
  private let folder = NSTemporaryDirectory() + "/latency-" + UUID().uuidString
  private let history: HistorySink?
  private let service: ServiceSink?
  private let clients: [LatencyClient]

  init(history: Bool, clients: Int, every: Int) throws {
    self.history = history ? try HistorySink(HistoryFolder(folder + "/days")) { print($0) } : nil
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    service = clients > 0 ? ServiceSink(at: folder + "/socket") : nil
    let path = folder + "/socket"
    self.clients = (0..<clients).map { _ in LatencyClient(path, every: every) }
  }

  var sinks: [any SiteSink] { [history, service].compactMap { (sink: (any SiteSink)?) in sink } }

  func connect() { for client in clients { client.start() } }

  /// Ends the clients.
  ///
  /// - Returns: the processor time of the clients.
  func close() -> Double {
    history?.close()
    service?.close()
    let ends = clients.map { $0.end() }
    if !clients.isEmpty {
      let (octets, replies) = (ends.map(\.octets).reduce(0, +), ends.map(\.replies).reduce(0, +))
      print("clients: \(replies) replies with \(octets >> 20) MiB")
    }
    try? FileManager.default.removeItem(atPath: folder)
    return ends.map(\.seconds).reduce(0, +)
  }
}

/// A client on a thread of its own, which only reads.
private final class LatencyClient: Sendable {
  struct End {
    var octets = 0
    var replies = 0
    /// Processor time.
    var seconds = 0.0
  }

  private let path: String
  private let every: Int
  private let ended = DispatchSemaphore(value: 0)
  private let result = Mutex(End())

  init(_ path: String, every: Int) { (self.path, self.every) = (path, every) }

  func start() {
    Thread.detachNewThread { [self] in
      let end = follow()
      result.withLock { $0 = end }
      ended.signal()
    }
  }

  func end() -> End {
    ended.wait()
    return result.withLock { $0 }
  }

  private func follow() -> End {
    var end = End()
    guard let socket = StreamSocket(unix: path) else { return end }
    let call = #"{"method":"org.swift-uwb.Site.Watch","more":true,"#
    socket.send(Array("\(call)\"parameters\":{\"after\":0,\"every_ms\":\(every)}}\0".utf8))
    while let bytes = socket.receive() {
      end.octets += bytes.count
      end.replies += bytes.count { $0 == 0 }
    }
    end.seconds = ProcessorTime.ofThread
    return end
  }
}
