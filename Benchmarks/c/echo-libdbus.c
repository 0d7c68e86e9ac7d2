// An echo service on libdbus-1, written as its documentation teaches: the comparison for the Swift binding.
//
//     echo-libdbus BUS-NAME        prints "ready" when it owns the name

#include <dbus/dbus.h>
#include <stdio.h>
#include <stdlib.h>

static DBusHandlerResult on_message(DBusConnection *connection, DBusMessage *call, void *data) {
    (void)data;
    if (!dbus_message_is_method_call(call, "org.stagedoor.Echo", "Echo"))
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;

    DBusMessage *reply;
    const char *text;
    if (dbus_message_get_args(call, NULL, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID)) {
        reply = dbus_message_new_method_return(call);
        dbus_message_append_args(reply, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID);
    } else {
        reply = dbus_message_new_error(call, DBUS_ERROR_INVALID_ARGS, "Echo takes one string");
    }
    dbus_connection_send(connection, reply, NULL);
    dbus_message_unref(reply);
    return DBUS_HANDLER_RESULT_HANDLED;
}

static void check(DBusError *error) {
    if (!dbus_error_is_set(error))
        return;
    fprintf(stderr, "echo-libdbus: %s\n", error->message);
    exit(1);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: echo-libdbus BUS-NAME\n");
        return 64;
    }
    DBusError error = DBUS_ERROR_INIT;
    DBusConnection *connection = dbus_bus_get(DBUS_BUS_SESSION, &error);
    check(&error);

    const DBusObjectPathVTable vtable = {.message_function = on_message};
    dbus_connection_register_object_path(connection, "/org/stagedoor/Echo", &vtable, NULL);

    int outcome = dbus_bus_request_name(connection, argv[1], DBUS_NAME_FLAG_DO_NOT_QUEUE, &error);
    check(&error);
    if (outcome != DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER) {
        fprintf(stderr, "echo-libdbus: %s belongs to another\n", argv[1]);
        return 1;
    }
    puts("ready");
    fflush(stdout);

    while (dbus_connection_read_write_dispatch(connection, -1))
        ;
    return 0;
}
