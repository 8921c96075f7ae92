/// What is wrong with a document that is read or asked for, in one line.
package struct TransferError: Error, Hashable, CustomStringConvertible {
  package var description: String

  package init(_ description: String) { self.description = description }
}
