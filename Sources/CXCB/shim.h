#include <stdint.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>

// QueryClientIds of the X-Resource extension, version 1.2, for the process of the client that made a window. 0 where the server has no such extension.
static inline unsigned int stagedoor_ask_process(xcb_connection_t *connection, uint32_t window) {
  static xcb_extension_t resources = {"X-Resource", 0};
  const xcb_query_extension_reply_t *extension = xcb_get_extension_data(connection, &resources);
  if (!extension || !extension->present) return 0;
  struct { uint8_t major, minor; uint16_t length; uint32_t count, window, mask; } body = {0, 0, 0, 1, window, 2};
  const xcb_protocol_request_t request = {.count = 1, .ext = &resources, .opcode = 4, .isvoid = 0};
  // xcb writes before the first part.
  struct iovec parts[3] = {{0, 0}, {0, 0}, {&body, sizeof body}};
  return xcb_send_request(connection, XCB_REQUEST_CHECKED, parts + 2, &request);
}

// The answer; 0 if there is none.
static inline int32_t stagedoor_process(xcb_connection_t *connection, unsigned int asked) {
  xcb_generic_error_t *error = NULL;
  uint32_t *reply = asked ? (uint32_t *)xcb_wait_for_reply(connection, asked, &error) : NULL;
  // 32 bytes of header with the number of answers; each answer is the client, the mask, the length, and the value.
  int32_t process = reply && reply[1] >= 4 && reply[2] == 1 && reply[9] == 2 && reply[10] == 4 ? (int32_t)reply[11] : 0;
  free(reply);
  free(error);
  return process;
}
