extension DaemonBus {
  /// The configuration uses nothing of the machine: no folders with services, no policy, and limits that no test reaches by accident.
  static func configuration(in folder: String, limits changed: [String: Int]) -> String {
    let usual = [
      "max_incoming_bytes": 1_000_000_000, "max_outgoing_bytes": 1_000_000_000, "max_message_size": 1_000_000_000,
      "max_incoming_unix_fds": 250_000, "max_outgoing_unix_fds": 250_000, "max_message_unix_fds": 4096,
      "service_start_timeout": 120_000, "auth_timeout": 240_000, "pending_fd_timeout": 150_000,
      "max_completed_connections": 100_000, "max_incomplete_connections": 10_000,
      "max_connections_per_user": 100_000, "max_pending_service_starts": 10_000, "max_names_per_connection": 50_000,
      "max_match_rules_per_connection": 50_000, "max_replies_per_connection": 50_000,
    ]
    let elements = usual.merging(changed) { $1 }.map { "  <limit name=\"\($0.key)\">\($0.value)</limit>\n" }.joined()
    return """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <type>session</type>
        <keep_umask/>
        <listen>unix:path=\(folder)/bus</listen>
        <auth>EXTERNAL</auth>
        <servicedir>\(folder)/services</servicedir>
        <policy context="default">
          <allow user="*"/>
          <allow send_destination="*" eavesdrop="true"/>
          <allow eavesdrop="true"/>
          <allow own="*"/>
        </policy>
      \(elements)</busconfig>
      """
  }
}
