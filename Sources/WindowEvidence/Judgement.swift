/// What speaks for a window: that it shows the file.
package enum Evidence: String, CaseIterable, Hashable, Sendable {
  case titleNamesPath = "its title names the path"
  case titleNamesNameAndDirectory = "its title names the file and its directory"
  case holdsFile = "its process holds the file open, and has one window"
  case holdsSwapFile = "its process holds the file's swap file, and its title names the file"
  case playsFile = "its player says that it plays the file"
  case namedByService = "its application's service names this process"
  case startedWithFile = "it was started with the file, and every title since has named the file"
  case argumentNamesFile = "its program was given the file's path, and every title since has named the file"

  /// The weaker evidence counts for windows that were watched without a gap, of applications that open each document in a process of its own.
  package var isCertain: Bool { self != .startedWithFile && self != .argumentNamesFile }
}

/// What speaks against a window. One of these is enough.
package enum Veto: String, CaseIterable, Hashable, Sendable {
  case otherApplication = "it belongs to another application"
  case unknownApplication = "nothing tells which application it belongs to"
  case quotesStrangers = "strangers write the titles of this kind of program"
  case otherMachine = "its program runs on another machine"
  case notMain = "it is a dialog or a tool of another window"
  case titleNamesOther = "its title names another file or directory"
  case titleIsAmbiguous = "its title may also mean a file with a similar name"
  case titleLostName = "its title no longer names the file"
  case holdsTwin = "its process holds another file of this name"
  case fileIsNewer = "the file at this path is newer than its program, which shows an earlier one"
  case processChanged = "its process is not the one that was started"
  case noEvidence = "nothing says that it shows the file"
}

/// One window, and why it is or is not the one.
package struct Finding: Hashable, Sendable {
  package var window: WindowNumber
  package var evidence: Set<Evidence>
  package var vetoes: Set<Veto>

  package var level: Level {
    if !vetoes.isEmpty || evidence.isEmpty { return .unsure }
    return evidence.contains(where: \.isCertain) ? .certain : .likely
  }
}

package enum Level: String, Hashable, Sendable {
  case certain, likely, unsure
}

/// What to do for the file.
package enum Verdict: Hashable, Sendable {
  /// Bring the window to the front.
  case raise(window: WindowNumber, Level)
  /// Run the application with the file, which finds its own window or tab, and raise the window that appears or now names the file. A window that is
  /// known to show the file is named.
  case runAgain(window: WindowNumber?)
  /// Start the application with the file, unless it was started with the file just now.
  case start
  /// Start the application with the file, whatever the windows show. This is a person's wish, and never the judge's verdict.
  case startAnother
}

package struct Judgement: Hashable, Sendable {
  package var verdict: Verdict
  /// A finding for each window, the topmost first.
  package var findings: [Finding]

  package init(verdict: Verdict, findings: [Finding]) { (self.verdict, self.findings) = (verdict, findings) }

  /// The finding of the window that the verdict names.
  package var shownIn: Finding? {
    switch verdict {
    case .raise(let window, _), .runAgain(let window?): findings.first { $0.window == window }
    case .runAgain(nil), .start, .startAnother: nil
    }
  }

  /// Takes over what the judgement for another application found about that application's windows.
  package mutating func merge(_ other: Judgement) {
    let theirs = Dictionary(other.findings.map { ($0.window, $0) }) { first, _ in first }
    for place in findings.indices where findings[place].vetoes.contains(.otherApplication) {
      if let finding = theirs[findings[place].window] { findings[place] = finding }
    }
  }
}
