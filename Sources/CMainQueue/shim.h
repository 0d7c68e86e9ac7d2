#pragma once

// What libdispatch has for those who run the main loop themselves. It exports the two and declares them in no header.

/// A descriptor that can be read when the main queue has something to do.
int _dispatch_get_main_queue_handle_4CF(void);

/// Does what the main queue has to do.
void _dispatch_main_queue_callback_4CF(void *message);
