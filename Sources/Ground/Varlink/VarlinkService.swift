// SPDX-License-Identifier: Apache-2.0

/// What a service says about itself, and the checks that each call has to pass. It answers calls of
/// `org.varlink.service`, which every service has.
package struct VarlinkService: Sendable {
  package var vendor: String
  package var product: String
  package var version: String
  package var url: String
  private let interfaces: [(interface: VarlinkInterface, text: String)]
  private let upgrading: Set<String>

  /// - Parameters:
  ///   - interfaces: their descriptions, in the language of varlink.
  ///   - upgrading: the methods after which a connection carries something else than varlink, with
  ///     their interfaces.
  /// - Throws: `VarlinkInterfaceError`.
  package init(
    vendor: String, product: String, version: String, url: String, interfaces: [String],
    upgrading: Set<String> = []
  ) throws(VarlinkInterfaceError) {
    self.upgrading = upgrading
    (self.vendor, self.product, self.version, self.url) = (vendor, product, version, url)
    var read: [(interface: VarlinkInterface, text: String)] = []
    for text in [Self.service] + interfaces { read.append((try VarlinkInterface(text), text)) }
    self.interfaces = read
  }

  /// What becomes of a call.
  package enum Answer: Sendable, Hashable {
    /// It is answered by this.
    case reply(VarlinkReply)
    /// It has the parameters that the method takes, and waits to be carried out.
    case accepted(interface: String, method: String)
  }

  /// Checks a call.
  package func answer(_ call: VarlinkCall) -> Answer {
    let dot = call.method.lastIndex(of: ".") ?? call.method.startIndex
    let (name, method) = (String(call.method[..<dot]), String(call.method[dot...].dropFirst()))
    guard let known = interfaces.first(where: { $0.interface.name == name }) else {
      return .reply(.interfaceNotFound(name))
    }
    guard let fields = known.interface.method(method) else {
      return .reply(.failure("MethodNotFound", ["method": .string(call.method)]))
    }
    // Either way round.
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
    # What every service says about itself.
    interface org.varlink.service

    # Who made the service, and which interfaces it has.
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

    # The method is described, but this service cannot do it.
    error MethodNotImplemented (method: string)

    # A parameter is missing, unknown, or not of its type.
    error InvalidParameter (parameter: string)

    """
}

extension VarlinkReply {
  /// An error of `org.varlink.service`.
  fileprivate static func failure(_ name: String, _ parameters: [String: JSON]) -> VarlinkReply {
    VarlinkReply(parameters, error: "org.varlink.service." + name)
  }

  fileprivate static func interfaceNotFound(_ name: String) -> VarlinkReply {
    failure("InterfaceNotFound", ["interface": .string(name)])
  }

  /// A parameter that cannot be used.
  package static func invalidParameter(_ name: String) -> VarlinkReply {
    failure("InvalidParameter", ["parameter": .string(name)])
  }
}
