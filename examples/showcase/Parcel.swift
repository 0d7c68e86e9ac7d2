package import DBus

/// A structure inside a structure: `(su(dd))` on the bus.
package struct Parcel: BusStructure {
  var content: String
  var grams: UInt32
  var place: Place

  package static let layout = StructureLayout(Parcel.init(content:grams:place:), \.content, \.grams, \.place)
}

/// Where a parcel is: `(dd)` on the bus.
package struct Place: BusStructure {
  var latitude: Double
  var longitude: Double

  package static let layout = StructureLayout(Place.init(latitude:longitude:), \.latitude, \.longitude)
}
