// The same echo service on GDBus, the binding that most C programs use.
//
//     echo-gdbus BUS-NAME        prints "ready" when it owns the name

#include <gio/gio.h>
#include <stdio.h>
#include <stdlib.h>

static const char introspection[] =
    "<node>"
    "  <interface name='org.stagedoor.Echo'>"
    "    <method name='Echo'>"
    "      <arg type='s' name='text' direction='in'/>"
    "      <arg type='s' name='text' direction='out'/>"
    "    </method>"
    "  </interface>"
    "</node>";

static void on_call(GDBusConnection *connection, const char *sender, const char *path, const char *interface,
                    const char *method, GVariant *arguments, GDBusMethodInvocation *invocation, gpointer data) {
    (void)connection, (void)sender, (void)path, (void)interface, (void)method, (void)data;
    // There is one method; GDBus has checked its name and the arguments' types against the introspection data.
    const char *text;
    g_variant_get(arguments, "(&s)", &text);
    g_dbus_method_invocation_return_value(invocation, g_variant_new("(s)", text));
}

static const GDBusInterfaceVTable vtable = {.method_call = on_call};

static void on_bus(GDBusConnection *connection, const char *name, gpointer data) {
    (void)name;
    GDBusNodeInfo *node = data;
    GError *error = NULL;
    g_dbus_connection_register_object(connection, "/org/stagedoor/Echo", node->interfaces[0], &vtable, NULL, NULL, &error);
    g_assert_no_error(error);
}

static void on_name(GDBusConnection *connection, const char *name, gpointer data) {
    (void)connection, (void)name, (void)data;
    puts("ready");
    fflush(stdout);
}

static void on_name_lost(GDBusConnection *connection, const char *name, gpointer data) {
    (void)connection, (void)data;
    fprintf(stderr, "echo-gdbus: no bus, or %s belongs to another\n", name);
    exit(1);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: echo-gdbus BUS-NAME\n");
        return 64;
    }
    GDBusNodeInfo *node = g_dbus_node_info_new_for_xml(introspection, NULL);
    g_bus_own_name(G_BUS_TYPE_SESSION, argv[1], G_BUS_NAME_OWNER_FLAGS_DO_NOT_QUEUE, on_bus, on_name, on_name_lost, node, NULL);
    g_main_loop_run(g_main_loop_new(NULL, FALSE));
    return 0;
}
