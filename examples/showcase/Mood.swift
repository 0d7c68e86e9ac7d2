import DBus

/// A string on the bus that has one of these values.
enum Mood: String, BusValue {
  case calm, merry, tired
}
