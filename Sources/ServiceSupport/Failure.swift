/// What keeps the service from beginning, in one sentence.
package struct Failure: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
