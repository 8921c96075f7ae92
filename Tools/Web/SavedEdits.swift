import Cambium
import CambiumToolKit
import Foundation

/// Edits that a page has collected: all of them are made, in one transaction, or none.
///
/// Each says what it found before. What others have changed since then is not overwritten: the edits are refused,
/// and the answer names the rows.
struct SavedEdits {
  private struct Edit {
    enum Change {
      case set(property: String, new: String?)
      case delete
      case create([String: String?])
    }

    var className: String
    /// The row, which new objects do not have yet.
    var row: Int64?
    /// The primary key that the page has seen.
    var key: String?
    /// What the page has seen, by property.
    var old: [String: String?]
    var change: Change
  }

  private let edits: [Edit]

  private static let limit = 1000

  /// Reads what a page sends.
  init(_ body: [UInt8]) throws(WebRefusal) {
    guard let text = String(validating: body, as: UTF8.self),
      let list = (try? JSONReader.value(of: text))?["edits"]?.elements
    else { throw WebRefusal(400, "The body is no JSON with a list of edits.") }
    guard list.count <= Self.limit else {
      throw WebRefusal(413, "At most \(Self.limit) edits are saved at once.")
    }
    var edits: [Edit] = []
    for (number, json) in list.enumerated() {
      guard let edit = Self.edit(json) else {
        throw Self.refusal(number, "It is no edit that this server knows.")
      }
      edits.append(edit)
    }
    self.edits = edits
  }

  private static func edit(_ json: JSONValue) -> Edit? {
    guard let change = json["change"]?.text, let className = json["class"]?.text else { return nil }
    let row = json["row"]?.text.flatMap { Int64($0) }
    let key = json["key"]?.text
    switch change {
    case "set":
      guard let row, let property = json["property"]?.text, let old = cell(json["old"]),
        let new = cell(json["new"])
      else { return nil }
      return Edit(
        className: className, row: row, key: key, old: [property: old],
        change: .set(property: property, new: new))
    case "delete":
      guard let row, let old = cells(json["old"]) else { return nil }
      return Edit(className: className, row: row, key: key, old: old, change: .delete)
    case "create":
      guard let new = cells(json["new"]) else { return nil }
      return Edit(className: className, row: nil, key: nil, old: [:], change: .create(new))
    default: return nil
    }
  }

  /// A text or null; nil for anything else.
  private static func cell(_ json: JSONValue?) -> String?? {
    switch json {
    case .string(let text): .some(text)
    case .null: .some(nil)
    default: nil
    }
  }

  private static func cells(_ json: JSONValue?) -> [String: String?]? {
    guard let members = json?.members else { return nil }
    var cells: [String: String?] = [:]
    for member in members {
      guard let cell = cell(member.value) else { return nil }
      cells[member.name] = .some(cell)
    }
    return cells
  }

  private static func refusal(_ number: Int, _ reason: String) -> WebRefusal {
    WebRefusal(400, reason, [.init("edit", .integer(Int64(number)))])
  }

  // MARK: Saving

  /// Makes the edits in the transaction that `realm` is in; returns the row of each edit's object.
  ///
  /// When it throws, the transaction has to be cancelled.
  func apply(to realm: Realm) throws(WebRefusal) -> [Int64] {
    // All are compared before the first is made, or one could meet what an earlier one has made.
    let conflicts = try conflicts(in: realm)
    guard conflicts.isEmpty else {
      throw WebRefusal(
        409, "Somebody else has changed what you have edited. Nothing was saved.",
        [.init("conflicts", .array(conflicts))])
    }
    var decoder = ObjectDecoder(realm.schema.objectSchema)
    decoder.find = { name, reference throws(TransferError) in
      if let row = reference["$key"]?.integer {
        return realm.dynamicObject(ofType: name, rowKey: row)
      }
      guard let key = realm.schema[name]?.primaryKeyProperty else { return nil }
      return realm.dynamicObject(
        ofType: name, primaryKey: try ObjectDecoder([]).value(reference, of: key))
    }
    var rows: [Int64] = []
    for (number, edit) in edits.enumerated() {
      do throws(TransferError) {
        rows.append(try make(edit, realm, decoder))
      } catch {
        throw Self.refusal(number, error.description)
      }
    }
    return rows
  }

  private func conflicts(in realm: Realm) throws(WebRefusal) -> [JSONValue] {
    let encoder = CellEncoder(realm, textLimit: CellEncoder.objectTextLimit)
    var conflicts: [JSONValue] = []
    for (number, edit) in edits.enumerated() {
      guard let type = realm.schema[edit.className], !type.isEmbedded else {
        throw Self.refusal(
          number, "There is no class '\(edit.className)' whose objects can be edited.")
      }
      guard let row = edit.row else { continue }
      var place: [JSONValue.Member] = [
        .init("edit", .integer(Int64(number))), .init("class", .string(edit.className)),
        .init("row", .string("\(row)")),
      ]
      guard let object = realm.dynamicObject(ofType: edit.className, rowKey: row),
        // The row may be another object's by now.
        type.primaryKeyProperty == nil || encoder.name(of: object) == edit.key ?? ""
      else {
        place.append(.init("gone", .bool(true)))
        conflicts.append(.object(place))
        continue
      }
      for (name, expected) in edit.old.sorted(by: { $0.key < $1.key }) {
        guard let index = type.properties.firstIndex(where: { $0.name == name }),
          !type.properties[index].isComputed
        else { throw Self.refusal(number, "'\(type.className)' has no property '\(name)'.") }
        let cell = encoder.cell(of: object, index, type.properties[index])
        // What is not seen whole would be overwritten unseen.
        guard cell["cut"] == nil else {
          throw Self.refusal(
            number,
            "'\(type.className).\(name)' is too long to be edited here; export and import it.")
        }
        let found = cell.comparable
        guard found != expected else { continue }
        conflicts.append(
          .object(
            place + [
              .init("property", .string(name)), .init("expected", expected.json),
              .init("found", found.json),
            ]))
      }
    }
    return conflicts
  }

  private func make(
    _ edit: Edit, _ realm: Realm, _ decoder: ObjectDecoder
  ) throws(TransferError) -> Int64 {
    guard let type = decoder.classes[edit.className] else { return 0 }
    switch edit.change {
    case .set(let name, let new):
      guard
        let object = edit.row.flatMap({ realm.dynamicObject(ofType: edit.className, rowKey: $0) })
      else { throw TransferError("an earlier edit deletes the object") }
      guard let index = type.properties.firstIndex(where: { $0.name == name }),
        !type.properties[index].isPrimaryKey
      else { throw TransferError("'\(name)' is the primary key, which cannot be changed") }
      let json = try member(name, new, type).value
      let value: Any?
      do throws(TransferError) {
        value = try decoder.value(json, of: type.properties[index])
      } catch {
        throw TransferError("'\(type.className).\(name)': \(error)")
      }
      realm.assign([(index, value)], to: object)
      return object.rowKey
    case .delete:
      guard
        let object = edit.row.flatMap({ realm.dynamicObject(ofType: edit.className, rowKey: $0) })
      else { throw TransferError("an earlier edit deletes the object") }
      let row = object.rowKey
      realm.delete(object)
      return row
    case .create(let cells):
      var members: [JSONValue.Member] = []
      for (name, text) in cells.sorted(by: { $0.key < $1.key }) {
        members.append(try member(name, text, type))
      }
      let values = try decoder.values(members, of: type)
      if let key = type.primaryKeyProperty {
        guard let value = values[key.name] else {
          throw TransferError("'\(key.name)', the primary key, is missing")
        }
        guard realm.dynamicObject(ofType: type.className, primaryKey: value) == nil else {
          throw TransferError("an object with this primary key is there already")
        }
      }
      return realm.dynamicCreate(type.className, value: values).rowKey
    }
  }

  private func member(
    _ name: String, _ text: String?, _ type: ObjectSchema
  ) throws(TransferError) -> JSONValue.Member {
    guard let property = type[name], !property.isComputed else {
      throw TransferError("'\(type.className)' has no property '\(name)'")
    }
    do throws(TransferError) {
      return JSONValue.Member(name, try ObjectDecoder.json(text, of: property))
    } catch {
      throw TransferError("'\(type.className).\(name)': \(error)")
    }
  }
}

extension JSONValue {
  /// The text of a cell, by which two are compared; nil for null.
  fileprivate var comparable: String? { text ?? self["text"]?.text }
}

extension String? {
  fileprivate var json: JSONValue { map { .string($0) } ?? .null }
}
