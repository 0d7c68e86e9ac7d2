import Glibc

/// Makes system calls on the files of one directory fail. The functions below stand before libc's, for SQLite too.
enum DiskFaults {
  enum Call { case read, write, sync }

  struct Fault {
    let directory: String
    let calls: Set<Call>
    let error: Int32
    /// How many calls go well first.
    var after: Int
    /// How many fail then.
    var count: Int
  }

  // The mutex below is held wherever it is touched.
  nonisolated(unsafe) private static var faults: [Fault] = []
  // Likewise.
  nonisolated(unsafe) private static var counted: [String: Int] = [:]
  // It is only ever locked and unlocked, which is what it is for.
  nonisolated(unsafe) private static let mutex: UnsafeMutablePointer<pthread_mutex_t> = {
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    return mutex
  }()

  private static func locked<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  /// - Returns: whether a call failed.
  @discardableResult
  static func during(
    _ calls: Set<Call>, in directory: TemporaryDirectory, error: Int32, after: Int = 0, count: Int = .max,
    _ body: () throws -> Void
  ) rethrows -> Bool {
    let path = directory.path
    locked { faults.append(Fault(directory: path, calls: calls, error: error, after: after, count: count)) }
    defer { locked { faults.removeAll { $0.directory == path } } }
    try body()
    return locked { faults.contains { $0.directory == path && $0.count < count } }
  }

  /// How many reads of files in the directory `body` made.
  static func reads(in directory: TemporaryDirectory, _ body: () throws -> Void) rethrows -> Int {
    locked { counted[directory.path] = 0 }
    try body()
    return locked { counted.removeValue(forKey: directory.path) ?? 0 }
  }

  /// The error that a call on a descriptor is to fail with; 0 for none.
  fileprivate static func error(_ call: Call, _ descriptor: Int32) -> Int32 {
    locked {
      if faults.isEmpty, counted.isEmpty { return 0 }
      var buffer = [CChar](repeating: 0, count: 512)
      let length = readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count)
      let path = String(decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if call == .read {
        for directory in counted.keys where path.hasPrefix(directory) { counted[directory, default: 0] += 1 }
      }
      for index in faults.indices where path.hasPrefix(faults[index].directory) && faults[index].calls.contains(call) {
        if faults[index].after > 0 {
          faults[index].after -= 1
        } else if faults[index].count > 0 {
          faults[index].count -= 1
          return faults[index].error
        }
      }
      return 0
    }
  }
}

// MARK: - In place of libc's

private typealias Sync = @convention(c) (Int32) -> Int32
private typealias Write = @convention(c) (Int32, UnsafeRawPointer?, Int, Int) -> Int
private typealias Read = @convention(c) (Int32, UnsafeMutableRawPointer?, Int, Int) -> Int

private func next<Function>(_ name: String, as type: Function.Type) -> Function {
  // RTLD_NEXT, which is a cast of -1 and therefore not seen here.
  guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: -1), name) else { fatalError("there is no \(name)") }
  // libc's functions of these names have these types.
  return unsafeBitCast(symbol, to: type)
}

private let realSync = next("fdatasync", as: Sync.self)
private let realWrite = next("pwrite64", as: Write.self)
private let realRead = next("pread64", as: Read.self)

private func fails(_ call: DiskFaults.Call, _ descriptor: Int32) -> Bool {
  let error = DiskFaults.error(call, descriptor)
  if error != 0 { errno = error }
  return error != 0
}

@_cdecl("fdatasync")
func faultySync(_ descriptor: Int32) -> Int32 { fails(.sync, descriptor) ? -1 : realSync(descriptor) }

@_cdecl("pwrite64")
func faultyWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ offset: Int) -> Int {
  fails(.write, descriptor) ? -1 : realWrite(descriptor, bytes, count, offset)
}

@_cdecl("pread64")
func faultyRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int, _ offset: Int) -> Int {
  fails(.read, descriptor) ? -1 : realRead(descriptor, bytes, count, offset)
}
