import DesktopFiles
import SceneTestSupport
import Testing

@Suite struct MimeAppsListTests {
  private func list(_ text: String?) -> MimeAppsList { MimeAppsList(text.map { Array($0.utf8) }) }

  private func text(_ list: MimeAppsList) -> String? { list.bytes.map { String(decoding: $0, as: UTF8.self) } }

  @Test func `the handler stands before the person's choice, and nothing else changes`() {
    let before = """
      # mine
      [Added Associations]
      text/plain=vim.desktop;

      [Default Applications]
      text/plain = org.xfce.mousepad.desktop;vim.desktop
      image/png=eog.desktop;
      application/pdf=
      [X-Unknown]
      text/plain=a.desktop
      """
    let after = list(before).withHandler(for: ["text/plain", "application/pdf", "text/x-python"])
    #expect(
      text(after) == """
        # mine
        [Added Associations]
        text/plain=vim.desktop;

        [Default Applications]
        text/x-python=stagedoor-open.desktop;
        text/plain = stagedoor-open.desktop;org.xfce.mousepad.desktop;vim.desktop
        image/png=eog.desktop;
        application/pdf=stagedoor-open.desktop;\u{20}
        [X-Unknown]
        text/plain=a.desktop
        """)
    #expect(after.typesOfHandler == ["text/plain", "application/pdf", "text/x-python"])
    #expect(text(after.withoutHandler) == before)
  }

  @Test func `a file without the group gets one, and none is made and removed`() {
    let made = list("[Added Associations]\r\na/b=c\r\n").withHandler(for: ["text/plain"])
    #expect(
      text(made)
        == "[Added Associations]\r\na/b=c\r\n# The group is of `stagedoor open --make-default`.\r\n"
        + "[Default Applications]\r\ntext/plain=stagedoor-open.desktop;\r\n")
    let new = list(nil).withHandler(for: ["text/plain"])
    #expect(
      text(new)
        == "# The file is of `stagedoor open --make-default`.\n[Default Applications]\ntext/plain=stagedoor-open.desktop;\n"
    )
    #expect(new.withoutHandler == list(nil))
    #expect(list("").withHandler(for: ["text/plain"]).withoutHandler == list(""))
  }

  /// GLib writes the new choice before the others, and keeps comments; KDE leaves the comments out.
  @Test func `choices that the person has made since stay`() {
    let made = list(nil).withHandler(for: ["text/plain", "image/png"])
    let chosen = text(made)?.split(separator: "\n").map {
      $0.hasPrefix("text/plain") ? "text/plain=kate.desktop;stagedoor-open.desktop;" : $0
    }
    let kept = list(chosen?.joined(separator: "\n")).withoutHandler
    #expect(text(kept) == "[Default Applications]\ntext/plain=kate.desktop;")
    #expect(kept.typesOfHandler == [])
    let again = list(chosen?.joined(separator: "\n")).withHandler(for: ["text/plain"])
    #expect(again.typesOfHandler == ["text/plain", "image/png"])
    let bare = list("[Default Applications]\ntext/plain=stagedoor-open.desktop\n").withoutHandler
    #expect(text(bare) == "[Default Applications]\n")
  }

  @Test func `made-up files come back byte for byte`() {
    for seed in 0..<UInt64(rounds(4_000)) {
      var random = SeededRandom(seed: seed)
      let before = MimeAppsList(random.once(in: 20) ? nil : madeUp(&random))
      let types = Set((0..<random.below(4)).map { _ in random.one(of: MimeAppsListTests.types) })
      let after = before.withHandler(for: types)
      let label: Comment = "seed \(seed): \(text(before) ?? "no file")"
      #expect(after.withoutHandler.bytes == before.bytes, label)
      #expect(text(after.withHandler(for: types)) == text(after), label)
      #expect(after.typesOfHandler == types, label)
      #expect(text(before.withoutHandler) == text(before), label)
    }
  }

  private static let types = ["text/plain", "text/x-python", "image/png", "a/b+c"]

  private func madeUp(_ random: inout SeededRandom) -> [UInt8] {
    let pieces = [
      "[Default Applications]", " [Default Applications] ", "[Added Associations]", "[", "#", "# text/plain=a", "=",
      ";",
      ";;", " ", "\t", "", "\r", "text/plain=", "text/plain", "text/x-python = ", "image/png=a.desktop",
      "image/png=a.desktop;b.desktop;", "a/b+c=;", "a.desktop", "\u{FF}", "text/plain[de]=x", "é", "\n", "\n", "\r\n",
      "\r\n", "\n\n",
    ]
    var bytes = (0..<random.below(24)).flatMap { _ in Array(random.one(of: pieces).utf8) }
    if random.once(in: 4) { bytes.append(0xFF) }
    return bytes
  }
}
