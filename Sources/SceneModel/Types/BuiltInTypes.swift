/// Facts about types for machines without a database: those on which desktops agree, as pairs of names.
///
/// Each fact is also in the shared MIME database, or does not contradict it.
package enum BuiltInTypes {
  /// Other names of types.
  package static let aliases: [(name: Text, type: Text)] = pairs(
    """
    application/ics text/calendar
    application/msexcel application/vnd.ms-excel
    application/mspowerpoint application/vnd.ms-powerpoint
    application/vnd.ms-word application/msword
    application/x-font-otf font/otf
    application/x-font-ttf font/ttf
    application/x-gtar application/x-tar
    application/x-gzip application/gzip
    application/x-iso9660-image application/x-cd-image
    application/x-jar application/x-java-archive
    application/x-javascript application/javascript
    application/x-msexcel application/vnd.ms-excel
    application/x-mspowerpoint application/vnd.ms-powerpoint
    application/x-msword application/msword
    application/x-ogg application/ogg
    application/x-pdf application/pdf
    application/x-rar application/vnd.rar
    application/x-rar-compressed application/vnd.rar
    application/x-zip application/zip
    application/x-zip-compressed application/zip
    application/yaml application/x-yaml
    audio/aiff audio/x-aiff
    audio/m4a audio/mp4
    audio/mp3 audio/mpeg
    audio/vnd.wave audio/x-wav
    audio/wav audio/x-wav
    audio/x-aac audio/aac
    audio/x-flac audio/flac
    audio/x-m3u audio/x-mpegurl
    audio/mpegurl audio/x-mpegurl
    audio/x-m4a audio/mp4
    audio/x-midi audio/midi
    audio/x-mp3 audio/mpeg
    audio/x-mpeg audio/mpeg
    audio/x-ogg audio/ogg
    image/heic image/heif
    image/heic-sequence image/heif
    image/heif-sequence image/heif
    image/ico image/vnd.microsoft.icon
    image/jpg image/jpeg
    image/pjpeg image/jpeg
    image/psd image/vnd.adobe.photoshop
    image/svg image/svg+xml
    image/x-bmp image/bmp
    image/x-ico image/vnd.microsoft.icon
    image/x-icon image/vnd.microsoft.icon
    image/x-ms-bmp image/bmp
    image/x-photoshop image/vnd.adobe.photoshop
    image/x-png image/png
    image/x-psd image/vnd.adobe.photoshop
    text/directory text/vcard
    text/javascript application/javascript
    text/json application/json
    text/rtf application/rtf
    text/x-c text/x-csrc
    text/x-comma-separated-values text/csv
    text/x-csv text/csv
    text/x-diff text/x-patch
    text/x-markdown text/markdown
    text/x-perl application/x-perl
    text/x-sh application/x-shellscript
    text/x-sql application/sql
    text/x-vcalendar text/calendar
    text/x-vcard text/vcard
    text/x-yaml application/x-yaml
    text/xml application/xml
    text/yaml application/x-yaml
    video/3gp video/3gpp
    video/avi video/x-msvideo
    video/msvideo video/x-msvideo
    video/x-avi video/x-msvideo
    video/x-m4v video/mp4
    video/x-mpeg video/mpeg
    video/x-ogg video/ogg
    x-directory/normal inode/directory
    """)

  /// Types and their parents, beyond what their names imply.
  package static let subclasses: [(type: Text, parent: Text)] = pairs(
    """
    application/epub+zip application/zip
    application/javascript text/plain
    application/json application/javascript
    application/mbox text/plain
    application/msword application/x-ole-storage
    application/pgp-encrypted text/plain
    application/pgp-keys text/plain
    application/pgp-signature text/plain
    application/postscript text/plain
    application/rtf text/plain
    application/sql text/plain
    application/toml text/plain
    application/vnd.apple.keynote application/zip
    application/vnd.apple.numbers application/zip
    application/vnd.apple.pages application/zip
    application/vnd.oasis.opendocument.graphics application/zip
    application/vnd.oasis.opendocument.presentation application/zip
    application/vnd.oasis.opendocument.spreadsheet application/zip
    application/vnd.oasis.opendocument.text application/zip
    application/vnd.openxmlformats-officedocument.presentationml.presentation application/zip
    application/vnd.openxmlformats-officedocument.spreadsheetml.sheet application/zip
    application/vnd.openxmlformats-officedocument.wordprocessingml.document application/zip
    application/x-compressed-tar application/gzip
    application/x-desktop text/plain
    application/x-java-archive application/zip
    application/x-perl text/plain
    application/x-php text/plain
    application/x-ruby text/plain
    application/x-shellscript text/plain
    application/x-yaml text/plain
    application/xhtml+xml application/xml
    application/xml text/plain
    audio/ogg application/ogg
    audio/x-flac+ogg audio/ogg
    audio/x-mpegurl text/plain
    audio/x-opus+ogg audio/ogg
    audio/x-vorbis+ogg audio/ogg
    font/otf font/ttf
    image/openraster application/zip
    image/svg+xml application/xml
    inode/mount-point inode/directory
    message/rfc822 text/plain
    model/obj text/plain
    text/x-c++hdr text/x-chdr
    text/x-c++src text/x-csrc
    text/x-chdr text/x-csrc
    text/x-java text/x-csrc
    text/x-objcsrc text/x-csrc
    video/3gpp video/mp4
    video/ogg application/ogg
    video/x-matroska application/x-matroska
    """)

  /// The structured suffixes of RFC 6839 and later ones, if there is a type for them.
  static let suffixes: [Text: Text] = [
    "xml": "application/xml", "json": "application/json", "zip": "application/zip", "gzip": "application/gzip",
    "yaml": "application/x-yaml",
  ]

  private static func pairs(_ table: String) -> [(Text, Text)] {
    rows(table).map { row in
      guard row.count == 2 else { preconditionFailure("a row of \(row.count) words in a table of pairs") }
      return (row[0], row[1])
    }
  }

  static func rows(_ table: String) -> [[Text]] {
    table.split(separator: "\n").map { $0.split(separator: " ").map { Text(String($0)) } }
  }
}
