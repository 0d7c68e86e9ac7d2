import DBus
import DBusFoundation
import FoundationEssentials

extension Showcase {
  /// A method for each type, which returns its argument.
  nonisolated func declareEchoes(in interface: inout Interface) {
    declareEcho("EchoByte", of: UInt8.self, in: &interface)
    declareEcho("EchoBoolean", of: Bool.self, in: &interface)
    declareEcho("EchoInt16", of: Int16.self, in: &interface)
    declareEcho("EchoUInt16", of: UInt16.self, in: &interface)
    declareEcho("EchoInt32", of: Int32.self, in: &interface)
    declareEcho("EchoUInt32", of: UInt32.self, in: &interface)
    declareEcho("EchoInt64", of: Int64.self, in: &interface)
    declareEcho("EchoUInt64", of: UInt64.self, in: &interface)
    declareEcho("EchoDouble", of: Double.self, in: &interface)
    declareEcho("EchoString", of: String.self, in: &interface)
    declareEcho("EchoObjectPath", of: ObjectPath.self, in: &interface)
    declareEcho("EchoSignature", of: Signature.self, in: &interface)
    declareEcho("EchoFileDescriptor", of: OwnedFileDescriptor.self, in: &interface)
    declareEcho("EchoBytes", of: Data.self, in: &interface)
    declareEcho("EchoStrings", of: [String].self, in: &interface)
    declareEcho("EchoDictionary", of: [String: Variant].self, in: &interface)
    declareEcho("EchoNested", of: [String: [Structure<Int32, Variant>]].self, in: &interface)
    declareEcho("EchoVariant", of: Variant.self, in: &interface)
    declareEcho("EchoStructure", of: Parcel.self, in: &interface)
  }

  private nonisolated func declareEcho<Value: BusValue>(
    _ member: MemberName, of type: Value.Type, in interface: inout Interface
  ) {
    interface.method(member, in: "value", out: "value") { (value: Value) in value }
  }
}
