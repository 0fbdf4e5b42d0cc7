// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import System
import SystemPackage
import Testing

import UWBTestSupport

@Suite("Files that users name", .timeLimit(.minutes(10)))
struct FileTests {
  private static func withFolder(_ body: (TemporaryFolder) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    try await body(folder)
  }

  private static func status(_ path: String) throws -> stat {
    var status = stat()
    try #require(lstat(path, &status) == 0)
    return status
  }

  // MARK: writing

  @Test("A file is replaced as a whole, and keeps its permissions and its owner")
  func replaced() async throws {
    try await Self.withFolder { folder in
      let path = try folder.write("before", to: "file")
      try #require(chmod(path, 0o640) == 0)
      if geteuid() == 0 { try #require(chown(path, 12, 34) == 0) }
      let before = try Self.status(path)
      try OutputFile.write(Array("after".utf8), to: path)
      #expect(try folder.read("file") == "after")
      let after = try Self.status(path)
      #expect(after.st_mode & 0o777 == 0o640)
      #expect(after.st_uid == before.st_uid && after.st_gid == before.st_gid)
      #expect(after.st_ino != before.st_ino, "another file has its name")
      try OutputFile.write([], to: folder.path("new"))
      #expect(try folder.read("new").isEmpty)
      // No draft remains.
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(""))
      #expect(names.sorted() == ["file", "new"])
    }
  }

  @Test("Links are followed, and what is no file is written to as it is")
  func inPlace() async throws {
    try await Self.withFolder { folder in
      let path = try folder.write("a long text before", to: "file")
      let inode = try Self.status(path).st_ino
      try #require(symlink("file", folder.path("link")) == 0)
      try OutputFile.write(Array("after".utf8), to: folder.path("link"))
      #expect(try folder.read("file") == "after")
      #expect(try Self.status(path).st_ino == inode)
      #expect(try Self.status(folder.path("link")).st_mode & S_IFMT == S_IFLNK)
      #expect(throws: FileError.system(.isDirectory)) {
        try OutputFile.write([1], to: folder.path(""))
      }
      #expect(throws: FileError.system(.noSpace)) { try OutputFile.write([1], to: "/dev/full") }
      #expect(throws: FileError.system(.noSuchFileOrDirectory)) {
        try OutputFile.write([1], to: folder.path("no/file"))
      }
      #expect(throws: FileError.system(.noSuchFileOrDirectory)) {
        try OutputFile.check(folder.path("no/file"))
      }
      #expect(throws: FileError.otherKind("a folder")) { try OutputFile.check(folder.path("")) }
      for name in ["new", "link", "file"] { try OutputFile.check(folder.path(name)) }
      #expect(try folder.read("file") == "after" && !OutputFile.isFile(folder.path("new")))
      for other in ["-", "/dev/null", "."] { #expect(!OutputFile.isFile(other), "\(other)") }
    }
  }

  @Test("Bytes go to the reader of a pipe")
  func pipe() async throws {
    try await Self.withFolder { folder in
      let path = folder.path("pipe")
      try #require(mkfifo(path, 0o600) == 0)
      async let read = BlockingThreads.shared.call {
        Result { try InputFile.bytes(of: path, limit: 10) }
      }
      // The write waits for a reader.
      try await BlockingThreads.shared.call {
        Result { try OutputFile.write([1, 2, 3], to: path) }
      }.get()
      #expect(try await read.get() == [1, 2, 3])
    }
  }

  @Test("Waiting for either end of a pipe ends with the task")
  func cancelled() async throws {
    try await Self.withFolder { folder in
      let path = folder.path("pipe")
      try #require(mkfifo(path, 0o600) == 0)
      for isReading in [false, true] {
        // The write runs on the thread of the task, because it checks the current task.
        let task = Task.detached {
          withUnsafeCurrentTask { $0?.cancel() }
          return Result {
            if isReading {
              _ = try InputFile.bytes(of: path, limit: 1)
            } else {
              _ = try OutputFile.open(path)
            }
          }
        }
        let result = await task.value
        #expect(throws: FileError.system(.canceled)) { try result.get() }
      }
    }
  }

  @Test("A secret is for its owner only, also in a file that others could read")
  func secret() async throws {
    try await Self.withFolder { folder in
      let path = try folder.write("what was there before", to: "file")
      try #require(chmod(path, 0o644) == 0)
      for name in ["file", "new"] {
        let file = try OutputFile.open(folder.path(name), isSecret: true, isAppending: true)
        try file.writeAll([0x41])
        // The write appends to the file, whatever its position was.
        try file.seek(offset: 0, from: .start)
        try file.writeAll([0x42])
        try file.close()
        #expect(try folder.read(name) == "AB")
        #expect(try Self.status(folder.path(name)).st_mode & 0o777 == 0o600)
      }
      let plain = try OutputFile.open(path)
      // The write waits for a device that accepts no bytes, as a blocking descriptor does.
      #expect(fcntl(plain.rawValue, F_GETFL) & O_NONBLOCK == 0)
      try plain.close()
      #expect(try folder.read("file").isEmpty)
    }
  }

  // MARK: reading

  @Test(
    "What is no file is named",
    arguments: [
      ("/", "it is a folder"), ("/dev/ptmx", "it is a device"),
      ("/no/such/file", "there is no such file"), ("SOCKET", "it is a socket"),
    ])
  func otherKinds(_ path: String, _ sentence: String) async throws {
    try await Self.withFolder { folder in
      var path = path
      let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(socket) }
      if path == "SOCKET" {
        path = folder.path("s")
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
          }
        }
        try #require(bound == 0)
        #expect(throws: FileError.otherKind("a socket")) { try OutputFile.write([1], to: path) }
      }
      let error = #expect(throws: FileError.self) { try InputFile.bytes(of: path, limit: 10) }
      #expect(error?.description == sentence)
    }
  }

  @Test("The byte order mark of text is left out")
  func byteOrderMarks() async throws {
    try await Self.withFolder { folder in
      let path = folder.path("file")
      for (bytes, text) in [
        ([0xEF, 0xBB, 0xBF, 0x61], "a"), ([0xEF, 0xBB, 0xBF], ""), ([], ""),
        ([0x61, 0xEF, 0xBB, 0xBF], "a\u{FEFF}"),
        ([0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF], "\u{FEFF}"),
      ] as [([UInt8], String)] {
        try OutputFile.write(bytes, to: path)
        #expect(try InputFile.bytes(of: path, limit: 10) == Array(text.utf8))
        #expect(try InputFile.bytes(of: path, limit: 10, isText: false) == bytes)
        var lines = try InputLines(path)
        #expect(try lines.next().map(Array.init) ?? [] == Array(text.utf8))
      }
    }
  }

  @Test("A byte order mark in a pipe may arrive in pieces")
  func slowMark() async throws {
    var pipe: [Int32] = [0, 0]
    try #require(Glibc.pipe(&pipe) == 0)
    let (reader, writer) = (pipe[0], pipe[1])
    defer { close(reader) }
    async let read = BlockingThreads.shared.call {
      Result { try InputFile.bytes(of: "/dev/fd/\(reader)", limit: 10) }
    }
    for byte in [0xEF, 0xBB, 0xBF, 0x61] as [UInt8] { #expect(write(writer, [byte], 1) == 1) }
    close(writer)
    #expect(try await read.get() == [0x61])
  }

  @Test("A file may be as long as the limit")
  func limits() async throws {
    try await Self.withFolder { folder in
      let path = try folder.write("12345", to: "file")
      #expect(try InputFile.bytes(of: path, limit: 5) == Array("12345".utf8))
      #expect(throws: FileError.tooLong(limit: 4)) { try InputFile.bytes(of: path, limit: 4) }
      #expect(try InputFile.bytes(of: "/dev/null", limit: 0).isEmpty)
      #expect(throws: FileError.tooLong(limit: 70_000)) {
        try InputFile.bytes(of: "/dev/zero", limit: 70_000)
      }
      #expect("\(FileError.tooLong(limit: 1_048_575))" == "it is longer than 1048575 bytes")
      #expect("\(FileError.tooLong(limit: 1_048_576))" == "it is longer than 1 MiB")
    }
  }

  @Test("Lines come without their ends, and the last one may have none")
  func lines() async throws {
    try await Self.withFolder { folder in
      let long = String(repeating: "x", count: 70_000)
      for (text, expected) in [
        ("a\n\nb\n", ["a", "", "b"]), ("a\nb", ["a", "b"]), ("", []), ("\n", [""]),
        ("\(long)\n\(long)", [long, long]),
      ] {
        var lines = try InputLines(try folder.write(text, to: "file"))
        var seen: [String] = []
        while let line = try lines.next() { seen.append(String(decoding: line, as: UTF8.self)) }
        #expect(seen == expected)
        #expect(try lines.next() == nil)
      }
      // The limit applies to each line, whatever precedes it.
      let half = String(repeating: "y", count: 40_000)
      var two = try InputLines(try folder.write("\(half)\n\(half)\n", to: "file"), limit: 60_000)
      #expect(try two.next()?.count == 40_000)
      #expect(try two.next()?.count == 40_000)
      var lines = try InputLines(try folder.write("short\n\(long)", to: "file"), limit: 60_000)
      #expect(try lines.next()?.count == 5)
      #expect(throws: FileError.tooLong(limit: 60_000)) {
        while try lines.next() != nil {}
      }
    }
  }
}
