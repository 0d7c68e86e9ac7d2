import DesktopFiles
import Foundation
import SceneModel
import Testing
import WindowEvidence

/// Which applications are installed, and which one opens a type.
@Suite struct ApplicationsTests {
  /// Runs `body` in a folder with these files.
  private func withFiles(_ files: [String: String], _ body: (String) throws -> Void) throws {
    let place = FileManager.default.temporaryDirectory.appending(path: "applications-\(UUID())")
    defer { try? FileManager.default.removeItem(at: place) }
    for (name, text) in files {
      let file = place.appending(path: name)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    try body(place.path)
  }

  private func entry(_ exec: String, _ types: String = "text/plain;", more: String = "") -> String {
    "[Desktop Entry]\nType=Application\nName=One\nExec=\(exec)\nMimeType=\(types)\n\(more)\n"
  }

  private func applications(in place: String) -> Applications {
    Applications(in: ["\(place)/data"], configuration: ["\(place)/config"])
  }

  @Test func `a folder of desktop files is read with the folders in it, and with none above it`() throws {
    let files = [
      "data/applications/one.desktop": entry("true %f"), "data/applications/kde/two.desktop": entry("cat %f"),
      "data/above.desktop": entry("ls"), "above.desktop": entry("ls"),
      "data/applications/.hidden/three.desktop": entry("ls"),
    ]
    try withFiles(files) { place in
      #expect(Set(applications(in: place).entries.map(\.identifier)) == ["one", "kde-two"])
    }
  }

  @Test func `a value has the escapes of desktop files, and then those of its command`() throws {
    let exec = #"sh -c "printf '%%s' \\"\\$1\\"" a\sb %f"#
    try withFiles(["data/applications/one.desktop": entry(exec, more: #"Icon=a\\tb\;"#)]) { place in
      let entry = try #require(applications(in: place)["one"])
      #expect(entry.exec == ["sh", "-c", #"printf '%%s' "$1""#, "a", "b", "%f"])
      #expect(entry.icon == #"a\tb\;"#)
    }
  }

  @Test func `a person's choice comes before what applications say, and a removed one is passed over`() throws {
    let files = [
      "data/applications/one.desktop": entry("true %f"), "data/applications/two.desktop": entry("cat %f"),
      "data/applications/three.desktop": entry("ls %f", "image/png;"),
      "config/mimeapps.list":
        "[Default Applications]\ntext/plain=gone.desktop;two.desktop;\n[Removed Associations]\nimage/png=three.desktop;\n",
    ]
    try withFiles(files) { place in
      let applications = applications(in: place)
      let (text, picture) = (try #require(ContentType("text/plain")), try #require(ContentType("image/png")))
      #expect(applications.application(for: text)?.identifier == "two")
      #expect(applications.application(for: picture) == nil)
    }
  }

  @Test func `a person's choice counts although a weaker list removes it`() throws {
    let files = [
      "data/applications/one.desktop": entry("true %f"), "data/applications/two.desktop": entry("cat %f"),
      "config/mimeapps.list": "[Default Applications]\ntext/plain=two.desktop;\n",
      "data/applications/mimeapps.list": "[Removed Associations]\ntext/plain=one.desktop;two.desktop;\n",
    ]
    try withFiles(files) { place in
      let applications = applications(in: place)
      let text = try #require(ContentType("text/plain"))
      #expect(applications.application(for: text)?.identifier == "two")
      #expect(applications.names(ofTakersOf: text) == ["two"])
    }
  }

  @Test func `what is spelled like no type costs an application nothing else`() throws {
    let files = [
      "data/applications/one.desktop": entry(
        "true %f", "text/plain; image/png;image/p ng;text/;/plain;text/pläin;application/pdf,image/gif;"),
      "config/mimeapps.list": "[Added Associations]\nimage / gif=one.desktop;\n",
    ]
    try withFiles(files) { place in
      #expect(applications(in: place).documentTypes == ["text/plain"])
    }
  }

  @Test func `an entry that needs a terminal is not chosen before others`() throws {
    let files = [
      "data/applications/a.desktop": entry("cat %f", more: "Terminal=true"),
      "data/applications/b.desktop": entry("ls %f"),
    ]
    try withFiles(files) { place in
      let text = try #require(ContentType("text/plain"))
      #expect(applications(in: place).application(for: text)?.identifier == "b")
    }
  }

  @Test func `entries of one program are one application, and those of a launcher are not`() throws {
    let files = [
      "data/applications/okular_pdf.desktop": entry("cat %U", "application/pdf;", more: "NoDisplay=true"),
      "data/applications/org.kde.okular.desktop": entry("/usr/bin/env LANG=C cat %U", "image/png;"),
      "data/applications/a.desktop": entry("sh -c a"), "data/applications/b.desktop": entry("sh -c b"),
    ]
    try withFiles(files) { place in
      let names = Dictionary(
        applications(in: place).entries.map { ($0.identifier, $0.application) }, uniquingKeysWith: { $1 })
      #expect(
        names == ["okular_pdf": "org.kde.okular", "org.kde.okular": "org.kde.okular", "a": "a", "b": "b"])
    }
  }

  @Test(arguments: [
    ("view %f", ["view", "PATH"]), ("view", ["view", "PATH"]),
    ("view --file=%f %i %% %c", ["view", "--file=PATH", "%", "One"]), ("view %U", ["view", "file:///a%FF"]),
  ])
  func `a path's bytes reach the program as they are`(exec: String, words: [String]) throws {
    try withFiles(["data/applications/one.desktop": entry(exec, more: "TryExec=true")]) { place in
      let entry = try #require(applications(in: place).entries.first)
      let path = Array("/a".utf8) + [0xFF]
      let expected = words.map { word in
        Array(word.components(separatedBy: "PATH").map { Array($0.utf8) }.joined(separator: path))
      }
      #expect(entry.command(opening: path, url: "file:///a%FF") == expected)
    }
  }

  @Test func `a manifest is made of desktop files and the person's choices`() throws {
    let files = [
      "data/applications/one.desktop": entry("true %f", "text/plain;text/html;x-scheme-handler/http;"),
      "data/applications/org.example.Two.desktop": entry("cat %f", "text/plain;", more: "Categories=TextEditor;"),
      "data/applications/org.example.Two.Helper.desktop": entry("cat -n %f", "image/png;"),
      "data/applications/web.desktop": entry("ls %f", "text/html;", more: "Categories=WebBrowser;"),
      // As a file manager writes for a choice.
      "data/applications/userapp-web.desktop": entry("ls %f", "text/html;", more: "NoDisplay=true"),
      "data/applications/term.desktop": entry("env ls %f", "text/plain;", more: "Terminal=true"),
      "data/applications/7up.desktop": entry("head %f"),
      "config/mimeapps.list":
        "[Default Applications]\ntext/plain=gone.desktop;org.example.Two.desktop;\n[Added Associations]\nimage/gif=one.desktop;\n"
        + "[Removed Associations]\ntext/html=one.desktop;\n",
    ]
    try withFiles(files) { place in
      let manifests = applications(in: place).manifests
      #expect(manifests.map(\.identifier) == ["desktop.one", "org.example.Two"])
      #expect(manifests.map(\.entry) == ["one", "org.example.Two"])
      #expect(
        manifests[0].json.contains(#"{"LSHandlerRank":"Alternate","LSItemContentTypes":["image/gif","text/plain"]}]"#))
      #expect(
        manifests[1].json.contains(
          #"[{"LSHandlerRank":"Alternate","LSItemContentTypes":["image/png"]},{"LSHandlerRank":"Default","LSItemContentTypes":["text/plain"]}]"#
        ))
      let types = TypeCatalog()
      for manifest in manifests {
        let read = try Manifest(Array(manifest.json.utf8), installedAs: nil, types: types)
        #expect(read.supportsMultipleScenes && read.configurations.map(\.name) == ["Document"])
        #expect(read.understudy == .registrar)
      }
    }
  }

  // MARK: Windows

  @Test func `a window belongs to the application that the surest of its words names`() throws {
    var files: [String: String] = [:]
    for (name, program, startup) in [
      ("org.xfce.mousepad", "mousepad", ""), ("geany", "geany", ""), ("emacs", "emacs", "StartupWMClass=Emacs"),
      ("emacsclient", "sh", "StartupWMClass=Emacsd"), ("okularApplication_pdf", "okular", ""),
      ("org.kde.okular", "okular", ""), ("gnome-terminal", "gnome-terminal", ""),
    ] {
      files["data/applications/\(name).desktop"] = entry("\(program) %f", more: "TryExec=true\n\(startup)")
    }
    try withFiles(files) { place in
      let applications = applications(in: place)
      func found(
        _ instance: String = "", _ classes: String = "", identifiers: String..., launchedFrom: String? = nil,
        program: String? = nil
      ) -> String? {
        func bytes(_ text: String) -> Bytes { Bytes(text.utf8) }
        return applications.application(
          of: WindowTraits(
            instance: bytes(instance), classes: bytes(classes), identifiers: identifiers.map(bytes),
            launchedFrom: launchedFrom.map { bytes("\(place)/data/applications/\($0)") }, program: program.map(bytes)))
      }
      // How the process was started is the surest, and a toolkit's identifier comes before WM_CLASS.
      #expect(found("mousepad", "Mousepad", launchedFrom: "geany.desktop") == "geany")
      #expect(found("geany", identifiers: "org.xfce.mousepad") == "org.xfce.mousepad")
      // StartupWMClass is compared with the instance, then with the class.
      #expect(found("emacs", "Emacs") == "emacs" && found("Emacsd", "Emacs") == "emacsclient")
      // Names are compared in lower case, and with a vendor's prefix.
      #expect(found("x", "Geany") == "geany" && found("", "Terminal") == "gnome-terminal")
      // The files of one program are one application.
      #expect(found(program: "okular") == "org.kde.okular")
      #expect(found("xterm", "XTerm", program: "xterm") == nil && found() == nil)
    }
  }
}
