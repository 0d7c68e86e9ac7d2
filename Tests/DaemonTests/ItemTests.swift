import DBus
import DBusTestSupport
import Glibc
import Testing

/// The contents of drops: handed in from a shell and from programs, listed for the host, opened, and released.
@Suite struct ItemTests {
  /// The options of the call that delivered to the host.
  private static func options(_ host: HostPlayer) async throws -> Value {
    let calls = try await host.asked(1).filter { ["ConnectScene", "ContinueScene"].contains($0.member) }
    return try #require(calls.last).options
  }

  /// What the host learns of the representations of an item: type and size of each.
  private static func listed(_ options: Value, _ item: Int = 0) throws -> [String] {
    let items = options["items"]?.elements ?? []
    try #require(items.indices.contains(item))
    return (items[item]["representations"]?.elements ?? []).map { representation in
      let size = representation["size"]?.number
      return "\(representation["type"]?.string ?? "?") \(size.map { "\($0)" } ?? "-")"
    }
  }

  // MARK: From a shell

  @Test(.house)
  func `files that dbus-send drops reach their host whole, by type, and go when it is done`() async throws {
    try house.knowFileTypes()
    try await house.carrying { host in
      let picture = try house.file("A beach.png", "the sea")
      let text = try house.file("notes.txt", "milk, eggs")
      let list = "# from a shell\r\n\(picture)\r\nfile://\(text)\r\nhttps://example.org/a,b\r\n"
      let landing = try house.landing(
        try await house.call("DropURIs", "string:\(list)", "string:viewCat", "string:cat1"))
      let call = try #require(try await host.asked(1, "ConnectScene").first)
      let options = try call.options
      #expect(try Self.listed(options) == ["image/png 7"])
      #expect(try Self.listed(options, 1) == ["text/plain 10"])
      // A link is of the type of its scheme, and a list.
      let link = try Self.listed(options, 2).map { $0.prefix { $0 != " " } }
      #expect(link == ["x-scheme-handler/https", "text/uri-list"])
      #expect(options["items"]?.elements.first?["suggestedName"]?.string == "A beach.png")
      let opened = try await host.open(landing.delivery, 0, "image/*")
      #expect(opened.size == 7)
      #expect(try await opened.text() == "the sea")
      #expect(try await host.text(landing.delivery, 1, "text/plain") == "milk, eggs")
      #expect(try await host.text(landing.delivery, 2, "text/uri-list").hasPrefix("https://example.org/a,b"))
      // The files are handed over in their places, so the host sees what becomes of them, and nothing is copied.
      try house.write("bread", to: text)
      #expect(try await host.text(landing.delivery, 1, "text/plain") == "bread")
      #expect(try house.spooled.count { $0.contains("/") } == 0)
      try await host.release(landing.delivery)
      try await house.spoolIsEmptied()
      try await expectError("org.stagedoor.Error.NoSuchItem") { _ = try await host.open(landing.delivery, 0, "") }
      // A second release does no harm.
      try await host.release(landing.delivery)
    }
  }

  @Test(.host) func `gdbus drops a file and a pipe from its standard input`() async throws {
    let picture = try house.file("in.png", "from a file")
    let call =
      "gdbus call -e -d \(House.name) -o \(House.root) -m \(House.interchange).DropData image/png name.png viewCat cat1 0"
    for (script, text, size) in [
      ("\(call) <\(picture)", "from a file", 11), ("printf 'from a pipe' | \(call)", "from a pipe", -1),
    ] {
      let output = try await house.command("sh", "-c", script).output()
      #expect(output.contains("'created'") || output.contains("'activated'"), "\(output)")
      let options = try await Self.options(host)
      #expect(try Self.listed(options) == ["image/png \(size < 0 ? "-" : "\(size)")"])
      let delivery = try #require(options["delivery"]?.string)
      let opened = try await host.open(delivery, 0, "image/*")
      #expect(opened.size == size)
      #expect(try await opened.text() == text)
      try await host.settle()
      try await host.release(delivery)
    }
  }

  @Test(.host)
  func `a script that drops files and waits for no answer may leave while they are looked at`() async throws {
    let file = try house.file("notes.txt", "milk, eggs")
    for cat in 1...10 {
      let script = try await house.bus.connect()
      // The service knows who it is.
      _ = try await house.service(script).call("GetPreferredApplication", "viewCat", returning: String.self)
      try house.service(script).send("DropURIs", file, "viewCat", "cat\(cat)")
      await script.close()
    }
    try await host.asked(10, "ConnectScene")
  }

  // MARK: From programs

  @Test(arguments: PrivateBus.Kind.available)
  func `a program hands in a file, a pipe and bytes`(kind: PrivateBus.Kind) async throws {
    try await withHost(kind) { house, host, _ in
      let path = try house.file("picture", "a whole file")
      let file = try OwnedFileDescriptor.file(path, O_RDWR)
      // The sender's own offset does not matter to the host.
      file.withRawValue { _ = lseek($0, 7, SEEK_SET) }
      let pipe = try OwnedFileDescriptor.pipe(of: Array("in a pipe".utf8))
      let landing = try await house.deliver(
        [
          Things.item(Things.descriptor(file, "image/png"), Things.descriptor(pipe, "image/gif"), name: "many"),
          Things.item(
            Things.representation("text/plain", "data", Variant.bytes(Array("bytes".utf8))),
            Things.text("", "text/html"), Things.representation("text/csv", "file", "file://\(path)".variant)),
        ], ["application": "org.example.Cats"], over: house.watcher)
      for descriptor in [file, pipe] { descriptor.close() }
      let options = try await Self.options(host)
      #expect(try Self.listed(options) == ["image/png 12", "image/gif -"])
      for _ in 0..<2 { #expect(try await host.text(landing.delivery, 0, "image/png") == "a whole file") }
      #expect(try await host.text(landing.delivery, 0, "image/gif") == "in a pipe")
      // It can be read once.
      try await expectError("org.stagedoor.Error.SourceGone") {
        _ = try await host.open(landing.delivery, 0, "image/gif")
      }
      #expect(try await host.text(landing.delivery, 1, "text/plain") == "bytes")
      #expect(try await host.text(landing.delivery, 1, "text/html") == "")
      #expect(try await host.text(landing.delivery, 1, "text/csv") == "a whole file")
      // A host that may only read cannot write to the sender's file.
      let opened = try await host.open(landing.delivery, 0, "image/png")
      #expect(opened.data.withRawValue { fcntl($0, F_GETFL) } & O_ACCMODE == O_RDONLY)
    }
  }

  @Test(.daemon(installing: House.pictures, with: "--durability", "normal"))
  func `a call that waits for a host keeps no copies of its descriptors`() async throws {
    let (readEnd, writeEnd) = try OwnedFileDescriptor.pipe()
    let pipe = try #require(readEnd.withRawValue { OpenDescriptors.list[$0] })
    let options: [String: Variant] = ["application": "org.example.Cats", "wait": "handled", "deadline": 30.0.variant]
    async let answer = refused {
      _ = try await house.deliver(
        [Things.item(Things.descriptor(readEnd, "image/png"))], options, over: house.watcher)
    }
    try await eventually("the delivery to be held") { try await !house.deliveries(in: "held").isEmpty }
    // The baggage store holds one descriptor. The message has closed its own, although nobody has an answer yet.
    try await eventually("the service to hold one descriptor") {
      OpenDescriptors.of(process: daemon.processIdentifier).values.count { $0 == pipe } == 1
    }
    let delivery = try #require(try await house.deliveries(in: "held").first?.first)
    _ = try await house.call("CancelDelivery", "string:\(delivery)")
    #expect(try await answer?.name == "org.stagedoor.Error.Cancelled")
    writeEnd.close()
  }

  @Test(.host, arguments: ["gi", "dbus", "jeepney"])
  func `a program in Python hands in a descriptor`(binding: String) async throws {
    if try await !house.command("/usr/bin/python3", "-c", "import \(binding)").run().status.isSuccess { return }
    let script = "\(Repository.path)/Tests/DaemonTests/Clients/items.py"
    let delivery = try await house.command("/usr/bin/python3", "-B", script, binding).output()
    #expect(try await host.text(delivery, 0, "image/*") == "from Python, by \(binding)")
  }

  @Test(.host)
  func `where one URI leads to no file nothing is dropped, also if no application would take it`() async throws {
    let good = try house.file("good.txt", "good")
    let before = try await house.eventSequence()
    for (path, reason) in [("\(good)/below", "Not a directory"), ("/tmp", "directory"), ("/dev/null", "device")] {
      let error = try await house.refusal("DropURIs", "string:\(good)\n\(path)", "string:viewCat", "string:cat1")
      #expect(error.name == "org.stagedoor.Error.InvalidPayload", "\(error)")
      #expect(error.message.hasPrefix("uri_list, line 2: "), "\(error)")
      let alone = try await house.refusal("DropURIs", "string:\(path)", "string:", "string:")
      for refusal in [error, alone] { #expect(refusal.message.contains(reason), "\(refusal)") }
    }
    #expect(try await house.eventSequence() == before)
    #expect(host.calls.isEmpty)
    try await house.spoolIsEmptied()
  }
}
