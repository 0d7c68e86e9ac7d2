// An echo service on libdbus-1, written as its documentation teaches: the comparison for the Swift binding.
//
//     echo-libdbus BUS-NAME        prints "ready" when it owns the name

#include "service.h"

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
    post(connection, reply);
    return DBUS_HANDLER_RESULT_HANDLED;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: echo-libdbus BUS-NAME\n");
        return 64;
    }
    serve(own(argv[1], "/org/stagedoor/Echo", on_message), "ready");
    return 0;
}
