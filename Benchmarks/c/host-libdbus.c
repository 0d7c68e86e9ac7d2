// The least host: it takes every delivery of one application at once. Drops that wait until their host has them are
// measured with it.
//
//     host-libdbus APPLICATION

#include "service.h"
#include <unistd.h>

static DBusHandlerResult on_message(DBusConnection *connection, DBusMessage *call, void *data) {
    (void)data;
    if (dbus_message_get_type(call) != DBUS_MESSAGE_TYPE_METHOD_CALL)
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    post(connection, dbus_message_new_method_return(call));
    return DBUS_HANDLER_RESULT_HANDLED;
}

static void attach(DBusConnection *connection, const char *application) {
    DBusError error = DBUS_ERROR_INIT;
    const char **none = NULL;
    const char *interface = "org.stagedoor.Interchange1";
    for (int tries = 0; !dbus_bus_name_has_owner(connection, interface, NULL) && tries < 10000; tries++)
        usleep(1000);
    DBusMessage *call = dbus_message_new_method_call(interface, "/org/stagedoor/Interchange1", interface, "AttachHost");
    dbus_message_append_args(call, DBUS_TYPE_STRING, &application, DBUS_TYPE_ARRAY, DBUS_TYPE_OBJECT_PATH,
                             &none, 0, DBUS_TYPE_INVALID);
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(connection, call, -1, &error);
    check(&error);
    dbus_message_unref(reply);
    dbus_message_unref(call);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: host-libdbus APPLICATION\n");
        return 64;
    }
    DBusConnection *connection = own_as_host(argv[1], on_message);
    attach(connection, argv[1]);
    serve(connection, "attached");
    return 0;
}
