// The comparison for a start of `stagedoor`: says hello to the session bus, prints its own name there, and ends.

#include <dbus/dbus.h>
#include <stdio.h>

int main(void) {
    DBusError error = DBUS_ERROR_INIT;
    DBusConnection *connection = dbus_bus_get(DBUS_BUS_SESSION, &error);
    if (connection == NULL) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    puts(dbus_bus_get_unique_name(connection));
    return 0;
}
