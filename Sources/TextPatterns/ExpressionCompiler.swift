/// Writes the program of a tree, from its end to its beginning.
///
/// Perl leaves a repetition after a round that took no text. To be exact in this, the program has to know whether the present round has taken any: so
/// each part is written with two continuations, one for the case that it took nothing, and one for the case that it took something. A part is
/// written twice only where the two differ, within a repetition of what may be empty.
struct ExpressionCompiler {
  private var instructions: [Program.Instruction] = [.match]
  private var sets: [ScalarSet] = []
  private var numbers: [ScalarSet: UInt32] = [:]
  /// Of the outermost repetition that is being written.
  private var column: Int?

  static func program(of source: String, ignoringCase: Bool) throws(ExpressionError) -> Program {
    var parser = try ExpressionParser(source, ignoringCase: ignoringCase)
    let tree = try parser.whole()
    var compiler = ExpressionCompiler()
    let start = try compiler.write(tree, 0, 0)
    return Program(
      source: source, ignoresCase: ignoringCase, instructions: compiler.instructions, start: start, sets: compiler.sets,
      names: parser.names, filter: ExpressionFilter(tree))
  }

  /// Writes what matches `node` and goes on at `idle` if it took nothing, at `moved` if it took something. Returns where it begins.
  private mutating func write(_ node: ExpressionNode, _ idle: UInt32, _ moved: UInt32) throws(ExpressionError) -> UInt32
  {
    switch node {
    case .empty: return idle
    case .set(let set):
      if let scalar = set.only { return try emit(.scalar(scalar.value, next: moved)) }
      return try emit(.set(number(of: set), next: moved))
    case .assertion(let assertion): return try emit(.assertion(assertion, next: idle))
    case .sequence(let nodes): return try sequence(nodes[...], idle, moved)
    case .choice(let branches):
      var entry = try write(branches[branches.count - 1], idle, moved)
      for branch in branches.dropLast().reversed() { entry = try emit(.split(write(branch, idle, moved), entry)) }
      return entry
    case .group(let group, let node):
      let slot = 2 * UInt32(group)
      let closed = try emit(.save(slot: slot + 1, next: moved))
      let isSplit = idle != moved && node.isNullable
      let closedIdle = isSplit ? try emit(.save(slot: slot + 1, next: idle)) : closed
      return try emit(.save(slot: slot, next: write(node, closedIdle, closed)))
    case .repetition(let repetition):
      let outer = column
      column = outer ?? repetition.column
      defer { column = outer }
      return try write(repetition, idle, moved)
    }
  }

  private mutating func sequence(
    _ nodes: ArraySlice<ExpressionNode>, _ idle: UInt32, _ moved: UInt32
  ) throws(ExpressionError) -> UInt32 {
    // As long as all before may be empty, a node may be reached by one that has taken nothing.
    let firstMoving = nodes.firstIndex { !$0.isNullable } ?? nodes.endIndex
    var (idle, moved) = (idle, moved)
    for index in nodes.indices.reversed() {
      let isSplit = idle != moved && index < firstMoving
      let entry = isSplit ? try write(nodes[index], idle, moved) : nil
      if index > nodes.startIndex || !isSplit { moved = try write(nodes[index], moved, moved) }
      idle = entry ?? moved
    }
    return idle
  }

  private mutating func write(
    _ repetition: ExpressionNode.Repetition, _ idle: UInt32, _ moved: UInt32
  ) throws(ExpressionError) -> UInt32 {
    let node = repetition.node
    let isNullable = node.isNullable
    func split(_ round: UInt32, _ exit: UInt32) -> Program.Instruction {
      repetition.isLazy ? .split(exit, round) : .split(round, exit)
    }

    // The rounds that may be left out: how to begin them after some text was taken, and after none was.
    var entry = moved
    var idleEntry = idle
    var lastRound: UInt32?
    if let most = repetition.most {
      for left in 0..<(most - repetition.least) {
        let next = entry
        if left == most - repetition.least - 1, idle != moved {
          idleEntry = try emit(split(write(node, idle, next), idle))
          if repetition.least == 0 { return idleEntry }
        }
        entry = try emit(split(write(node, moved, next), moved))
      }
    } else {
      entry = try emit(.match)
      let round = try write(node, isNullable ? moved : entry, entry)
      instructions[Int(entry)] = split(round, moved)
      if !isNullable { lastRound = round }
      idleEntry = idle == moved ? entry : try emit(split(write(node, idle, entry), idle))
    }
    if idle == moved { idleEntry = entry }

    // The rounds that have to be.
    for left in 0..<repetition.least {
      let isSplit = idleEntry != entry && isNullable
      let nextIdle = isSplit ? try write(node, idleEntry, entry) : nil
      if left == 0, let lastRound {
        entry = lastRound
      } else if left < repetition.least - 1 || !isSplit {
        entry = try write(node, entry, entry)
      }
      idleEntry = nextIdle ?? entry
    }
    return idleEntry
  }

  private mutating func emit(_ instruction: Program.Instruction) throws(ExpressionError) -> UInt32 {
    if instructions.count == ExpressionLimits.steps {
      throw ExpressionError(
        column: column ?? 1, reason: "written out, the expression has more than \(ExpressionLimits.steps) steps")
    }
    instructions.append(instruction)
    return UInt32(instructions.count - 1)
  }

  private mutating func number(of set: ScalarSet) -> UInt32 {
    if let known = numbers[set] { return known }
    let number = UInt32(sets.count)
    sets.append(set)
    numbers[set] = number
    return number
  }
}
