/// Facts about types for machines without a database: those on which desktops agree.
///
/// Each fact is also in the shared MIME database, or does not contradict it.
package enum BuiltInTypes {
  /// Other names of types: in each row a type, and its other names.
  package static let aliases: [(name: Text, type: Text)] = pairs(
    """
    application/gzip application/x-gzip
    application/javascript application/x-javascript text/javascript
    application/json text/json
    application/msword application/vnd.ms-word application/x-msword
    application/ogg application/x-ogg
    application/pdf application/x-pdf
    application/rtf text/rtf
    application/sql text/x-sql
    application/vnd.ms-excel application/msexcel application/x-msexcel
    application/vnd.ms-powerpoint application/mspowerpoint application/x-mspowerpoint
    application/vnd.rar application/x-rar application/x-rar-compressed
    application/x-cd-image application/x-iso9660-image
    application/x-java-archive application/x-jar
    application/x-perl text/x-perl
    application/x-shellscript text/x-sh
    application/x-tar application/x-gtar
    application/x-yaml application/yaml text/x-yaml text/yaml
    application/xml text/xml
    application/zip application/x-zip application/x-zip-compressed
    audio/aac audio/x-aac
    audio/flac audio/x-flac
    audio/midi audio/x-midi
    audio/mp4 audio/m4a audio/x-m4a
    audio/mpeg audio/mp3 audio/x-mp3 audio/x-mpeg
    audio/ogg audio/x-ogg
    audio/x-aiff audio/aiff
    audio/x-mpegurl audio/x-m3u audio/mpegurl
    audio/x-wav audio/vnd.wave audio/wav
    font/otf application/x-font-otf
    font/ttf application/x-font-ttf
    image/bmp image/x-bmp image/x-ms-bmp
    image/heif image/heic image/heic-sequence image/heif-sequence
    image/jpeg image/jpg image/pjpeg
    image/png image/x-png
    image/svg+xml image/svg
    image/vnd.adobe.photoshop image/psd image/x-photoshop image/x-psd
    image/vnd.microsoft.icon image/ico image/x-ico image/x-icon
    inode/directory x-directory/normal
    text/calendar application/ics text/x-vcalendar
    text/csv text/x-comma-separated-values text/x-csv
    text/markdown text/x-markdown
    text/vcard text/directory text/x-vcard
    text/x-csrc text/x-c
    text/x-patch text/x-diff
    video/3gpp video/3gp
    video/mp4 video/x-m4v
    video/mpeg video/x-mpeg
    video/ogg video/x-ogg
    video/x-msvideo video/avi video/msvideo video/x-avi
    """)

  /// Types and their parents, beyond what their names imply: in each row a parent, and its types.
  package static let subclasses: [(type: Text, parent: Text)] = pairs(
    """
    application/gzip application/x-compressed-tar
    application/javascript application/json
    application/ogg audio/ogg video/ogg
    application/x-matroska video/x-matroska
    application/x-ole-storage application/msword
    application/xml application/xhtml+xml image/svg+xml
    application/zip application/epub+zip application/vnd.apple.keynote application/vnd.apple.numbers \
    application/vnd.apple.pages application/vnd.oasis.opendocument.graphics \
    application/vnd.oasis.opendocument.presentation application/vnd.oasis.opendocument.spreadsheet \
    application/vnd.oasis.opendocument.text application/vnd.openxmlformats-officedocument.presentationml.presentation \
    application/vnd.openxmlformats-officedocument.spreadsheetml.sheet \
    application/vnd.openxmlformats-officedocument.wordprocessingml.document application/x-java-archive \
    image/openraster
    audio/ogg audio/x-flac+ogg audio/x-opus+ogg audio/x-vorbis+ogg
    font/ttf font/otf
    inode/directory inode/mount-point
    text/plain application/javascript application/mbox application/pgp-encrypted application/pgp-keys \
    application/pgp-signature application/postscript application/rtf application/sql application/toml \
    application/x-desktop application/x-perl application/x-php application/x-ruby application/x-shellscript \
    application/x-yaml application/xml audio/x-mpegurl message/rfc822 model/obj
    text/x-chdr text/x-c++hdr
    text/x-csrc text/x-c++src text/x-chdr text/x-java text/x-objcsrc
    video/mp4 video/3gpp
    """)

  /// The structured suffixes of RFC 6839 and later ones, if there is a type for them.
  static let suffixes: [Text: Text] = [
    "xml": "application/xml", "json": "application/json", "zip": "application/zip", "gzip": "application/gzip",
    "yaml": "application/x-yaml",
  ]

  /// Each further word of a row, with the first.
  private static func pairs(_ table: String) -> [(Text, Text)] {
    rows(table).flatMap { row in
      precondition(row.count > 1, "a row of one word in a table of pairs")
      return row.dropFirst().map { ($0, row[0]) }
    }
  }

  static func rows(_ table: String) -> [[Text]] {
    table.split(separator: "\n").map { $0.split(separator: " ").map { Text(String($0)) } }
  }
}
