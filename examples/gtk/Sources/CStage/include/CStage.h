// The parts of GTK that Swift cannot use: a signal with any arguments, a class of GObject, functions with callbacks from another loop.
// Everything here is called on the main thread, and calls back there.
#pragma once

#include <gtk/gtk.h>

// MARK: Signals

/// Receives a signal. `result` is NULL if the signal has no result.
typedef void (*StageHandler)(void *box, unsigned count, const GValue *arguments, GValue *result);

/// Connects a handler. GObject calls `release` with the box when the handler is disconnected, or the object ends.
unsigned long stage_connect(void *object, const char *signal, StageHandler handler, void *box, GDestroyNotify release);

/// Disconnects a handler, if it still is connected.
void stage_disconnect(void *object, unsigned long handler);

// MARK: Content that is written on request

/// A receiver asks for `type`. Answer with `stage_content_write` or `stage_content_fail`, once.
typedef void (*StageRequest)(void *box, const char *type, GTask *task);

/// Makes a content provider. It takes over `formats`, and calls `release` with the box at its end.
GdkContentProvider *stage_content_new(GdkContentFormats *formats, StageRequest request, void *box, GDestroyNotify release);
void stage_content_write(GTask *task, const void *bytes, size_t count);
void stage_content_fail(GTask *task, const char *message);

// MARK: Reading a drop

typedef void (*StageBytes)(void *box, const void *bytes, size_t count);
/// The end of reading; `error` is NULL if nothing went wrong.
typedef void (*StageEnd)(void *box, const char *error);

/// Reads the bytes of one type. `end` is the last call.
void stage_drop_read(GdkDrop *drop, const char *type, GCancellable *cancellable, StageBytes bytes, StageEnd end, void *box);
/// Reads the URIs of files, also those that come through a portal. `bytes` gets one URI at a time.
void stage_drop_read_files(GdkDrop *drop, GCancellable *cancellable, StageBytes uri, StageEnd end, void *box);
/// Whether files are dropped, in whichever way they come.
gboolean stage_drop_has_files(GdkDrop *drop);

/// A drag of this program has begun.
void stage_drag_begin(GdkDrag *drag);
/// Whether a drag of this program was dropped onto nothing, and onto none of its windows.
gboolean stage_drag_is_out(GdkDrag *drag, GdkDragCancelReason reason);
/// Whether the receiver of a drag of this program answered that it did not take the drag. Valid while the drag ends.
gboolean stage_drag_was_refused(void);
/// Answers the source of a drop; no action means that the drop was not taken.
void stage_drop_finish(GdkDrop *drop, GdkDragAction action);
/// Begins to notice over which window a drag is, what its receiver answers, and under X that its user presses Escape. The functions above need this.
void stage_watch_drags(void);
/// A picture of a widget as it looks now, to follow the pointer.
GdkPaintable *stage_drag_icon(GtkWidget *widget);

// MARK: Windows

/// A picture of a window as PNG, at most `side` pixels wide and high; NULL if the window is not drawn.
GBytes *stage_window_picture(GtkWidget *window, int side);
/// Brings a window to the front. Without a token, the window manager gets the present time if it knows times.
void stage_window_present(GtkWidget *window, const char *token);
/// A token with which another program's window may come to the front; free it with g_free.
char *stage_activation_token(const char *application);
/// Whether the window is minimised, or the compositor says that nobody sees it.
gboolean stage_window_is_hidden(GtkWidget *window);
/// Loads the style of the stage.
void stage_load_style(const char *css);
