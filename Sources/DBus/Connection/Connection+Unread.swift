internal import CDBus
internal import Glibc

extension Connection {
  /// Whether something has come that was not read yet. Asked on the loop, of which each turn reads two KiB.
  package var hasUnread: Bool {
    var socket = pollfd(fd: -1, events: Int16(POLLIN), revents: 0)
    guard let raw, dbus_connection_get_unix_fd(raw, &socket.fd) != 0 else { return false }
    return poll(&socket, 1, 0) > 0 && socket.revents & Int16(POLLIN) != 0
  }

  /// Whether something waits for room in the socket: what is sent next stands behind it.
  var hasUnsent: Bool { raw.map { dbus_connection_has_messages_to_send($0) != 0 } ?? false }
}
