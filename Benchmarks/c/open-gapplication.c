// A desktop application of today that gets files: `org.freedesktop.Application.Open` on a GApplication whose handler
// does nothing.
//
//     open-gapplication BUS-NAME

#include <gio/gio.h>
#include <stdio.h>

static void on_open(GApplication *application, GFile **files, int count, const char *hint, gpointer data) {
    (void)application, (void)files, (void)count, (void)hint, (void)data;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: open-gapplication BUS-NAME\n");
        return 64;
    }
    GApplication *application = g_application_new(argv[1], G_APPLICATION_HANDLES_OPEN | G_APPLICATION_IS_SERVICE);
    g_signal_connect(application, "open", G_CALLBACK(on_open), NULL);
    g_application_hold(application);
    return g_application_run(application, 1, argv);
}
