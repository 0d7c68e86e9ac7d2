// The frame of a service on libdbus-1, as its documentation teaches it: one object, one name, and the loop.

#define _GNU_SOURCE
#include <dbus/dbus.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static inline void check(DBusError *error) {
    if (!dbus_error_is_set(error))
        return;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, error->message);
    exit(1);
}

static inline void post(DBusConnection *connection, DBusMessage *message) {
    dbus_connection_send(connection, message, NULL);
    dbus_message_unref(message);
}

static inline DBusConnection *own(const char *name, const char *path, DBusObjectPathMessageFunction on_message) {
    DBusError error = DBUS_ERROR_INIT;
    DBusConnection *connection = dbus_bus_get(DBUS_BUS_SESSION, &error);
    check(&error);
    const DBusObjectPathVTable vtable = {.message_function = on_message};
    dbus_connection_register_object_path(connection, path, &vtable, NULL);
    int result = dbus_bus_request_name(connection, name, DBUS_NAME_FLAG_DO_NOT_QUEUE, &error);
    check(&error);
    if (result != DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER) {
        fprintf(stderr, "%s: %s belongs to another\n", program_invocation_short_name, name);
        exit(1);
    }
    return connection;
}

// The object of a host is named after its application.
static inline DBusConnection *own_as_host(const char *application, DBusObjectPathMessageFunction on_message) {
    char path[256];
    snprintf(path, sizeof path, "/%s", application);
    for (char *letter = path; *letter; letter++)
        if (*letter == '.' || *letter == '-')
            *letter = *letter == '.' ? '/' : '_';
    return own(application, path, on_message);
}

// Greets whoever waits for it, if anybody does.
static inline void serve(DBusConnection *connection, const char *greeting) {
    if (greeting)
        puts(greeting);
    fflush(stdout);
    while (dbus_connection_read_write_dispatch(connection, -1))
        ;
}
