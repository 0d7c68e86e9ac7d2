import DBus

/// A string on the bus, of which only these mean something.
enum Mood: String, BusValue {
  case calm, merry, tired
}
