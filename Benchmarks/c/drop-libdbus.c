// The comparison for `stagedoord`: a libdbus-1 service whose Drop only emits one signal and replies.
// It has the signatures, the names and the lengths of texts of `org.stagedoor.Interchange1`.
//
//     drop-libdbus BUS-NAME

#include "service.h"

static const char *const interface = "org.stagedoor.Interchange1";
static const char *const path = "/org/stagedoor/Interchange1";
static const char *const session = "/org/stagedoor/Interchange1/session/0a1b2c3d_4e5f_4a6b_8c7d_9e0f1a2b3c4d";
static const char *const delivery = "5e6f7a8b-9c0d-4e1f-a2b3-c4d5e6f7a8b9";
static const char *const outcome = "activated";
static const char *const application = "org.stagedoor.bench.Desk";
static const char *const configuration = "Desk";

static void emit_routed(DBusConnection *connection, const char *type, const char *key) {
    static dbus_uint64_t sequence;
    sequence++;
    DBusMessage *routed = dbus_message_new_signal(path, interface, "Routed");
    dbus_message_append_args(routed, DBUS_TYPE_STRING, &application, DBUS_TYPE_OBJECT_PATH, &session, DBUS_TYPE_STRING,
                             &outcome, DBUS_TYPE_STRING, &configuration, DBUS_TYPE_STRING, &type, DBUS_TYPE_STRING,
                             &key, DBUS_TYPE_STRING, &delivery, DBUS_TYPE_UINT64, &sequence, DBUS_TYPE_INVALID);
    post(connection, routed);
}

static DBusHandlerResult on_message(DBusConnection *connection, DBusMessage *call, void *data) {
    (void)data;
    if (!dbus_message_is_method_call(call, interface, "Drop"))
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;

    DBusMessage *reply;
    if (dbus_message_has_signature(call, "ssa{ss}")) {
        DBusMessageIter arguments;
        const char *type, *key;
        dbus_message_iter_init(call, &arguments);
        dbus_message_iter_get_basic(&arguments, &type);
        dbus_message_iter_next(&arguments);
        dbus_message_iter_get_basic(&arguments, &key);
        emit_routed(connection, type, key);
        reply = dbus_message_new_method_return(call);
        dbus_message_append_args(reply, DBUS_TYPE_OBJECT_PATH, &session, DBUS_TYPE_STRING, &outcome, DBUS_TYPE_STRING,
                                 &delivery, DBUS_TYPE_INVALID);
    } else {
        reply = dbus_message_new_error(call, DBUS_ERROR_INVALID_ARGS, "Drop takes \"ssa{ss}\"");
    }
    post(connection, reply);
    return DBUS_HANDLER_RESULT_HANDLED;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: drop-libdbus BUS-NAME\n");
        return 64;
    }
    serve(own(argv[1], path, on_message), NULL);
    return 0;
}
