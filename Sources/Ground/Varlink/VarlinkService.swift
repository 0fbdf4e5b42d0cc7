// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// Describes a service, validates its calls and answers the calls of `org.varlink.service`.
package struct VarlinkService: Sendable {
  package var vendor: String
  package var product: String
  package var version: String
  package var url: String
  private let interfaces: [(interface: VarlinkInterface, text: String)]
  private let upgrading: Set<String>

  /// Creates a service from its interfaces.
  ///
  /// - Parameters:
  ///   - interfaces: The descriptions of the interfaces, in the varlink language.
  ///  - upgrading: The methods, with their interfaces, after which a connection no longer carries
  ///    varlink.
  /// - Throws: `VarlinkInterfaceError`.
  package init(
    vendor: String = "swift-uwb", product: String, version: String,
    url: String = "https://github.com/swift-uwb/swift-uwb", interfaces: [String],
    upgrading: Set<String> = []
  ) throws(VarlinkInterfaceError) {
    self.upgrading = upgrading
    (self.vendor, self.product, self.version, self.url) = (vendor, product, version, url)
    var read: [(interface: VarlinkInterface, text: String)] = []
    for text in [Self.service] + interfaces { read.append((try VarlinkInterface(text), text)) }
    self.interfaces = read
  }

  /// The result of the validation of a call.
  package enum Answer: Sendable, Hashable {
    /// The reply is complete; the call needs no further work.
    case reply(VarlinkReply)
    /// The parameters are valid; the service has to perform the call.
    case accepted(interface: String, method: String)
  }

  /// Validates a call, and answers it if it needs no further work.
  package func answer(_ call: VarlinkCall) -> Answer {
    let dot = call.method.lastIndex(of: ".") ?? call.method.startIndex
    let (name, method) = (String(call.method[..<dot]), String(call.method[dot...].dropFirst()))
    guard let known = interfaces.first(where: { $0.interface.name == name }) else {
      return .reply(.interfaceNotFound(name))
    }
    guard let fields = known.interface.method(method) else {
      return .reply(.failure("MethodNotFound", ["method": .string(call.method)]))
    }
    // Fails both for a missing and for an unexpected upgrade flag.
    if call.upgrade != upgrading.contains(call.method) {
      return .reply(.failure("MethodNotImplemented", ["method": .string(call.method)]))
    }
    if let field = known.interface.problem(with: call.parameters, fields.input) {
      return .reply(.invalidParameter(field))
    }
    guard name == interfaces[0].interface.name else {
      return .accepted(interface: name, method: method)
    }
    return .reply(method == "GetInfo" ? info : description(call.parameters["interface"]?.string))
  }

  private var info: VarlinkReply {
    VarlinkReply([
      "vendor": .string(vendor), "product": .string(product), "version": .string(version),
      "url": .string(url), "interfaces": .array(interfaces.map { .string($0.interface.name) }),
    ])
  }

  private func description(_ name: String?) -> VarlinkReply {
    guard let known = interfaces.first(where: { $0.interface.name == name }) else {
      return .interfaceNotFound(name ?? "")
    }
    return VarlinkReply(["description": .string(known.text)])
  }

  /// Source: the members that varlink.org requires of every service.
  private static let service = """
    # The information that each service offers about itself.
    interface org.varlink.service

    # The vendor of the service, and its interfaces.
    method GetInfo() -> (
      vendor: string,
      product: string,
      version: string,
      url: string,
      interfaces: []string
    )

    # The description of an interface.
    method GetInterfaceDescription(interface: string) -> (description: string)

    # The service has no such interface.
    error InterfaceNotFound (interface: string)

    # The interface has no such method.
    error MethodNotFound (method: string)

    # The service does not implement the described method.
    error MethodNotImplemented (method: string)

    # A parameter is missing, unknown, or not of its type.
    error InvalidParameter (parameter: string)

    """
}

extension VarlinkReply {
  /// Returns an error of `org.varlink.service`.
  fileprivate static func failure(_ name: String, _ parameters: [String: JSON]) -> VarlinkReply {
    VarlinkReply(parameters, error: "org.varlink.service." + name)
  }

  fileprivate static func interfaceNotFound(_ name: String) -> VarlinkReply {
    failure("InterfaceNotFound", ["interface": .string(name)])
  }

  /// Returns the error `InvalidParameter` of `org.varlink.service`.
  package static func invalidParameter(_ name: String) -> VarlinkReply {
    failure("InvalidParameter", ["parameter": .string(name)])
  }
}
