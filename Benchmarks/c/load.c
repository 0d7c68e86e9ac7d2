// The load for all echo services, and the C client that the Swift client is measured against.
//
//     load BUS-NAME one|N COUNT WARM-UP TEXT
//
// "one" waits for each reply before it sends the next call. N keeps N calls under way: each reply sends the
// next call. WARM-UP calls go first and are not timed. Prints microseconds per call. Every reply is checked:
// that it is a reply, to a call of ours that had none yet, and that the text is the same.

#include <dbus/dbus.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static DBusConnection *connection;
static const char *destination;
static const char *text;

static void fail(const char *why) {
    fprintf(stderr, "load: %s: %s\n", destination, why);
    exit(1);
}

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static DBusMessage *new_call(void) {
    DBusMessage *call = dbus_message_new_method_call(destination, "/org/stagedoor/Echo", "org.stagedoor.Echo", "Echo");
    if (!call || !dbus_message_append_args(call, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID))
        fail("no call could be made");
    return call;
}

static void check_echo(DBusMessage *reply) {
    const char *echo;
    if (dbus_message_get_type(reply) != DBUS_MESSAGE_TYPE_METHOD_RETURN)
        fail(dbus_message_get_error_name(reply));
    if (!dbus_message_get_args(reply, NULL, DBUS_TYPE_STRING, &echo, DBUS_TYPE_INVALID))
        fail("the reply holds no string");
    if (strcmp(echo, text) != 0)
        fail("the reply holds another string");
}

static void one_at_a_time(long count) {
    DBusError error = DBUS_ERROR_INIT;
    for (long i = 0; i < count; i++) {
        DBusMessage *call = new_call();
        DBusMessage *reply = dbus_connection_send_with_reply_and_block(connection, call, -1, &error);
        if (!reply)
            fail(error.message);
        check_echo(reply);
        dbus_message_unref(reply);
        dbus_message_unref(call);
    }
}

// Serials of calls under way. They are handed out in a row, so the low bits of those under way differ for as
// long as no service falls TABLE calls behind itself; an occupied place is noticed.
enum { TABLE = 4096 };
static dbus_uint32_t under_way[TABLE];

static void send_call(void) {
    DBusMessage *call = new_call();
    dbus_uint32_t serial;
    if (!dbus_connection_send(connection, call, &serial))
        fail("a call could not be sent");
    if (under_way[serial % TABLE])
        fail("a call was left behind");
    under_way[serial % TABLE] = serial;
    dbus_message_unref(call);
}

static void many_at_a_time(long count, long width) {
    long sent = 0, received = 0;
    while (sent < width && sent < count)
        send_call(), sent++;
    while (received < count) {
        if (!dbus_connection_read_write(connection, -1))
            fail("the bus hung up");
        DBusMessage *message;
        while ((message = dbus_connection_pop_message(connection))) {
            dbus_uint32_t serial = dbus_message_get_reply_serial(message);
            // Signals of the bus itself (NameAcquired) are no replies.
            if (serial != 0) {
                if (under_way[serial % TABLE] != serial)
                    fail("a reply to no call");
                under_way[serial % TABLE] = 0;
                check_echo(message);
                received++;
                if (sent < count)
                    send_call(), sent++;
            }
            dbus_message_unref(message);
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: load BUS-NAME one|N COUNT WARM-UP TEXT\n");
        return 64;
    }
    destination = argv[1];
    long width = strcmp(argv[2], "one") == 0 ? 0 : atol(argv[2]);
    long count = atol(argv[3]), warm_up = atol(argv[4]);
    text = argv[5];
    if (width < 0 || width > TABLE / 4 || count < 1 || warm_up < 0)
        fail("a number makes no sense");

    DBusError error = DBUS_ERROR_INIT;
    connection = dbus_bus_get(DBUS_BUS_SESSION, &error);
    if (!connection)
        fail(error.message);

    double start = 0;
    for (int pass = 0; pass < 2; pass++) {
        long calls = pass == 0 ? warm_up : count;
        start = microseconds();
        if (width == 0)
            one_at_a_time(calls);
        else
            many_at_a_time(calls, width);
    }
    printf("%.4f\n", (microseconds() - start) / count);
    return 0;
}
