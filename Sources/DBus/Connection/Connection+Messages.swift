internal import CDBus
internal import Glibc

// MARK: - Messages in

extension Connection: LoopResident {
  nonisolated func drain() -> Bool { loop.enter(self) { $0.drainQueue() } }

  nonisolated func depart() { loop.enter(self) { $0.sendMail() } }

  nonisolated func evict() { assumeIsolated { $0.finish(.closedHere) } }

  private func drainQueue() -> Bool {
    takeIn()
    return serveCalls()
  }

  /// Handles the messages that libdbus has read, up to a bound: replies and signals reach their waiters, calls wait for their turn.
  func takeIn() {
    bytesJustRead = 0
    while unread != DBUS_DISPATCH_COMPLETE, let raw, let message = dbus_connection_pop_message(raw) {
      route(Message(owning: message))
    }
    guard unread != DBUS_DISPATCH_COMPLETE, let raw else { return }
    unread = dbus_connection_get_dispatch_status(raw)
    // Bytes from which libdbus could make no message for lack of memory stay where they are: no further byte need come before the next attempt.
    if unread != DBUS_DISPATCH_COMPLETE { tryAgainSoon() }
  }

  /// Whether libdbus has surely read all that had come: it reads until nothing is left, or until it has more than two KiB.
  var hasReadAll: Bool { 1..<2048 ~= bytesJustRead }

  /// Tries again soon: memory that is missing now may be free in a moment.
  private func tryAgainSoon() {
    if isTryingAgain { return }
    isTryingAgain = true
    _ = loop.timers.schedule(at: Self.pauseWithoutMemory.deadline) { [weak self] in
      guard let self else { return }
      loop.enter(self) { connection in
        connection.isTryingAgain = false
        connection.sendDelayed()
        connection.loop.setHungry(connection)
      }
    }
  }

  /// Long enough for others to free some memory, and short compared with the 25 seconds that a caller waits.
  private static let pauseWithoutMemory = Duration.milliseconds(50)

  /// Reads the messages that came while calls were carried out, and sends the replies, so that new callers come next.
  func breathe() {
    if !outbox.hasAnnouncements { sendMail() }
    driver.readMore()
  }

  /// Whether bytes have come that were not read yet.
  var hasUnread: Bool {
    guard let raw, let descriptor = Mail.descriptor(of: raw) else { return false }
    return LoopDriver.isReadable(descriptor)
  }

  /// Whether messages wait for space in the socket: the next message is sent after them.
  var hasUnsent: Bool { raw.map { dbus_connection_has_messages_to_send($0) != 0 } ?? false }

  /// Whether the next message would be read soon: nothing waits for the socket, and the bus has read most of the bytes in it. If there is no space,
  /// the loop wakes as soon as there is some. We watch for space even while libdbus does: sending a message can flush libdbus's queue, and libdbus
  /// then stops watching without telling us.
  var hasSpace: Bool {
    // The kernel need not be asked after each short answer.
    if mail.sentSinceWritable < Self.shortAnswers && !hasUnsent { return true }
    guard let raw, let descriptor = Mail.descriptor(of: raw) else { return !hasUnsent }
    if !hasUnsent && LoopDriver.isWritable(descriptor) {
      mail.noteWritable()
      return true
    }
    driver.waitForSpace(in: descriptor)
    return false
  }

  /// A socket that is reported as writable takes at least so many more bytes.
  private static let shortAnswers = 2 << 10

  /// The answers to all callers share one queue, the socket, and the bus reads two KiB of it at a time. With a small buffer ``hasSpace`` ends the queue
  /// after ten KiB, a quarter of the buffer, and further answers are given when the bus has read those. The kernel takes twice the number for the buffer.
  func shortenQueue() {
    guard let raw, let descriptor = Mail.descriptor(of: raw) else { return }
    var half: Int32 = 20 << 10
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &half, socklen_t(MemoryLayout<Int32>.size))
  }

  /// The bytes that a header counts, and a message that nobody measures.
  static let (headerSize, unmeasured) = (256, 1 << 20)

  private func route(_ message: consuming Message) {
    switch message.kind {
    case .methodReturn, .error:
      bytesJustRead += Self.unmeasured
      completeCall(with: message)
    case .methodCall: admit(message)
    case .signal:
      bytesJustRead += Self.unmeasured
      if dbus_message_is_signal(message.raw, DBUS_INTERFACE_LOCAL, "Disconnected") != 0 {
        finish(.disconnected)
      } else {
        deliverSignal(message)
      }
    case .unknown: break
    }
  }
}

// MARK: - Messages out

extension Connection {
  /// Sends a message that you made, without waiting.
  ///
  /// The message leaves when this turn of the loop ends, with the turn's other messages. From elsewhere than the loop, it leaves in the order of the
  /// calls. A connection that has ended drops the message, as a bus that ends drops its messages.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// connection.send(try Message.signal(from: "/org/example", "org.example.Log", "Said", "hello"))
  /// ```
  public nonisolated func send(_ message: consuming Message) {
    if loop.isCurrent {
      loop.enter(self) { $0.post(message) }
    } else {
      let box = MessageBox(message)
      loop.execute { self.assumeIsolated { $0.post(box.message) } }
    }
  }

  /// Emits a signal, to all subscribers or to `destination` alone.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// try connection.emit(from: "/org/example/Greeter", "org.example.Greeter", "Greeted", "Ann", UInt32(3))
  /// ```
  public nonisolated func emit<each Argument: BusValue>(
    from path: ObjectPath, _ interface: InterfaceName, _ member: MemberName,
    _ arguments: repeat each Argument, to destination: BusName? = nil
  ) throws(CodingError) {
    send(try Message.signal(from: path, interface, member, to: destination, repeat each arguments))
  }

  /// Everything except calls is sent here: now, or behind the announcements of this turn.
  func post(_ message: borrowing Message) {
    // An answer that this module's bytes cannot hold is long.
    if message.bytes == nil, message.kind == .methodReturn {
      callers.queue.charge(answer: message.size, to: message.destination, TimerQueue.now)
    }
    if outbox.hasAnnouncements {
      outbox.hold(message)
    } else {
      transmit(message)
    }
  }

  /// Sends a message and returns its serial; 0 if the connection has ended. A small message leaves when the turn ends.
  @discardableResult
  func transmit(_ message: borrowing Message, serial: UInt32? = nil) -> UInt32 {
    guard let raw, !isClosed else { return 0 }
    if message.carriesDescriptors, !canSendFileDescriptors {
      return refuse(message)
    }
    if !delayed.isEmpty { return delay(message, serial) }
    if let bytes = message.bytes, mail.isOpen(on: raw) {
      if mail.isEmpty { loop.setDeparting(self) }
      let serial = serial ?? mail.nextSerial()
      mail.add(bytes, serial)
      if mail.isFull { sendMail() }
      return serial
    }
    sendMail()
    // The collected messages may have been delayed just now.
    guard delayed.isEmpty, let made = message.rawWithMemory else { return delay(message, serial) }
    if dbus_message_get_serial(made) == 0 { dbus_message_set_serial(made, serial ?? mail.nextSerial()) }
    mail.noteMessageOfLibdbus()
    if dbus_connection_send(raw, made, nil) == 0 { return delay(message, dbus_message_get_serial(made)) }
    checkOutgoing(raw)
    return dbus_message_get_serial(made)
  }

  /// Keeps a message for which libdbus has no memory. If the message were dropped, its caller would wait in vain.
  private func delay(_ message: borrowing Message, _ serial: UInt32?) -> UInt32 {
    let number: UInt32
    if let bytes = message.bytes {
      number = serial ?? mail.nextSerial()
      bytes.setSerial(number)
    } else {
      let own = dbus_message_get_serial(message.raw)
      number = own != 0 ? own : serial ?? mail.nextSerial()
      if own == 0 { dbus_message_set_serial(message.raw, number) }
    }
    delayed.append(MessageBox(message))
    tryAgainSoon()
    return number
  }

  private func sendDelayed() {
    guard let raw, !delayed.isEmpty else { return }
    var sent = 0
    for box in delayed {
      if !Self.send(box.message, on: raw) { break }
      sent += 1
    }
    delayed.removeFirst(sent)
    if !delayed.isEmpty { tryAgainSoon() }
  }

  /// Whether libdbus had the memory to take the message, which has its serial already.
  private static func send(_ message: borrowing Message, on raw: OpaquePointer) -> Bool {
    message.bytes?.send(on: raw) ?? (dbus_connection_send(raw, message.raw, nil) != 0)
  }

  /// Sends the collected messages. libdbus sends later what the socket does not take now.
  func sendMail() {
    guard !mail.isEmpty, let raw else { return }
    delayed += mail.leave(raw).map { MessageBox(Message($0)) }
    if !delayed.isEmpty { tryAgainSoon() }
    checkOutgoing(raw)
  }

  private func checkOutgoing(_ raw: OpaquePointer) {
    if uniqueName == nil, dbus_connection_get_outgoing_size(raw) > Self.maximumOutgoing { hangUp() }
  }

  /// The bytes that may wait for a peer that does not read: the longest message. A bus always reads, and has such limits itself.
  private static let maximumOutgoing = 1 << 27

  /// Not at once: the sender is in the middle of something.
  private func hangUp() {
    loop.execute { [weak self] in self?.assumeIsolated { $0.finish(.disconnected) } }
  }

  /// libdbus silently drops a message with file descriptors to a peer that accepts none. For a reply, somebody waits.
  private func refuse(_ message: borrowing Message) -> UInt32 {
    guard message.kind == .methodReturn,
      let error = try? Message.error(
        to: message.destination, message.replySerial,
        ErrorReply(.notSupported, "the reply carries a file descriptor, and this connection takes none"))
    else { return 0 }
    transmit(error)
    return 0
  }

  /// Whether the other side accepts file descriptors.
  public var canSendFileDescriptors: Bool {
    guard let raw else { return false }
    return dbus_connection_can_send_type(raw, WireType.fileDescriptor.code) != 0
  }
}
