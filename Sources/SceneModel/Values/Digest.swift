/// The SHA-256 of a document: 32 bytes that stand for the document.
///
/// A stored digest tells whether a second document equals the first. It is SHA-256, and not a shorter and faster hash, because the documents come
/// from peers: nobody can make two documents with the same digest, even if the digest is in a file that the user's programs can read. A keyed hash
/// would need a stored secret, and would be lost with it.
package struct Digest: Hashable, Sendable {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  package init(of bytes: UnsafeRawBufferPointer) {
    var state = SIMD8<UInt32>(initialState)
    let whole = bytes.count / 64
    // The schedule of a block, reused for each.
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
      guard let schedule = schedule.baseAddress else { return }
      for block in 0..<whole { Digest.add(bytes, at: 64 * block, to: &state, schedule) }
      // The remaining bytes, a bit that ends them, and the length in bits at the end of the last block.
      let rest = bytes.count - 64 * whole
      withUnsafeTemporaryAllocation(byteCount: 128, alignment: 8) { last in
        last.initializeMemory(as: UInt8.self, repeating: 0)
        last.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[(64 * whole)...]))
        last[rest] = 0x80
        let end = rest < 56 ? 64 : 128
        last.storeBytes(of: (UInt64(bytes.count) << 3).bigEndian, toByteOffset: end - 8, as: UInt64.self)
        for offset in stride(from: 0, to: end, by: 64) {
          Digest.add(UnsafeRawBufferPointer(last), at: offset, to: &state, schedule)
        }
      }
    }
    func pair(_ first: Int) -> UInt64 { UInt64(state[first]) << 32 | UInt64(state[first + 1]) }
    words = (pair(0), pair(2), pair(4), pair(6))
  }

  package init(of text: Text) { self = text.withBytes { Digest(of: $0) } }

  /// 64 lowercase digits.
  package var hex: Text {
    let digits = Array("0123456789abcdef".utf8)
    let bytes = [words.0, words.1, words.2, words.3].flatMap { word in
      stride(from: 60, through: 0, by: -4).map { digits[Int(word >> UInt64($0) & 0xF)] }
    }
    return Text(String(decoding: bytes, as: UTF8.self))
  }

  package static func == (one: Digest, other: Digest) -> Bool { one.words == other.words }

  package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }

  /// Adds 64 bytes: the steps and the names of FIPS 180-4.
  private static func add(
    _ bytes: UnsafeRawBufferPointer, at offset: Int, to state: inout SIMD8<UInt32>,
    _ w: UnsafeMutablePointer<UInt32>
  ) {
    for index in 0..<16 {
      w[index] = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 4 * index, as: UInt32.self))
    }
    for index in 16..<64 {
      let (two, fifteen) = (w[index - 2], w[index - 15])
      let first = rotated(fifteen, 7) ^ rotated(fifteen, 18) ^ fifteen >> 3
      let second = rotated(two, 17) ^ rotated(two, 19) ^ two >> 10
      w[index] = w[index - 16] &+ first &+ w[index - 7] &+ second
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    roundConstants.withUnsafeBufferPointer { constants in
      guard let k = constants.baseAddress else { return }
      // After eight rounds each letter is back in its place, so none has to be moved.
      for index in stride(from: 0, to: 64, by: 8) {
        round(a, b, c, &d, e, f, g, &h, k[index] &+ w[index])
        round(h, a, b, &c, d, e, f, &g, k[index + 1] &+ w[index + 1])
        round(g, h, a, &b, c, d, e, &f, k[index + 2] &+ w[index + 2])
        round(f, g, h, &a, b, c, d, &e, k[index + 3] &+ w[index + 3])
        round(e, f, g, &h, a, b, c, &d, k[index + 4] &+ w[index + 4])
        round(d, e, f, &g, h, a, b, &c, k[index + 5] &+ w[index + 5])
        round(c, d, e, &f, g, h, a, &b, k[index + 6] &+ w[index + 6])
        round(b, c, d, &e, f, g, h, &a, k[index + 7] &+ w[index + 7])
      }
    }
    state &+= SIMD8(a, b, c, d, e, f, g, h)
  }

  @inline(__always)
  private static func round(
    _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32,
    _ h: inout UInt32, _ added: UInt32
  ) {
    let first = h &+ (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) &+ (g ^ (e & (f ^ g))) &+ added
    d &+= first
    h = first &+ (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) &+ ((a & b) | (c & (a | b)))
  }

  @inline(__always)
  private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word &>> count | word &<< (32 &- count) }
}

private let initialState: [UInt32] = [
  0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
]

private let roundConstants: [UInt32] = [
  0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
  0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
  0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
  0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
  0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
  0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
  0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
  0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
]
