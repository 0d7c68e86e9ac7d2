/// Runs a program along a text, with all of its threads at once, so that no text makes it go back.
///
/// A thread is a place in the program, with the ends of the groups on its way there. The threads at one place of the text stand in the order in which
/// Perl would try them, and each place of the program has one of them at most: the first is preferred, and what follows is the same for both.
struct Machine {
  private let instructions: UnsafeBufferPointer<Program.Instruction>
  private let program: Program
  private let text: UnsafeRawBufferPointer
  private let isWhole: Bool
  private let slotCount: Int

  /// For each instruction the round in which a thread last came there.
  private let marks: UnsafeMutablePointer<UInt32>
  private var round: UInt32 = 0
  private var present: Threads
  private var next: Threads
  /// Of the thread that is being moved, and of the best match.
  private let slots: UnsafeMutablePointer<UInt32>
  private let best: UnsafeMutablePointer<UInt32>
  private var hasMatched = false
  /// What is still to be followed: an instruction, or, with `restoring`, a slot and its earlier value.
  private let stack: UnsafeMutablePointer<UInt32>
  private var stackCount = 0
  private(set) var steps: Int

  private static let restoring: UInt32 = 1 << 31
  private static let unset = UInt32.max

  private struct Threads {
    let places: UnsafeMutablePointer<UInt32>
    let slots: UnsafeMutablePointer<UInt32>
    var count = 0
  }

  static func run(
    _ program: Program, _ extent: RegularExpression.Extent, along text: UnsafeRawBufferPointer, steps: inout Int
  ) -> RegularExpression.Outcome {
    let size = program.instructions.count
    let slots = 2 * program.names.count
    // Each instruction is on the stack once, and each that saves a second time, with two words.
    let words = size + 2 * size * (1 + slots) + 2 * slots + 4 * size
    return withUnsafeTemporaryAllocation(of: UInt32.self, capacity: words) { memory in
      program.instructions.withUnsafeBufferPointer { instructions in
        guard var rest = memory.baseAddress else { return .no }
        func take(_ count: Int) -> UnsafeMutablePointer<UInt32> {
          defer { rest += count }
          return rest
        }
        var machine = Machine(
          instructions: instructions, program: program, text: text, isWhole: extent == .whole, slotCount: slots,
          marks: take(size), present: Threads(places: take(size), slots: take(size * slots)),
          next: Threads(places: take(size), slots: take(size * slots)), slots: take(slots), best: take(slots),
          stack: take(4 * size), steps: steps)
        machine.marks.initialize(repeating: 0, count: size)
        // The marks have to be cleared too.
        machine.steps -= size / 8
        let outcome = machine.run()
        steps = machine.steps
        return outcome
      }
    }
  }

  // MARK: Along the text

  private mutating func run() -> RegularExpression.Outcome {
    var position = 0
    advance { $0.begin(at: 0) }
    while position < text.count {
      // Without groups one match is as good as another.
      if hasMatched, present.count == 0 || slotCount == 0 { break }
      if steps < 0 { return .exhausted }
      if present.count > 0 {
        let (scalar, width) = scalar(at: position)
        position += width
        advance { machine in
          machine.move(past: scalar, to: position)
          if !machine.isWhole, !machine.hasMatched, !machine.program.filter.isAtStart { machine.begin(at: position) }
        }
      } else if isWhole || program.filter.isAtStart {
        break
      } else {
        position = nextStart(after: position)
        advance { $0.begin(at: position) }
      }
    }
    return hasMatched ? .yes(groups) : .no
  }

  /// Makes the threads of the next place, which then is the present one.
  private mutating func advance(_ make: (inout Self) -> Void) {
    round += 1
    next.count = 0
    make(&self)
    swap(&present, &next)
  }

  /// The next place where a match can begin, or the end.
  private mutating func nextStart(after position: Int) -> Int {
    var start = position + 1
    while start < text.count, program.filter.first.map({ !$0.contains(text[start]) }) ?? (text[start] & 0xC0 == 0x80) {
      start += 1
    }
    steps -= (start - position) / 4
    return start
  }

  private var groups: [Range<Int>?] {
    stride(from: 0, to: slotCount, by: 2).map { slot in
      let (start, end) = (best[slot], best[slot + 1])
      return start == Machine.unset || end == Machine.unset ? nil : Int(start)..<Int(end)
    }
  }

  /// The scalar that begins at a byte of valid UTF-8, and its width.
  private func scalar(at position: Int) -> (UInt32, Int) {
    let lead = UInt32(text[position])
    func tail(_ offset: Int) -> UInt32 { UInt32(text[position + offset]) & 0x3F }
    if lead < 0x80 { return (lead, 1) }
    if lead < 0xE0 { return ((lead & 0x1F) << 6 | tail(1), 2) }
    if lead < 0xF0 { return ((lead & 0x0F) << 12 | tail(1) << 6 | tail(2), 3) }
    return ((lead & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4)
  }

  // MARK: Threads

  private mutating func move(past scalar: UInt32, to position: Int) {
    // Above ASCII a set is searched.
    steps -= scalar < 128 ? present.count : 2 * present.count
    for thread in 0..<present.count {
      let next: UInt32
      switch instructions[Int(present.places[thread])] {
      case .scalar(let wanted, let following):
        if wanted != scalar { continue }
        next = following
      case .set(let set, let following):
        if !program.contains(scalar, in: set) { continue }
        next = following
      case .split, .save, .assertion, .match: continue
      }
      steps -= slotCount / 4
      slots.update(from: present.slots + thread * slotCount, count: slotCount)
      // What would be tried after a match is not tried.
      if follow(next, at: position) { return }
    }
  }

  private mutating func begin(at position: Int) {
    slots.update(repeating: Machine.unset, count: slotCount)
    _ = follow(program.start, at: position)
  }

  /// Follows all ways from a place to the next scalars, the preferred first. Returns whether there was a match.
  private mutating func follow(_ start: UInt32, at position: Int) -> Bool {
    push(start)
    while stackCount > 0 {
      var place = pop()
      if place & Machine.restoring != 0 {
        slots[Int(place & ~Machine.restoring)] = pop()
        continue
      }
      way: while marks[Int(place)] != round {
        marks[Int(place)] = round
        steps -= 1
        switch instructions[Int(place)] {
        case .scalar, .set:
          next.places[next.count] = place
          (next.slots + next.count * slotCount).update(from: slots, count: slotCount)
          next.count += 1
          steps -= slotCount / 4
          break way
        case .split(let preferred, let other):
          push(other)
          place = preferred
        case .save(let slot, let following):
          push(slots[Int(slot)])
          push(slot | Machine.restoring)
          slots[Int(slot)] = UInt32(position)
          place = following
        case .assertion(let assertion, let following):
          if !assertion.holds(at: position, in: text) { break way }
          place = following
        case .match:
          if isWhole, position != text.count { break way }
          best.update(from: slots, count: slotCount)
          hasMatched = true
          stackCount = 0
          return true
        }
      }
    }
    return false
  }

  private mutating func push(_ word: UInt32) {
    stack[stackCount] = word
    stackCount += 1
  }

  private mutating func pop() -> UInt32 {
    stackCount -= 1
    return stack[stackCount]
  }
}
