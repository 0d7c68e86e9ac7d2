// The least host: it takes every delivery of one application at once. Drops that wait until their host has them are
// measured with it.
//
//     host-libdbus APPLICATION

#include <dbus/dbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(DBusError *error) {
    if (!dbus_error_is_set(error))
        return;
    fprintf(stderr, "host-libdbus: %s\n", error->message);
    exit(1);
}

static DBusHandlerResult on_message(DBusConnection *connection, DBusMessage *call, void *data) {
    (void)data;
    if (dbus_message_get_type(call) != DBUS_MESSAGE_TYPE_METHOD_CALL)
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    DBusMessage *reply = dbus_message_new_method_return(call);
    dbus_connection_send(connection, reply, NULL);
    dbus_message_unref(reply);
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
    DBusError error = DBUS_ERROR_INIT;
    DBusConnection *connection = dbus_bus_get(DBUS_BUS_SESSION, &error);
    check(&error);

    char path[256];
    snprintf(path, sizeof path, "/%s", argv[1]);
    for (char *letter = path; *letter; letter++)
        if (*letter == '.' || *letter == '-')
            *letter = *letter == '.' ? '/' : '_';
    const DBusObjectPathVTable vtable = {.message_function = on_message};
    dbus_connection_register_object_path(connection, path, &vtable, NULL);

    if (dbus_bus_request_name(connection, argv[1], DBUS_NAME_FLAG_DO_NOT_QUEUE, &error) !=
        DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER) {
        check(&error);
        fprintf(stderr, "host-libdbus: %s belongs to another\n", argv[1]);
        return 1;
    }
    attach(connection, argv[1]);
    puts("attached");
    fflush(stdout);
    while (dbus_connection_read_write_dispatch(connection, -1))
        ;
    return 0;
}
