// The comparison for `stagedoord`: a libdbus-1 service that decides nothing. Its Drop only emits one signal and replies.
// Its Deliver exchanges with the attached host, and with everyone, the messages of a delivery that waits until it is
// handled. It has the signatures, the names and the lengths of texts of `org.stagedoor.Interchange1`.
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
static dbus_uint64_t sequence;

static void emit_routed(DBusConnection *connection, const char *type, const char *key) {
    sequence++;
    DBusMessage *routed = dbus_message_new_signal(path, interface, "Routed");
    dbus_message_append_args(routed, DBUS_TYPE_STRING, &application, DBUS_TYPE_OBJECT_PATH, &session, DBUS_TYPE_STRING,
                             &outcome, DBUS_TYPE_STRING, &configuration, DBUS_TYPE_STRING, &type, DBUS_TYPE_STRING,
                             &key, DBUS_TYPE_STRING, &delivery, DBUS_TYPE_UINT64, &sequence, DBUS_TYPE_INVALID);
    post(connection, routed);
}

static void reply_delivered(DBusConnection *connection, DBusMessage *call) {
    DBusMessage *reply = dbus_message_new_method_return(call);
    dbus_message_append_args(reply, DBUS_TYPE_OBJECT_PATH, &session, DBUS_TYPE_STRING, &outcome, DBUS_TYPE_STRING,
                             &delivery, DBUS_TYPE_INVALID);
    post(connection, reply);
}

static void drop(DBusConnection *connection, DBusMessage *call) {
    DBusMessageIter arguments;
    const char *type, *key;
    dbus_message_iter_init(call, &arguments);
    dbus_message_iter_get_basic(&arguments, &type);
    dbus_message_iter_next(&arguments);
    dbus_message_iter_get_basic(&arguments, &key);
    emit_routed(connection, type, key);
    reply_delivered(connection, call);
}

// The delivery that waits for the host.
static DBusMessage *under_way;

static DBusMessage *ask_host(const char *member) {
    return dbus_message_new_method_call(application, "/org/stagedoor/bench/Desk", "org.stagedoor.SceneHost1", member);
}

static void on_handled(DBusPendingCall *pending, void *data) {
    DBusConnection *connection = data;
    dbus_message_unref(dbus_pending_call_steal_reply(pending));
    dbus_pending_call_unref(pending);
    DBusMessage *handled = dbus_message_new_signal(path, interface, "Handled");
    dbus_message_append_args(handled, DBUS_TYPE_STRING, &application, DBUS_TYPE_OBJECT_PATH, &session, DBUS_TYPE_STRING,
                             &delivery, DBUS_TYPE_UINT64, &sequence, DBUS_TYPE_INVALID);
    post(connection, handled);
    reply_delivered(connection, under_way);
    dbus_message_unref(under_way);
    DBusMessage *activate = ask_host("ActivateScene");
    DBusMessageIter arguments, options;
    dbus_message_iter_init_append(activate, &arguments);
    dbus_message_iter_append_basic(&arguments, DBUS_TYPE_OBJECT_PATH, &session);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{ss}", &options);
    dbus_message_iter_close_container(&arguments, &options);
    post(connection, activate);
}

static void deliver(DBusConnection *connection, DBusMessage *call) {
    static const char *const type = "org.stagedoor.bench.Desk.show", *const key = "document-6";
    static const char *const document =
        "{\"attempt\":1,\"deadline\":\"2026-11-30T21:27:15.294464Z\",\"delivery\":\"5e6f7a8b-9c0d-4e1f-a2b3-c4d5e6f7a8b9\","
        "\"role\":\"UIWindowSceneSessionRoleApplication\",\"userActivities\":[{\"activityType\":"
        "\"org.stagedoor.bench.Desk.show\",\"targetContentIdentifier\":\"document-6\"}]}";
    emit_routed(connection, type, key);
    under_way = dbus_message_ref(call);
    DBusMessage *take = ask_host("ContinueScene");
    dbus_message_append_args(take, DBUS_TYPE_OBJECT_PATH, &session, DBUS_TYPE_STRING, &document, DBUS_TYPE_INVALID);
    DBusPendingCall *pending;
    dbus_connection_send_with_reply(connection, take, &pending, -1);
    dbus_message_unref(take);
    dbus_pending_call_set_notify(pending, on_handled, connection, NULL);
}

static DBusHandlerResult on_message(DBusConnection *connection, DBusMessage *call, void *data) {
    (void)data;
    if (dbus_message_is_method_call(call, interface, "AttachHost"))
        post(connection, dbus_message_new_method_return(call));
    else if (dbus_message_is_method_call(call, interface, "Deliver"))
        deliver(connection, call);
    else if (!dbus_message_is_method_call(call, interface, "Drop"))
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    else if (dbus_message_has_signature(call, "ssa{ss}"))
        drop(connection, call);
    else
        post(connection, dbus_message_new_error(call, DBUS_ERROR_INVALID_ARGS, "Drop takes \"ssa{ss}\""));
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
