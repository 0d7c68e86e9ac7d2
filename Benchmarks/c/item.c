// A host in C that hands items to itself: a mebibyte inside the message, a mebibyte by descriptor, and a few bytes.
//
//     item APPLICATION MANIFEST ROUNDS REPEATS
//
// It registers MANIFEST, the document of APPLICATION, and becomes its host. Each time it carries out a whole delivery:
// hand in, open, read, release. In each round, REPEATS deliveries of each kind take turns. Prints for each round what
// a delivery by descriptor takes of the time of one inline, and the same without the time of the few bytes, which is
// what the mebibyte itself costs.

#include "service.h"
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MEBIBYTE = 1 << 20, FEW = 42 };

enum { INLINE, DESCRIPTOR, SMALL, KINDS };

static const char *const service = "org.stagedoor.Interchange1";
static const char *const root = "/org/stagedoor/Interchange1";
static const char *application;
static DBusConnection *bus;
static char bytes[MEBIBYTE];

static void fail(const char *what, const char *why) {
    fprintf(stderr, "item: %s: %s\n", what, why);
    exit(1);
}

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

// The host takes everything.
static DBusHandlerResult take(DBusConnection *connection, DBusMessage *call, void *data) {
    (void)data;
    post(connection, dbus_message_new_method_return(call));
    return DBUS_HANDLER_RESULT_HANDLED;
}

static void finish(DBusPendingCall *pending, void *reply) {
    *(DBusMessage **)reply = dbus_pending_call_steal_reply(pending);
}

// Calls the service, and answers it meanwhile: it may ask the host something before it replies.
static DBusMessage *ask(DBusMessage *call) {
    DBusPendingCall *pending;
    DBusMessage *reply = NULL;
    dbus_connection_send_with_reply(bus, call, &pending, 60000);
    dbus_pending_call_set_notify(pending, finish, &reply, NULL);
    while (!reply && dbus_connection_read_write_dispatch(bus, -1))
        ;
    const char *member = dbus_message_get_member(call);
    if (!reply)
        fail(member, "the bus has gone");
    if (dbus_message_get_type(reply) == DBUS_MESSAGE_TYPE_ERROR) {
        const char *text = dbus_message_get_error_name(reply);
        dbus_message_get_args(reply, NULL, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID);
        fail(member, text);
    }
    dbus_pending_call_unref(pending);
    dbus_message_unref(call);
    return reply;
}

static DBusMessage *call(const char *member) {
    return dbus_message_new_method_call(service, root, service, member);
}

static void open_variant(DBusMessageIter *entries, DBusMessageIter *entry, const char *key, const char *signature,
                         DBusMessageIter *value) {
    dbus_message_iter_open_container(entries, DBUS_TYPE_DICT_ENTRY, NULL, entry);
    dbus_message_iter_append_basic(entry, DBUS_TYPE_STRING, &key);
    dbus_message_iter_open_container(entry, DBUS_TYPE_VARIANT, signature, value);
}

static void close_variant(DBusMessageIter *entries, DBusMessageIter *entry, DBusMessageIter *value) {
    dbus_message_iter_close_container(entry, value);
    dbus_message_iter_close_container(entries, entry);
}

static void put_text(DBusMessageIter *entries, const char *key, const char *text) {
    DBusMessageIter entry, value;
    open_variant(entries, &entry, key, "s", &value);
    dbus_message_iter_append_basic(&value, DBUS_TYPE_STRING, &text);
    close_variant(entries, &entry, &value);
}

// DeliverItems with one item of one representation: `count` bytes inline, or those of `descriptor` if it is not -1.
static char *deliver(int descriptor, int count) {
    DBusMessage *message = call("DeliverItems");
    DBusMessageIter arguments, items, item, representations, representation, entry, value, list, array, options;
    dbus_message_iter_init_append(message, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "a{sv}", &items);
    dbus_message_iter_open_container(&items, DBUS_TYPE_ARRAY, "{sv}", &item);
    open_variant(&item, &representations, "representations", "aa{sv}", &list);
    dbus_message_iter_open_container(&list, DBUS_TYPE_ARRAY, "a{sv}", &array);
    dbus_message_iter_open_container(&array, DBUS_TYPE_ARRAY, "{sv}", &representation);
    put_text(&representation, "type", "image/png");
    if (descriptor >= 0) {
        open_variant(&representation, &entry, "fd", "h", &value);
        dbus_message_iter_append_basic(&value, DBUS_TYPE_UNIX_FD, &descriptor);
    } else {
        DBusMessageIter data;
        const char *start = bytes;
        open_variant(&representation, &entry, "data", "ay", &value);
        dbus_message_iter_open_container(&value, DBUS_TYPE_ARRAY, "y", &data);
        dbus_message_iter_append_fixed_array(&data, DBUS_TYPE_BYTE, &start, count);
        dbus_message_iter_close_container(&value, &data);
    }
    close_variant(&representation, &entry, &value);
    dbus_message_iter_close_container(&array, &representation);
    dbus_message_iter_close_container(&list, &array);
    close_variant(&item, &representations, &list);
    dbus_message_iter_close_container(&items, &item);
    dbus_message_iter_close_container(&arguments, &items);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &options);
    put_text(&options, "application", application);
    dbus_message_iter_close_container(&arguments, &options);

    DBusMessage *reply = ask(message);
    const char *session, *outcome, *delivery;
    if (!dbus_message_get_args(reply, NULL, DBUS_TYPE_OBJECT_PATH, &session, DBUS_TYPE_STRING, &outcome,
                               DBUS_TYPE_STRING, &delivery, DBUS_TYPE_INVALID))
        fail("DeliverItems", "the reply has other types");
    char *copy = strdup(delivery);
    dbus_message_unref(reply);
    return copy;
}

static void open_and_read(const char *delivery, int expected) {
    DBusMessage *message = call("OpenItem");
    const char *type = "";
    dbus_uint32_t item = 0;
    dbus_message_append_args(message, DBUS_TYPE_STRING, &delivery, DBUS_TYPE_UINT32, &item, DBUS_TYPE_STRING, &type,
                             DBUS_TYPE_INVALID);
    DBusMessage *reply = ask(message);
    DBusMessageIter values;
    int descriptor = -1;
    dbus_message_iter_init(reply, &values);
    dbus_message_iter_get_basic(&values, &descriptor);
    dbus_message_unref(reply);
    long count = 0, some;
    while ((some = read(descriptor, bytes, sizeof bytes)) > 0)
        count += some;
    if (count != expected)
        fail("OpenItem", "not all bytes came");
    close(descriptor);
}

static double carry(int kind) {
    double start = microseconds();
    int count = kind == SMALL ? FEW : MEBIBYTE, file = -1;
    if (kind == DESCRIPTOR) {
        file = memfd_create("item", MFD_CLOEXEC);
        if (write(file, bytes, MEBIBYTE) != MEBIBYTE)
            fail("memfd", "it takes no bytes");
    }
    char *delivery = deliver(file, count);
    if (file >= 0)
        close(file);
    open_and_read(delivery, count);
    DBusMessage *release = call("ReleaseDelivery");
    dbus_message_append_args(release, DBUS_TYPE_STRING, &delivery, DBUS_TYPE_INVALID);
    dbus_message_unref(ask(release));
    free(delivery);
    return microseconds() - start;
}

static void become_host(const char *manifest) {
    bus = own_as_host(application, take);
    while (!dbus_bus_name_has_owner(bus, service, NULL))
        usleep(10000);
    DBusMessage *registering = call("RegisterApplication");
    dbus_message_append_args(registering, DBUS_TYPE_STRING, &manifest, DBUS_TYPE_INVALID);
    dbus_message_unref(ask(registering));
    DBusMessage *attach = call("AttachHost");
    const char **none = NULL;
    dbus_message_append_args(attach, DBUS_TYPE_STRING, &application, DBUS_TYPE_ARRAY, DBUS_TYPE_OBJECT_PATH, &none, 0,
                             DBUS_TYPE_INVALID);
    dbus_message_unref(ask(attach));
}

static int compare(const void *one, const void *other) {
    double first = *(const double *)one, second = *(const double *)other;
    return (first > second) - (first < second);
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: item APPLICATION MANIFEST ROUNDS REPEATS\n");
        return 64;
    }
    application = argv[1];
    int rounds = atoi(argv[3]), repeats = atoi(argv[4]);
    if (repeats < 1)
        fail("start", "REPEATS is less than one");
    become_host(argv[2]);
    double *times[KINDS];
    for (int kind = 0; kind < KINDS; kind++)
        times[kind] = calloc(repeats, sizeof(double));
    for (int round = 0; round < rounds; round++) {
        double medians[KINDS];
        for (int number = 0; number < repeats; number++)
            for (int turn = 0; turn < KINDS; turn++) {
                int kind = (number + turn) % KINDS;
                times[kind][number] = carry(kind);
            }
        for (int kind = 0; kind < KINDS; kind++) {
            qsort(times[kind], repeats, sizeof(double), compare);
            medians[kind] = times[kind][repeats / 2];
        }
        printf("%f %f\n", medians[DESCRIPTOR] / medians[INLINE],
               (medians[DESCRIPTOR] - medians[SMALL]) / (medians[INLINE] - medians[SMALL]));
    }
    return 0;
}
