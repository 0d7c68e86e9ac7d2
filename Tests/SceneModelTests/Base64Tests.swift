import SceneModel
import SceneTestSupport
import Testing

@Suite struct Base64Tests {
  @Test(arguments: [
    ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"), ("Zm9vYmE=", "fooba"),
    ("Zm9vYmFy", "foobar"), (" Z\tm9\r\nv \n", "foo"), ("Z g = =", "f"), ("\nZm9v\nYmFy", "foobar"),
  ])
  func `letters become bytes`(text: String, bytes: String) {
    #expect(Base64.decode(Text(text)) == Array(bytes.utf8))
  }

  @Test(arguments: [
    "Z", "Zg", "Zg=", "Zg===", "Zm8", "Zm8==", "Zm9v=", "=", "====", "Zg==Zg==", "Zg=g", "Zh==", "Zm9=", "Zm9v!",
    "Zm9-", "Zm9_", "Zg\u{A0}==", "Zm9\0", "Zm9vZ", "Zm9v====", "=Zm9v",
  ])
  func `what is no base64 is none`(text: String) {
    #expect(Base64.decode(Text(text)) == nil)
  }

  @Test func `bytes come back from their letters`() {
    var random = SeededRandom(seed: 64)
    for count in 0..<500 {
      let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      let text = Base64.encode(bytes)
      #expect(text.count == (count + 2) / 3 * 4)
      #expect(text.withUnsafeBytes { Base64.decode($0) } == bytes)
      var broken: [UInt8] = []
      for letter in text { broken += random.once(in: 3) ? [letter, 0x0A] : [letter] }
      #expect(broken.withUnsafeBytes { Base64.decode($0) } == bytes)
    }
  }

  @Test(.timeLimit(.minutes(1))) func `megabytes are nothing to be afraid of`() {
    let bytes = [UInt8](repeating: 0xA5, count: 12 << 20)
    #expect(Base64.encode(bytes).withUnsafeBytes { Base64.decode($0) } == bytes)
  }
}
