package import DBusTestSupport
import FoundationEssentials
import Glibc

/// A sandbox with everything of Flatpak's that the service looks at: a root directory with `/.flatpak-info`, for one process alone.
extension House {
  private static let enter = """
    set -e
    root=$(mktemp -d)
    mount -t tmpfs tmpfs "$root"
    for folder in /bin /lib* /usr /etc /tmp /dev /proc; do
      if [ -L "$folder" ]; then cp -a "$folder" "$root$folder"
      else mkdir "$root$folder"; mount --rbind "$folder" "$root$folder"; fi
    done
    printf '%s' "$1" >"$root/.flatpak-info"
    shift
    exec chroot "$root" "$@"
    """

  /// Whether this machine can play a sandbox. The bus must take the program for the same user; in a user namespace it does so only for root.
  package static let canSandbox: Bool =
    getuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/unshare")
    && system("unshare -r -m true 2>/dev/null") == 0

  /// A command in the sandbox of an application. It sees only the programs of the machine and `/tmp`.
  package func sandboxed(as application: String, _ program: String, arguments: [String]) -> Command {
    let info = "[Application]\nname=\(application)\n"
    return command("unshare", arguments: ["-r", "-m", "sh", "-c", Self.enter, "sh", info, program] + arguments)
  }
}
