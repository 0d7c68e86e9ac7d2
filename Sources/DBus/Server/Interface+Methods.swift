/// Declaring methods.
///
/// The handler's parameters are the method's arguments, and its result is the reply. You name both in order, so that people who introspect the object
/// can read the names. A synchronous handler runs on the connection's loop, and has answered when it returns; an asynchronous handler runs as a task
/// of its own. A handler that throws refuses the call: see ``NamedOnBus``.
///
/// A wrong number of names is a programming error and traps, and so do types that form no signature together. If the compiler cannot infer the form,
/// write the closure's types: `{ (counter: isolated Counter, call: Call) -> Int32 in … }`.
extension Interface {
  /// A synchronous method.
  ///
  /// ```swift
  /// var calculator = Interface("org.example.Calculator")
  /// calculator.method("Divide", in: "dividend", "divisor", out: "quotient", "remainder") { (a: Int32, b: Int32) in
  ///   guard b != 0 else { throw ErrorReply("org.example.Error.DivisionByZero", "the divisor is 0") }
  ///   return (a / b, a % b)
  /// }
  /// ```
  @_disfavoredOverload
  public mutating func method<each Input: BusValue, each Output: BusValue>(
    _ member: MemberName, in inNames: String..., out outNames: String...,
    handler: @escaping @Sendable (repeat each Input) throws -> (repeat each Output)
  ) {
    addMethod(member, in: inNames, repeat (each Input).self, out: outNames, repeat (each Output).self) { call in
      let input: (repeat each Input) = try call.decodeValues()
      let output: (repeat each Output) = try handler(repeat each input)
      call.reply(repeat each output)
    }
  }

  /// A synchronous method with one result.
  public mutating func method<each Input: BusValue, Output: BusValue>(
    _ member: MemberName, in inNames: String..., out outNames: String...,
    handler: @escaping @Sendable (repeat each Input) throws -> Output
  ) {
    addMethod(member, in: inNames, repeat (each Input).self, out: outNames, Output.self) { call in
      let input: (repeat each Input) = try call.decodeValues()
      call.reply(try handler(repeat each input))
    }
  }

  /// A synchronous method that uses its call.
  @_disfavoredOverload
  public mutating func method<each Input: BusValue, each Output: BusValue>(
    _ member: MemberName, in inNames: String..., out outNames: String...,
    handler: @escaping @Sendable (Call, repeat each Input) throws -> (repeat each Output)
  ) {
    addMethod(member, in: inNames, repeat (each Input).self, out: outNames, repeat (each Output).self) { call in
      let input: (repeat each Input) = try call.decodeValues()
      let output: (repeat each Output) = try handler(call, repeat each input)
      call.reply(repeat each output)
    }
  }

  /// A synchronous method with one result that uses its call.
  public mutating func method<each Input: BusValue, Output: BusValue>(
    _ member: MemberName, in inNames: String..., out outNames: String...,
    handler: @escaping @Sendable (Call, repeat each Input) throws -> Output
  ) {
    addMethod(member, in: inNames, repeat (each Input).self, out: outNames, Output.self) { call in
      let input: (repeat each Input) = try call.decodeValues()
      call.reply(try handler(call, repeat each input))
    }
  }

  /// An asynchronous method.
  ///
  /// Calls may overtake one another: if their order matters, answer synchronously. The task is cancelled when the caller leaves the bus, or the
  /// connection closes.
  ///
  /// ```swift
  /// var kitchen = Interface("org.example.Kitchen")
  /// kitchen.method("Boil", in: "minutes", out: "said") { (minutes: UInt32) in
  ///   try await Task.sleep(for: .seconds(60 * Int(minutes)))
  ///   return "done"
  /// }
  /// ```
  @_disfavoredOverload
  public mutating func method<each Input: BusValue, each Output: BusValue>(
    _ member: MemberName, in inNames: String..., out outNames: String...,
    handler: @escaping @Sendable (repeat each Input) async throws -> (repeat each Output)
  ) {
    addMethod(member, in: inNames, repeat (each Input).self, out: outNames, repeat (each Output).self) { call in
      let input: (repeat each Input) = try call.decodeValues()
      call.connection.startHandler(of: call) {
        let output: (repeat each Output) = try await handler(repeat each input)
        call.reply(repeat each output)
      }
    }
  }

  /// An asynchronous method with one result.
  public mutating func method<each Input: BusValue, Output: BusValue>(
    _ member: MemberName, in inNames: String..., out outNames: String...,
    handler: @escaping @Sendable (repeat each Input) async throws -> Output
  ) {
    addMethod(member, in: inNames, repeat (each Input).self, out: outNames, Output.self) { call in
      let input: (repeat each Input) = try call.decodeValues()
      call.connection.startHandler(of: call) {
        call.reply(try await handler(repeat each input))
      }
    }
  }

  /// An asynchronous method that uses its call.
  @_disfavoredOverload
  public mutating func method<each Input: BusValue, each Output: BusValue>(
    _ member: MemberName, in inNames: String..., out outNames: String...,
    handler: @escaping @Sendable (Call, repeat each Input) async throws -> (repeat each Output)
  ) {
    addMethod(member, in: inNames, repeat (each Input).self, out: outNames, repeat (each Output).self) { call in
      let input: (repeat each Input) = try call.decodeValues()
      call.connection.startHandler(of: call) {
        let output: (repeat each Output) = try await handler(call, repeat each input)
        call.reply(repeat each output)
      }
    }
  }

  /// An asynchronous method with one result that uses its call.
  public mutating func method<each Input: BusValue, Output: BusValue>(
    _ member: MemberName, in inNames: String..., out outNames: String...,
    handler: @escaping @Sendable (Call, repeat each Input) async throws -> Output
  ) {
    addMethod(member, in: inNames, repeat (each Input).self, out: outNames, Output.self) { call in
      let input: (repeat each Input) = try call.decodeValues()
      call.connection.startHandler(of: call) {
        call.reply(try await handler(call, repeat each input))
      }
    }
  }

  /// A synchronous method that uses the state of an actor on the connection's loop.
  ///
  /// ```swift
  /// actor Counter {
  ///   nonisolated let loop: EventLoop
  ///   nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  ///   var value: Int32 = 0
  ///
  ///   init(loop: EventLoop) { self.loop = loop }
  ///
  ///   nonisolated var interface: Interface {
  ///     var interface = Interface("org.example.Counter")
  ///     interface.method("Add", in: "amount", out: "value", on: self) { (counter, call, amount: Int32) -> Int32 in
  ///       counter.value += amount
  ///       return counter.value
  ///     }
  ///     return interface
  ///   }
  /// }
  ///
  /// let connection = try await Connection.session()
  /// connection.export(Counter(loop: connection.loop).interface, at: "/org/example/Counter")
  /// ```
  @_disfavoredOverload
  public mutating func method<Owner: Actor, each Input: BusValue, each Output: BusValue>(
    _ member: MemberName, in inNames: String..., out outNames: String..., on actor: Owner,
    handler: @escaping @Sendable (isolated Owner, Call, repeat each Input) throws -> (repeat each Output)
  ) {
    addMethod(member, in: inNames, repeat (each Input).self, out: outNames, repeat (each Output).self) { call in
      let input: (repeat each Input) = try call.decodeValues()
      try call.enter(actor) { actor in
        let output: (repeat each Output) = try handler(actor, call, repeat each input)
        call.reply(repeat each output)
      }
    }
  }

  /// A synchronous method with one result that uses the state of an actor on the connection's loop.
  public mutating func method<Owner: Actor, each Input: BusValue, Output: BusValue>(
    _ member: MemberName, in inNames: String..., out outNames: String..., on actor: Owner,
    handler: @escaping @Sendable (isolated Owner, Call, repeat each Input) throws -> Output
  ) {
    addMethod(member, in: inNames, repeat (each Input).self, out: outNames, Output.self) { call in
      let input: (repeat each Input) = try call.decodeValues()
      try call.enter(actor) { actor in
        call.reply(try handler(actor, call, repeat each input))
      }
    }
  }

  /// An asynchronous method that uses the state of an actor, on any executor.
  @_disfavoredOverload
  public mutating func method<Owner: Actor, each Input: BusValue, each Output: BusValue>(
    _ member: MemberName, in inNames: String..., out outNames: String..., on actor: Owner,
    handler: @escaping @Sendable (isolated Owner, Call, repeat each Input) async throws -> (repeat each Output)
  ) {
    addMethod(member, in: inNames, repeat (each Input).self, out: outNames, repeat (each Output).self) { call in
      let input: (repeat each Input) = try call.decodeValues()
      @Sendable func answer(on actor: isolated Owner) async throws {
        let output: (repeat each Output) = try await handler(actor, call, repeat each input)
        call.reply(repeat each output)
      }
      call.connection.startHandler(of: call) { try await answer(on: actor) }
    }
  }

  /// An asynchronous method with one result that uses the state of an actor, on any executor.
  public mutating func method<Owner: Actor, each Input: BusValue, Output: BusValue>(
    _ member: MemberName, in inNames: String..., out outNames: String..., on actor: Owner,
    handler: @escaping @Sendable (isolated Owner, Call, repeat each Input) async throws -> Output
  ) {
    addMethod(member, in: inNames, repeat (each Input).self, out: outNames, Output.self) { call in
      let input: (repeat each Input) = try call.decodeValues()
      @Sendable func answer(on actor: isolated Owner) async throws {
        call.reply(try await handler(actor, call, repeat each input))
      }
      call.connection.startHandler(of: call) { try await answer(on: actor) }
    }
  }

  /// A method that answers later. See ``Reply``.
  public mutating func method<each Input: BusValue, each Output: BusValue>(
    _ member: MemberName, in inNames: String..., out outNames: String...,
    handler: @escaping @Sendable (Reply<repeat each Output>, repeat each Input) throws -> Void
  ) {
    addMethod(member, in: inNames, repeat (each Input).self, out: outNames, repeat (each Output).self) { call in
      let input: (repeat each Input) = try call.decodeValues()
      try handler(Reply<repeat each Output>(call: call), repeat each input)
    }
  }

  /// A method that answers later, and uses the state of an actor on the connection's loop.
  public mutating func method<Owner: Actor, each Input: BusValue, each Output: BusValue>(
    _ member: MemberName, in inNames: String..., out outNames: String..., on actor: Owner,
    handler: @escaping @Sendable (isolated Owner, Reply<repeat each Output>, repeat each Input) throws -> Void
  ) {
    addMethod(member, in: inNames, repeat (each Input).self, out: outNames, repeat (each Output).self) { call in
      let input: (repeat each Input) = try call.decodeValues()
      try call.enter(actor) { actor in
        try handler(actor, Reply<repeat each Output>(call: call), repeat each input)
      }
    }
  }
}

extension Interface {
  /// A method that a method of the actor answers: `{ $0.add }`. That method takes the ``Reply``, and then the values of the call.
  package mutating func answer<Owner: Actor, each Input: BusValue, each Output: BusValue>(
    _ member: MemberName, in inNames: String..., out outNames: String..., on actor: Owner,
    by answer: @escaping @Sendable (isolated Owner) -> (Reply<repeat each Output>, repeat each Input) throws -> Void
  ) {
    addMethod(member, in: inNames, repeat (each Input).self, out: outNames, repeat (each Output).self) { call in
      let input: (repeat each Input) = try call.decodeValues()
      try call.enter(actor) { actor in
        try answer(actor)(Reply<repeat each Output>(call: call), repeat each input)
      }
    }
  }

  /// The same for one result, which the method returns. It takes the call in place of the ``Reply``.
  package mutating func answer<Owner: Actor, each Input: BusValue, Output: BusValue>(
    _ member: MemberName, in inNames: String..., out outNames: String..., on actor: Owner,
    by answer: @escaping @Sendable (isolated Owner) -> (Call, repeat each Input) throws -> Output
  ) {
    addMethod(member, in: inNames, repeat (each Input).self, out: outNames, Output.self) { call in
      let input: (repeat each Input) = try call.decodeValues()
      try call.enter(actor) { actor in
        call.reply(try answer(actor)(call, repeat each input))
      }
    }
  }
}

extension Call {
  /// Handlers are called on the loop's thread. An actor with another executor may still be on this thread, and the runtime knows.
  fileprivate func enter<Owner: Actor>(_ actor: Owner, _ body: (isolated Owner) throws -> Void) rethrows {
    let loop = connection.loop
    guard actor.unownedExecutor.asSerialExecutor() === loop else { return try actor.assumeIsolated(body) }
    try loop.enter(actor, body)
  }
}
