#include "CStage.h"

#include <string.h>
#ifdef GDK_WINDOWING_X11
#include <X11/extensions/XInput2.h>
#include <gdk/x11/gdkx.h>
#endif
#ifdef GDK_WINDOWING_WAYLAND
#include <gdk/wayland/gdkwayland.h>
#endif

// MARK: Signals

typedef struct {
  GClosure closure;
  StageHandler handler;
  GDestroyNotify release;
} StageClosure;

static void marshal(GClosure *closure, GValue *result, guint count, const GValue *arguments, gpointer hint, gpointer data) {
  ((StageClosure *)closure)->handler(closure->data, count, arguments, result);
}

// By now GLib has replaced the closure's own data with the notifier.
static void release_box(gpointer box, GClosure *closure) { ((StageClosure *)closure)->release(box); }

unsigned long stage_connect(void *object, const char *signal, StageHandler handler, void *box, GDestroyNotify release) {
  GClosure *closure = g_closure_new_simple(sizeof(StageClosure), box);
  ((StageClosure *)closure)->handler = handler;
  ((StageClosure *)closure)->release = release;
  g_closure_set_marshal(closure, marshal);
  g_closure_add_finalize_notifier(closure, box, release_box);
  return g_signal_connect_closure(object, signal, closure, FALSE);
}

void stage_disconnect(void *object, unsigned long handler) {
  if (g_signal_handler_is_connected(object, handler)) g_signal_handler_disconnect(object, handler);
}

// MARK: Content that is written on request

typedef struct {
  GdkContentProvider parent;
  GdkContentFormats *formats;
  StageRequest request;
  void *box;
  GDestroyNotify release;
} StageContent;

typedef struct {
  GdkContentProviderClass parent;
} StageContentClass;

G_DEFINE_TYPE(StageContent, stage_content, GDK_TYPE_CONTENT_PROVIDER)

static GdkContentFormats *stage_content_ref_formats(GdkContentProvider *provider) {
  return gdk_content_formats_ref(((StageContent *)provider)->formats);
}

static void stage_content_write_async(
    GdkContentProvider *provider, const char *type, GOutputStream *stream, int priority, GCancellable *cancellable,
    GAsyncReadyCallback callback, gpointer data) {
  StageContent *content = (StageContent *)provider;
  GTask *task = g_task_new(content, cancellable, callback, data);
  g_task_set_priority(task, priority);
  g_task_set_task_data(task, g_object_ref(stream), g_object_unref);
  content->request(content->box, type, task);
}

static gboolean stage_content_write_finish(GdkContentProvider *provider, GAsyncResult *result, GError **error) {
  return g_task_propagate_boolean(G_TASK(result), error);
}

static void stage_content_finalize(GObject *object) {
  StageContent *content = (StageContent *)object;
  gdk_content_formats_unref(content->formats);
  content->release(content->box);
  G_OBJECT_CLASS(stage_content_parent_class)->finalize(object);
}

static void stage_content_class_init(StageContentClass *class) {
  GdkContentProviderClass *provider = GDK_CONTENT_PROVIDER_CLASS(class);
  provider->ref_formats = stage_content_ref_formats;
  provider->write_mime_type_async = stage_content_write_async;
  provider->write_mime_type_finish = stage_content_write_finish;
  G_OBJECT_CLASS(class)->finalize = stage_content_finalize;
}

static void stage_content_init(StageContent *content) {}

GdkContentProvider *stage_content_new(GdkContentFormats *formats, StageRequest request, void *box, GDestroyNotify release) {
  StageContent *content = g_object_new(stage_content_get_type(), NULL);
  content->formats = formats;
  content->request = request;
  content->box = box;
  content->release = release;
  return GDK_CONTENT_PROVIDER(content);
}

static void written(GObject *stream, GAsyncResult *result, gpointer data) {
  GError *error = NULL;
  if (g_output_stream_write_all_finish(G_OUTPUT_STREAM(stream), result, NULL, &error)) {
    g_task_return_boolean(data, TRUE);
  } else {
    g_task_return_error(data, error);
  }
  g_object_unref(data);
}

void stage_content_write(GTask *task, const void *bytes, size_t count) {
  GOutputStream *stream = g_task_get_task_data(task);
  GBytes *copy = g_bytes_new(bytes, count);
  g_object_set_data_full(G_OBJECT(task), "bytes", copy, (GDestroyNotify)g_bytes_unref);
  g_output_stream_write_all_async(
      stream, g_bytes_get_data(copy, NULL), count, g_task_get_priority(task), g_task_get_cancellable(task), written, task);
}

void stage_content_fail(GTask *task, const char *message) {
  g_task_return_new_error(task, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", message);
  g_object_unref(task);
}

// MARK: Reading a drop

typedef struct {
  GCancellable *cancellable;
  StageBytes bytes;
  StageEnd end;
  void *box;
} Reading;

static Reading *reading_new(GCancellable *cancellable, StageBytes bytes, StageEnd end, void *box) {
  Reading *reading = g_new0(Reading, 1);
  reading->cancellable = cancellable ? g_object_ref(cancellable) : NULL;
  reading->bytes = bytes;
  reading->end = end;
  reading->box = box;
  return reading;
}

static void reading_end(Reading *reading, GError *error) {
  reading->end(reading->box, error ? error->message : NULL);
  g_clear_error(&error);
  g_clear_object(&reading->cancellable);
  g_free(reading);
}

static void read_more(GInputStream *stream, Reading *reading);

static void was_read(GObject *stream, GAsyncResult *result, gpointer data) {
  GError *error = NULL;
  GBytes *bytes = g_input_stream_read_bytes_finish(G_INPUT_STREAM(stream), result, &error);
  size_t count = bytes ? g_bytes_get_size(bytes) : 0;
  Reading *reading = data;
  if (count > 0) {
    reading->bytes(reading->box, g_bytes_get_data(bytes, NULL), count);
    read_more(G_INPUT_STREAM(stream), reading);
  } else {
    reading_end(reading, error);
  }
  g_clear_pointer(&bytes, g_bytes_unref);
  g_object_unref(stream);
}

static void read_more(GInputStream *stream, Reading *reading) {
  g_input_stream_read_bytes_async(
      g_object_ref(stream), 64 << 10, G_PRIORITY_DEFAULT, reading->cancellable, was_read, reading);
}

static void was_opened(GObject *drop, GAsyncResult *result, gpointer data) {
  GError *error = NULL;
  const char *type = NULL;
  GInputStream *stream = gdk_drop_read_finish(GDK_DROP(drop), result, &type, &error);
  if (!stream) {
    reading_end(data, error);
    return;
  }
  read_more(stream, data);
  g_object_unref(stream);
}

void stage_drop_read(GdkDrop *drop, const char *type, GCancellable *cancellable, StageBytes bytes, StageEnd end, void *box) {
  const char *types[] = {type, NULL};
  gdk_drop_read_async(
      drop, types, G_PRIORITY_DEFAULT, cancellable, was_opened, reading_new(cancellable, bytes, end, box));
}

static void has_files(GObject *drop, GAsyncResult *result, gpointer data) {
  GError *error = NULL;
  Reading *reading = data;
  const GValue *value = gdk_drop_read_value_finish(GDK_DROP(drop), result, &error);
  for (GSList *file = value ? g_value_get_boxed(value) : NULL; file; file = file->next) {
    char *uri = g_file_get_uri(file->data);
    reading->bytes(reading->box, uri, strlen(uri));
    g_free(uri);
  }
  reading_end(reading, error);
}

void stage_drop_read_files(GdkDrop *drop, GCancellable *cancellable, StageBytes uri, StageEnd end, void *box) {
  gdk_drop_read_value_async(
      drop, GDK_TYPE_FILE_LIST, G_PRIORITY_DEFAULT, cancellable, has_files, reading_new(cancellable, uri, end, box));
}

gboolean stage_drop_has_files(GdkDrop *drop) {
  // GDK can turn a list of URIs and the keys of the portals into a list of files.
  GdkContentFormats *formats =
      gdk_content_formats_union_deserialize_gtypes(gdk_content_formats_ref(gdk_drop_get_formats(drop)));
  gboolean has = gdk_content_formats_contain_gtype(formats, GDK_TYPE_FILE_LIST);
  gdk_content_formats_unref(formats);
  return has;
}

// The window of this program under a drag, and the last time at which a drag left one, in microseconds.
static GdkSurface *drag_over = NULL;
static gint64 drag_left = 0;

static gboolean note_drag(GSignalInvocationHint *hint, guint count, const GValue *arguments, gpointer data) {
  GdkSurface *surface = g_value_get_object(arguments);
  GdkEventType type = gdk_event_get_event_type(g_value_peek_pointer(arguments + 1));
  if (type == GDK_DRAG_ENTER || type == GDK_DRAG_MOTION) {
    drag_over = surface;
  } else if (type == GDK_DRAG_LEAVE && drag_over == surface) {
    drag_over = NULL;
    drag_left = g_get_monotonic_time();
  }
  return TRUE;
}

// Whether the receiver has answered that it did not take the drag that ends now. Under X, GDK reads this answer and does not pass it
// on: such a drag ends like an accepted drag, and after a refused move the source would lose the data.
static gboolean drag_refused = FALSE;

// The present drag of this program.
static GdkDrag *current_drag = NULL;

void stage_drag_begin(GdkDrag *drag) { g_set_weak_pointer(&current_drag, drag); }

#ifdef GDK_WINDOWING_X11
// During a drag, GDK lets the X server send Escape to the root window. GTK 4 does not know this window, and drops the event.
static gboolean is_escape(GdkDisplay *display, const XEvent *event) {
  if (event->type != GenericEvent || event->xcookie.evtype != XI_KeyPress || !event->xcookie.data) return FALSE;
  const XIDeviceEvent *key = event->xcookie.data;
  guint value = 0;
  return key->event == key->root &&
      gdk_display_translate_key(display, key->detail, 0, key->group.effective, &value, NULL, NULL, NULL) &&
      value == GDK_KEY_Escape;
}

// This runs before GDK reads the event, and ends the drag on Escape.
static gboolean note_event(GdkDisplay *display, const XEvent *event, gpointer data) {
  if (current_drag && is_escape(display, event)) {
    g_signal_emit_by_name(current_drag, "cancel", GDK_DRAG_CANCEL_USER_CANCELLED);
    return TRUE;
  }
  drag_refused = event->type == ClientMessage &&
      event->xclient.message_type == gdk_x11_get_xatom_by_name_for_display(display, "XdndFinished") &&
      (event->xclient.data.l[1] & 1) == 0;
  return FALSE;
}
#endif

void stage_drop_finish(GdkDrop *drop, GdkDragAction action) {
  // The answer to a drag of this program does not become an event.
  drag_refused = action == 0;
  gdk_drop_finish(drop, action);
  drag_refused = FALSE;
}

gboolean stage_drag_was_refused(void) { return drag_refused; }

void stage_watch_drags(void) {
#ifdef GDK_WINDOWING_X11
  GdkDisplay *display = gdk_display_get_default();
  if (GDK_IS_X11_DISPLAY(display)) g_signal_connect(display, "xevent", G_CALLBACK(note_event), NULL);
#endif
  g_type_class_ref(GDK_TYPE_SURFACE);
  // A handler of a surface would come after GTK's handler, which stops all later handlers.
  g_signal_add_emission_hook(g_signal_lookup("event", GDK_TYPE_SURFACE), 0, note_drag, NULL, NULL);
}

gboolean stage_drag_is_out(GdkDrag *drag, GdkDragCancelReason reason) {
  gboolean is_wayland = FALSE;
#ifdef GDK_WINDOWING_WAYLAND
  is_wayland = GDK_IS_WAYLAND_DISPLAY(gdk_drag_get_display(drag));
#endif
  // A compositor reports that the drag is over, and not why.
  if (reason != GDK_DRAG_CANCEL_NO_TARGET && !(is_wayland && reason == GDK_DRAG_CANCEL_ERROR)) return FALSE;
  // A drag that is dropped onto a window leaves that window and ends in the same moment.
  if (is_wayland) return !drag_over && g_get_monotonic_time() - drag_left > 50000;
  // Under X, the icon of the drag is under the pointer, so this asks each window where the pointer is.
  GListModel *windows = gtk_window_get_toplevels();
  gboolean is_over = FALSE;
  for (guint index = 0; index < g_list_model_get_n_items(windows) && !is_over; index++) {
    GtkWidget *window = g_list_model_get_item(windows, index);
    GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(window));
    double x = -1, y = -1;
    if (surface && gtk_widget_get_mapped(window) &&
        gdk_surface_get_device_position(surface, gdk_drag_get_device(drag), &x, &y, NULL)) {
      is_over = x >= 0 && y >= 0 && x < gdk_surface_get_width(surface) && y < gdk_surface_get_height(surface);
    }
    g_object_unref(window);
  }
  return !is_over;
}

GdkPaintable *stage_drag_icon(GtkWidget *widget) {
  double width = gtk_widget_get_width(widget), height = gtk_widget_get_height(widget);
  GdkPaintable *paintable = gtk_widget_paintable_new(widget);
  GtkSnapshot *snapshot = gtk_snapshot_new();
  // Without a compositor, undrawn parts are black. The text of a dark theme is light.
  GdkRGBA text, color = {1, 1, 1, 1};
#if GTK_CHECK_VERSION(4, 10, 0)
  gtk_widget_get_color(widget, &text);
#else
  gtk_style_context_get_color(gtk_widget_get_style_context(widget), &text);
#endif
  if (text.red + text.green + text.blue > 1.5) color = (GdkRGBA){0.18, 0.18, 0.18, 1};
  gtk_snapshot_append_color(snapshot, &color, &GRAPHENE_RECT_INIT(0, 0, width, height));
  gdk_paintable_snapshot(paintable, snapshot, width, height);
  g_object_unref(paintable);
  return gtk_snapshot_free_to_paintable(snapshot, &GRAPHENE_SIZE_INIT(width, height));
}

// MARK: Windows

GBytes *stage_window_picture(GtkWidget *window, int side) {
  GskRenderer *renderer = gtk_native_get_renderer(GTK_NATIVE(window));
  int width = gtk_widget_get_width(window), height = gtk_widget_get_height(window);
  if (!renderer || width <= 0 || height <= 0 || !gtk_widget_get_mapped(window)) return NULL;
  double scale = MIN(1.0, (double)side / MAX(width, height));
  GdkPaintable *paintable = gtk_widget_paintable_new(window);
  GtkSnapshot *snapshot = gtk_snapshot_new();
  gdk_paintable_snapshot(paintable, snapshot, width * scale, height * scale);
  GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
  GBytes *bytes = NULL;
  if (node) {
    GdkTexture *texture = gsk_renderer_render_texture(renderer, node, NULL);
    bytes = gdk_texture_save_to_png_bytes(texture);
    g_object_unref(texture);
    gsk_render_node_unref(node);
  }
  g_object_unref(paintable);
  return bytes;
}

void stage_window_present(GtkWidget *window, const char *token) {
  if (token && *token) {
    gtk_window_set_startup_id(GTK_WINDOW(window), token);
#ifdef GDK_WINDOWING_WAYLAND
    // If the window is shown already, GTK forgets the token and asks for one of its own.
    GdkDisplay *display = gtk_widget_get_display(window);
    if (GDK_IS_WAYLAND_DISPLAY(display)) gdk_wayland_display_set_startup_notification_id(display, token);
#endif
  }
#ifdef GDK_WINDOWING_X11
  GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(window));
  if ((!token || !*token) && surface && GDK_IS_X11_SURFACE(surface) && gtk_widget_get_mapped(window)) {
    gtk_window_present_with_time(GTK_WINDOW(window), gdk_x11_get_server_time(surface));
    return;
  }
#endif
  gtk_window_present(GTK_WINDOW(window));
}

char *stage_activation_token(const char *application) {
  GdkDisplay *display = gdk_display_get_default();
  if (!display) return NULL;
#ifdef GDK_WINDOWING_X11
  // The time serves as the token: a window manager lets a window come to the front if the request is newer than the last click.
  if (GDK_IS_X11_DISPLAY(display)) {
    return g_strdup_printf("%s_TIME%u", application, gdk_x11_display_get_user_time(display));
  }
#endif
  GAppInfo *info =
      g_app_info_create_from_commandline("true", application, G_APP_INFO_CREATE_SUPPORTS_STARTUP_NOTIFICATION, NULL);
  GdkAppLaunchContext *context = gdk_display_get_app_launch_context(display);
  char *token = g_app_launch_context_get_startup_notify_id(G_APP_LAUNCH_CONTEXT(context), info, NULL);
  g_object_unref(context);
  g_clear_object(&info);
  return token;
}

gboolean stage_window_is_hidden(GtkWidget *window) {
  GdkToplevelState hidden = GDK_TOPLEVEL_STATE_MINIMIZED;
#if GTK_CHECK_VERSION(4, 12, 0)
  // Under Wayland, a compositor does not say that a window is minimised, and may say that nobody sees it.
  hidden |= GDK_TOPLEVEL_STATE_SUSPENDED;
#endif
  GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(window));
  return surface && (gdk_toplevel_get_state(GDK_TOPLEVEL(surface)) & hidden) != 0;
}

void stage_load_style(const char *css) {
  GtkCssProvider *provider = gtk_css_provider_new();
#if GTK_CHECK_VERSION(4, 12, 0)
  gtk_css_provider_load_from_string(provider, css);
#else
  gtk_css_provider_load_from_data(provider, css, -1);
#endif
  gtk_style_context_add_provider_for_display(
      gdk_display_get_default(), GTK_STYLE_PROVIDER(provider), GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
  g_object_unref(provider);
}
