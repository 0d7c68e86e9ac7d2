// The load for all services, and the C client as the comparison for the Swift client.
//
//     load CALL BUS-NAME one|N[/SENDERS] COUNT WARM-UP TEXT [KEYS]
//
// CALL is one of
//
//     echo    TEXT comes back
//     drop    an activity of type TEXT with one of KEYS keys, each time another key, for a session that exists already
//     deliver the same activity as a payload that waits until the application's host has it
//     open    org.freedesktop.Application.Open with one of KEYS files; TEXT is the application's object
//
// "one" waits for each reply before it sends the next call. N keeps N calls in progress, from one connection or evenly
// from SENDERS: after each reply, the next call is sent. WARM-UP calls come first, without being timed, and wait until
// the name has an owner. Without a WARM-UP nothing waits for the owner, because the first call may start the service.
// Prints microseconds per call. Every message is checked: it must be a reply, to a call of ours without a reply, and
// have the expected content.

#include <dbus/dbus.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *destination;
static const char *text;
static long keys = 1;

static void fail(const char *why) {
    fprintf(stderr, "load: %s: %s\n", destination, why);
    exit(1);
}

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

// The calls.

typedef struct {
    const char *name;
    DBusMessage *(*make)(void);
    void (*check)(DBusMessage *reply);
} Call;

static const Call *call;
// Whether the session for a drop may not exist yet.
static int is_warming_up;

// Goes through all keys without neighbours in a row: a large prime has no divisor in common with the number of keys.
static const char *next_key(const char *prefix) {
    static char key[64];
    static unsigned long turn;
    snprintf(key, sizeof key, "%s%lu", prefix, turn * 1000003 % keys);
    turn++;
    return key;
}

static DBusMessage *make_echo(void) {
    DBusMessage *call = dbus_message_new_method_call(destination, "/org/stagedoor/Echo", "org.stagedoor.Echo", "Echo");
    if (call && !dbus_message_append_args(call, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID))
        fail("no call could be made");
    return call;
}

static void check_echo(DBusMessage *reply) {
    const char *echo;
    if (!dbus_message_get_args(reply, NULL, DBUS_TYPE_STRING, &echo, DBUS_TYPE_INVALID))
        fail("the reply holds no string");
    if (strcmp(echo, text) != 0)
        fail("the reply holds another string");
}

static void append_empty(DBusMessageIter *arguments, const char *entry) {
    DBusMessageIter dictionary;
    if (!dbus_message_iter_open_container(arguments, DBUS_TYPE_ARRAY, entry, &dictionary) ||
        !dbus_message_iter_close_container(arguments, &dictionary))
        fail("no call could be made");
}

static DBusMessage *make_drop(void) {
    const char *interface = "org.stagedoor.Interchange1", *key = next_key("document-");
    DBusMessage *call = dbus_message_new_method_call(destination, "/org/stagedoor/Interchange1", interface, "Drop");
    DBusMessageIter arguments;
    dbus_message_iter_init_append(call, &arguments);
    dbus_message_iter_append_basic(&arguments, DBUS_TYPE_STRING, &text);
    dbus_message_iter_append_basic(&arguments, DBUS_TYPE_STRING, &key);
    append_empty(&arguments, "{ss}");
    return call;
}

static void check_drop(DBusMessage *reply) {
    const char *session, *outcome, *delivery;
    if (!dbus_message_get_args(reply, NULL, DBUS_TYPE_OBJECT_PATH, &session, DBUS_TYPE_STRING, &outcome,
                               DBUS_TYPE_STRING, &delivery, DBUS_TYPE_INVALID))
        fail("the reply is not (session, outcome, delivery)");
    if (strcmp(outcome, "activated") != 0 && !is_warming_up)
        fail("it did not go to a session that there was");
    if (strlen(delivery) != 36)
        fail("the delivery is no UUID");
}

static DBusMessage *make_deliver(void) {
    const char *interface = "org.stagedoor.Interchange1";
    char payload[512];
    const char *document = payload;
    snprintf(payload, sizeof payload,
             "{\"activity\":{\"activityType\":\"%s\",\"targetContentIdentifier\":\"%s\"},"
             "\"options\":{\"wait\":\"handled\"}}",
             text, next_key("document-"));
    DBusMessage *call = dbus_message_new_method_call(destination, "/org/stagedoor/Interchange1", interface, "Deliver");
    if (call && !dbus_message_append_args(call, DBUS_TYPE_STRING, &document, DBUS_TYPE_INVALID))
        fail("no call could be made");
    return call;
}

static DBusMessage *make_open(void) {
    const char *uri = next_key("file:///home/user/document-");
    DBusMessage *call = dbus_message_new_method_call(destination, text, "org.freedesktop.Application", "Open");
    DBusMessageIter arguments, list;
    dbus_message_iter_init_append(call, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "s", &list);
    dbus_message_iter_append_basic(&list, DBUS_TYPE_STRING, &uri);
    dbus_message_iter_close_container(&arguments, &list);
    append_empty(&arguments, "{sv}");
    return call;
}

static void check_open(DBusMessage *reply) {
    if (strcmp(dbus_message_get_signature(reply), "") != 0)
        fail("the reply holds something");
}

static const Call calls[] = {
    {"echo", make_echo, check_echo},
    {"drop", make_drop, check_drop},
    {"deliver", make_deliver, check_drop},
    {"open", make_open, check_open},
};

static DBusMessage *new_call(void) {
    DBusMessage *message = call->make();
    if (!message)
        fail("no call could be made");
    return message;
}

static void check(DBusMessage *reply) {
    if (dbus_message_get_type(reply) != DBUS_MESSAGE_TYPE_METHOD_RETURN) {
        const char *why = "";
        dbus_message_get_args(reply, NULL, DBUS_TYPE_STRING, &why, DBUS_TYPE_INVALID);
        fprintf(stderr, "%s\n", why);
        fail(dbus_message_get_error_name(reply));
    }
    call->check(reply);
}

// The callers.

enum { MANY = 64, TABLE = 4096 };

typedef struct {
    DBusConnection *connection;
    // The serials of calls in progress. Serials are consecutive, so their low bits differ as long as no call falls
    // TABLE calls behind. An occupied place is noticed.
    dbus_uint32_t under_way[TABLE];
} Sender;

static Sender senders[MANY];
static int sender_count = 1;

static void connect_senders(void) {
    DBusError error = DBUS_ERROR_INIT;
    for (int i = 0; i < sender_count; i++) {
        senders[i].connection = dbus_bus_get_private(DBUS_BUS_SESSION, &error);
        if (!senders[i].connection)
            fail(error.message);
    }
}

static void wait_for_owner(void) {
    for (int tries = 0; !dbus_bus_name_has_owner(senders[0].connection, destination, NULL); tries++) {
        if (tries == 10000)
            fail("nobody has the name");
        usleep(1000);
    }
}

static void one_at_a_time(long count) {
    DBusError error = DBUS_ERROR_INIT;
    for (long i = 0; i < count; i++) {
        DBusMessage *message = new_call();
        DBusMessage *reply = dbus_connection_send_with_reply_and_block(senders[0].connection, message, -1, &error);
        if (!reply)
            fail(error.message);
        check(reply);
        dbus_message_unref(reply);
        dbus_message_unref(message);
    }
}

static void send_call(Sender *sender) {
    DBusMessage *message = new_call();
    dbus_uint32_t serial;
    if (!dbus_connection_send(sender->connection, message, &serial))
        fail("a call could not be sent");
    if (sender->under_way[serial % TABLE])
        fail("a call was left behind");
    sender->under_way[serial % TABLE] = serial;
    dbus_message_unref(message);
}

// Returns the number of replies.
static long receive(Sender *sender, long to_send) {
    long received = 0;
    DBusMessage *message;
    while ((message = dbus_connection_pop_message(sender->connection))) {
        dbus_uint32_t serial = dbus_message_get_reply_serial(message);
        // Signals of the bus itself (NameAcquired) are no replies.
        if (serial != 0) {
            if (sender->under_way[serial % TABLE] != serial)
                fail("a reply to no call");
            sender->under_way[serial % TABLE] = 0;
            check(message);
            if (received++ < to_send)
                send_call(sender);
        }
        dbus_message_unref(message);
    }
    return received;
}

static void read_and_write(void) {
    if (sender_count == 1) {
        if (!dbus_connection_read_write(senders[0].connection, -1))
            fail("the bus hung up");
        return;
    }
    struct pollfd sockets[MANY];
    for (int i = 0; i < sender_count; i++) {
        DBusConnection *connection = senders[i].connection;
        dbus_connection_get_unix_fd(connection, &sockets[i].fd);
        sockets[i].events = POLLIN | (dbus_connection_has_messages_to_send(connection) ? POLLOUT : 0);
    }
    poll(sockets, sender_count, -1);
    for (int i = 0; i < sender_count; i++)
        if (sockets[i].revents && !dbus_connection_read_write(senders[i].connection, 0))
            fail("the bus hung up");
}

static void many_at_a_time(long count, long width) {
    long sent = 0, received = 0;
    while (sent < width && sent < count)
        send_call(&senders[sent++ % sender_count]);
    while (received < count) {
        read_and_write();
        for (int i = 0; i < sender_count; i++) {
            long replies = receive(&senders[i], count - sent);
            received += replies;
            sent += replies < count - sent ? replies : count - sent;
        }
    }
}

static void run(long count, long width) {
    if (width == 0)
        one_at_a_time(count);
    else
        many_at_a_time(count, width);
}

int main(int argc, char **argv) {
    if (argc < 7 || argc > 8) {
        fprintf(stderr, "usage: load CALL BUS-NAME one|N[/SENDERS] COUNT WARM-UP TEXT [KEYS]\n");
        return 64;
    }
    destination = argv[2];
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(argv[1], calls[i].name) == 0)
            call = &calls[i];
    if (!call)
        fail("there is no such call");
    long width = strcmp(argv[3], "one") == 0 ? 0 : atol(argv[3]);
    const char *slash = strchr(argv[3], '/');
    if (slash)
        sender_count = atoi(slash + 1);
    long count = atol(argv[4]), warm_up = atol(argv[5]);
    text = argv[6];
    if (argc == 8)
        keys = atol(argv[7]);
    if (width < 0 || width > TABLE / 4 || sender_count < 1 || sender_count > MANY || count < 1 || warm_up < 0 ||
        keys < 1)
        fail("a number makes no sense");

    connect_senders();
    if (warm_up > 0) {
        wait_for_owner();
        is_warming_up = 1;
        run(warm_up, width);
        is_warming_up = 0;
    }
    double start = microseconds();
    run(count, width);
    printf("%.4f\n", (microseconds() - start) / count);
    return 0;
}
