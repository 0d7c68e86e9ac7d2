import DBus
import Testing

@Suite struct IntrospectionWriterTests {
  @Test func `a document is laid out as everyone lays it out`() {
    let node = Introspection.Node(
      "/org/example/Library", documentation: "A library.",
      interfaces: [
        .init(
          "org.example.Library1", documentation: "Lends books.\n\nOne at a time:\n  lend --now",
          annotations: [.emitsChangedSignal(.invalidates)],
          methods: [
            .init(
              "Lend", annotations: [.unixFD, .init("org.example.Type", "List<\"Book\" & 'Map'>\n")],
              in: [.init("book", "o", documentation: "Which."), .init(nil, "a{sv}")], out: [.init("data", "h")]),
            .init("Close"),
          ],
          signals: [.init("Lent", [.init("book", "o", annotations: [.deprecated])]), .init("Closed")],
          properties: [
            .init("Open", "b", access: .readWrite), .init("Version", "u", annotations: [.emitsChangedSignal(.const)]),
          ]),
        .init("org.example.Empty"),
      ],
      children: [.init("book_7")])
    #expect(
      node.xml == """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
          "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
        <!-- A library. -->
        <node name="/org/example/Library">
          <!-- Lends books.

               One at a time:
                 lend -&#45;now -->
          <interface name="org.example.Library1">
            <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="invalidates"/>
            <method name="Lend">
              <annotation name="org.gtk.GDBus.C.UnixFD" value="true"/>
              <annotation name="org.example.Type" value="List&lt;&quot;Book&quot; &amp; 'Map'&gt;&#10;"/>
              <!-- Which. -->
              <arg name="book" type="o" direction="in"/>
              <arg type="a{sv}" direction="in"/>
              <arg name="data" type="h" direction="out"/>
            </method>
            <method name="Close"/>
            <signal name="Lent">
              <arg name="book" type="o">
                <annotation name="org.freedesktop.DBus.Deprecated" value="true"/>
              </arg>
            </signal>
            <signal name="Closed"/>
            <property name="Open" type="b" access="readwrite"/>
            <property name="Version" type="u" access="read">
              <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
            </property>
          </interface>
          <interface name="org.example.Empty"/>
          <node name="book_7"/>
        </node>

        """)
  }

  @Test func `an object without anything is an empty element`() {
    #expect(Introspection.Node().xml == Introspection.documentType + "\n<node/>\n")
  }
}
