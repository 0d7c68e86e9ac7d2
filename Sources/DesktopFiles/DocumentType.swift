import SceneModel

/// The types whose files a person opens to see or to change them.
enum DocumentType {
  private static let otherKinds = ["x-scheme-handler/", "x-content/", "inode/"]

  /// Programs, entries of menus, and archives: a double click runs, starts or unpacks them.
  private static let others: Set<String> = Set(
    """
    desktop x-desktop x-executable x-pie-executable x-sharedlib x-object x-ms-dos-executable x-msdownload x-msi
    vnd.microsoft.portable-executable vnd.appimage x-iso9660-appimage java-archive x-java-archive x-archive
    vnd.debian.binary-package x-deb x-debian-package x-rpm x-redhat-package-manager vnd.flatpak vnd.flatpak.ref
    vnd.flatpak.repo vnd.snap vnd.android.package-archive zip x-zip x-zip-compressed gzip x-gzip x-bzip x-bzip2 x-xz zstd
    x-zstd x-lzma x-lzip x-lz4 x-lzop x-compress x-tar x-gtar x-ustar x-compressed-tar x-bzip-compressed-tar
    x-bzip2-compressed-tar x-xz-compressed-tar x-zstd-compressed-tar x-lzma-compressed-tar x-lzip-compressed-tar
    x-lz4-compressed-tar x-tarz x-7z-compressed vnd.rar x-rar x-rar-compressed x-cpio x-lha x-arj x-ar x-cd-image
    x-iso9660-image vnd.efi.iso x-raw-disk-image octet-stream
    """.split { $0.isWhitespace }.map { "application/\($0)" })

  static func isOne(_ type: String) -> Bool {
    type.contains("/") && !otherKinds.contains(where: type.hasPrefix) && !others.contains(type)
      // A manifest with a type that is spelled like none would be refused.
      && ContentType(Text(type)) != nil
  }
}
