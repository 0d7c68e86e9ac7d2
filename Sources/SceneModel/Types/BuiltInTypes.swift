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

  private static func rows(_ table: String) -> [[Text]] {
    table.split(separator: "\n").map { $0.split(separator: " ").map { Text(String($0)) } }
  }

  /// A uniform type identifier in common use.
  package struct Identifier: Sendable {
    package let name: Text
    /// The equal MIME type, or the equal wildcard.
    package let twin: ContentType?
    package let parents: [Text]
  }

  /// Each identifier with its twin, or `-`, and the identifiers that it conforms to in Apple's hierarchy. `docs/types.md` has the same table.
  package static let identifiers: [Identifier] = rows(
    """
    public.item -
    public.content -
    public.data application/octet-stream public.item
    public.directory - public.item
    public.folder inode/directory public.directory
    public.volume inode/mount-point public.folder
    public.symlink inode/symlink public.item
    com.apple.package - public.directory
    public.composite-content - public.content
    public.text text/* public.data public.content
    public.plain-text text/plain public.text
    public.utf8-plain-text text/plain;charset=utf-8 public.plain-text
    public.utf16-plain-text text/plain;charset=utf-16 public.plain-text
    public.html text/html public.text
    public.xml application/xml public.text
    public.json application/json public.text
    public.geojson application/geo+json public.json
    public.yaml application/x-yaml public.text
    public.css text/css public.text
    public.rtf application/rtf public.text
    public.log text/x-log public.plain-text
    public.delimited-values-text - public.text
    public.comma-separated-values-text text/csv public.delimited-values-text
    public.tab-separated-values-text text/tab-separated-values public.delimited-values-text
    net.daringfireball.markdown text/markdown public.plain-text
    public.source-code - public.plain-text
    public.c-source text/x-csrc public.source-code
    public.c-header text/x-chdr public.source-code
    public.c-plus-plus-source text/x-c++src public.source-code
    public.c-plus-plus-header text/x-c++hdr public.source-code
    public.objective-c-source text/x-objcsrc public.source-code
    public.swift-source text/x-swift public.source-code
    com.sun.java-source text/x-java public.source-code
    com.netscape.javascript-source application/javascript public.source-code
    public.script - public.source-code
    public.shell-script application/x-shellscript public.script
    public.python-script text/x-python public.shell-script
    public.perl-script application/x-perl public.shell-script
    public.ruby-script application/x-ruby public.shell-script
    public.php-script application/x-php public.shell-script
    com.apple.property-list - public.data
    com.apple.xml-property-list - public.xml com.apple.property-list
    com.apple.binary-property-list - com.apple.property-list
    public.url text/uri-list
    public.file-url - public.url
    public.contact - public.content
    public.vcard text/vcard public.text public.contact
    public.calendar-event - public.content
    public.to-do-item - public.content
    com.apple.ical.ics text/calendar public.text public.calendar-event
    public.message message/* public.data public.content
    public.email-message message/rfc822 public.message
    public.image image/* public.data public.content
    public.png image/png public.image
    public.jpeg image/jpeg public.image
    public.jpeg-2000 image/jp2 public.image
    public.jpeg-xl image/jxl public.image
    public.tiff image/tiff public.image
    public.heic image/heic public.image
    public.heif image/heif public.image
    public.avif image/avif public.image
    public.svg-image image/svg+xml public.image public.xml
    public.camera-raw-image image/x-dcraw public.image
    com.compuserve.gif image/gif public.image
    org.webmproject.webp image/webp public.image
    com.microsoft.bmp image/bmp public.image
    com.microsoft.ico image/vnd.microsoft.icon public.image
    com.apple.icns image/x-icns public.image
    com.adobe.photoshop-image image/vnd.adobe.photoshop public.image
    com.truevision.tga-image image/x-tga public.image
    com.ilm.openexr-image image/x-exr public.image
    public.audiovisual-content - public.data public.content
    public.audio audio/* public.audiovisual-content
    public.mp3 audio/mpeg public.audio
    public.mpeg-4-audio audio/mp4 public.audio
    com.apple.m4a-audio audio/x-m4a public.audio
    public.aac-audio audio/aac public.audio
    public.aiff-audio audio/x-aiff public.audio
    public.midi-audio audio/midi public.audio
    com.microsoft.waveform-audio audio/x-wav public.audio
    org.xiph.flac audio/flac public.audio
    public.playlist - public.content
    public.m3u-playlist audio/x-mpegurl public.text public.playlist
    public.movie video/* public.audiovisual-content
    public.video - public.movie
    public.mpeg video/mpeg public.movie
    public.mpeg-4 video/mp4 public.movie
    public.mpeg-2-transport-stream video/mp2t public.movie
    public.3gpp video/3gpp public.movie
    public.3gpp2 video/3gpp2 public.movie
    public.avi video/x-msvideo public.movie
    com.apple.quicktime-movie video/quicktime public.movie
    com.apple.m4v-video video/x-m4v public.movie
    org.webmproject.webm video/webm public.movie
    org.matroska.mkv video/x-matroska public.movie
    public.3d-content model/* public.data public.content
    public.geometry-definition-format model/obj public.3d-content
    public.standard-tesselated-geometry-format model/stl public.3d-content
    public.font font/* public.data
    public.truetype-ttf-font font/ttf public.font
    public.truetype-collection-font font/collection public.font
    public.opentype-font font/otf public.font
    public.archive - public.data
    public.zip-archive application/zip public.archive
    public.tar-archive application/x-tar public.archive
    public.bzip2-archive application/x-bzip2 public.archive
    org.gnu.gnu-zip-archive application/gzip public.archive
    org.gnu.gnu-zip-tar-archive application/x-compressed-tar org.gnu.gnu-zip-archive
    org.tukaani.xz-archive application/x-xz public.archive
    org.7-zip.7-zip-archive application/x-7z-compressed public.archive
    com.rarlab.rar-archive application/vnd.rar public.archive
    com.sun.java-archive application/x-java-archive public.zip-archive
    public.disk-image - public.archive
    public.iso-image application/x-cd-image public.disk-image
    com.apple.disk-image-udif application/x-apple-diskimage public.disk-image
    com.adobe.pdf application/pdf public.data public.composite-content
    public.spreadsheet - public.content
    public.presentation - public.composite-content
    org.idpf.epub-container application/epub+zip public.data public.composite-content
    com.microsoft.word.doc application/msword public.data public.composite-content
    com.microsoft.excel.xls application/vnd.ms-excel public.data public.spreadsheet
    com.microsoft.powerpoint.ppt application/vnd.ms-powerpoint public.data public.presentation
    org.openxmlformats.wordprocessingml.document \
    application/vnd.openxmlformats-officedocument.wordprocessingml.document public.data public.composite-content
    org.openxmlformats.spreadsheetml.sheet \
    application/vnd.openxmlformats-officedocument.spreadsheetml.sheet public.data public.spreadsheet
    org.openxmlformats.presentationml.presentation \
    application/vnd.openxmlformats-officedocument.presentationml.presentation public.data public.presentation
    org.oasis-open.opendocument.text \
    application/vnd.oasis.opendocument.text public.data public.composite-content
    org.oasis-open.opendocument.spreadsheet \
    application/vnd.oasis.opendocument.spreadsheet public.data public.spreadsheet
    org.oasis-open.opendocument.presentation \
    application/vnd.oasis.opendocument.presentation public.data public.presentation
    org.oasis-open.opendocument.graphics \
    application/vnd.oasis.opendocument.graphics public.data public.composite-content
    com.apple.iwork.pages.sffpages application/vnd.apple.pages public.data public.composite-content
    com.apple.iwork.numbers.sffnumbers application/vnd.apple.numbers public.data public.spreadsheet
    com.apple.iwork.keynote.sffkey application/vnd.apple.keynote public.data public.presentation
    """
  ).map { row in
    let twin = row.count > 1 ? ContentType(row[1], as: .asked) : nil
    guard row.count > 1, twin != nil || row[1] == "-" else {
      preconditionFailure("a row of the table of identifiers has no twin: \(row)")
    }
    return Identifier(name: row[0], twin: twin, parents: Array(row.dropFirst(2)))
  }
}
