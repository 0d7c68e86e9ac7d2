import SceneModel
import SceneTestSupport
import Testing

@Suite struct URLTextTests {
  @Test(arguments: ValueGenerator.urls + ["x-scheme+1.0:opaque", "https://example.org/?a[0]=1", "a:#"])
  func `an absolute URI is one`(text: Text) {
    #expect(URLText.isValid(text))
  }

  @Test(
    arguments: [
      "", ":", "a", "a:", "photos/7", "/photos/7", "//example.org/", "1a:b", "-a:b", "a_b:c", "é:a", " a:b", "a:b c",
      "a:é", "a:猫", "a:%", "a:%2", "a:%2G", "a:b%", "a:\0", "a:b\n", "a:<b>", "a:\"b\"", "a:{b}", "a:b|c", "a:b\\c",
      "a:^", "a:`", "a:b#c#d", "a:\u{7F}",
    ] as [Text])
  func `what is no absolute URI is none`(text: Text) {
    #expect(!URLText.isValid(text))
  }
}
