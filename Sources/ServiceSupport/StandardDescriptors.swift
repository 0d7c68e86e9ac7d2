import Glibc

package enum StandardDescriptors {
  /// Fills the places of standard input, output and error that are closed. If one stayed free, the next file or connection that this program opens
  /// would get its number, and would be read or written in its place. Reading from a filled place or writing to it fails, as before.
  package static func fill() {
    let places = [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    // The lowest free number is the place itself, because those below it are filled.
    for (place, mode) in places where fcntl(place, F_GETFD) < 0 { _ = open("/dev/null", mode) }
  }
}
