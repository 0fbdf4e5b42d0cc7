// SPDX-License-Identifier: Apache-2.0
//
// A chip, or a simulated one, behind a TCP port.
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link.h"

// Connects. Returns 0 or an errno; ETIMEDOUT also if `deadline` has passed.
static int finish_connecting(int fd, uint64_t deadline) {
  short seen;
  bool woken;
  int error = cuwb_wait(fd, POLLOUT, -1, deadline, &seen, &woken);
  if (error) return error;
  if (!seen) return ETIMEDOUT;
  socklen_t length = sizeof(error);
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0) return errno;
  return error;
}

// Connects to one address. Returns a connected descriptor, or -1 and an errno in *error.
static int connect_to(const struct addrinfo *address, uint64_t deadline, int *error) {
  int fd = socket(address->ai_family, address->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                  address->ai_protocol);
  if (fd < 0) {
    *error = errno;
    return -1;
  }
  *error = connect(fd, address->ai_addr, address->ai_addrlen) < 0 ? errno : 0;
  // A connect that was interrupted continues in the background, like a connect that cannot finish
  // at once.
  if (*error == EINPROGRESS || *error == EINTR) *error = finish_connecting(fd, deadline);
  if (*error) {
    close(fd);
    return -1;
  }
  // Nagle's algorithm is off: commands are small, and each one waits for the response to its
  // predecessor.
  int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  return fd;
}

// Gives each address an equal share of the remaining time, so that an address without an answer
// does not use up all of it.
static uint64_t share(uint64_t deadline, unsigned addresses) {
  if (deadline == CUWB_NO_DEADLINE) return deadline;
  uint64_t now = cuwb_monotonic_ns();
  return deadline > now ? now + (deadline - now) / addresses : now;
}

cuwb_result cuwb_open_tcp(const char *host, const char *port, int32_t timeout_ms,
                          cuwb_link **link) {
  uint64_t deadline = cuwb_deadline(timeout_ms);
  const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  struct addrinfo *addresses;
  int unresolved = getaddrinfo(host, port, &hints, &addresses);
  if (unresolved == EAI_SYSTEM) return cuwb_failed(errno);
  if (unresolved) return (cuwb_result){CUWB_UNRESOLVED, unresolved};

  unsigned left = 0;
  for (struct addrinfo *address = addresses; address; address = address->ai_next) left++;

  int fd = -1;
  int error = ETIMEDOUT;
  for (struct addrinfo *address = addresses; address && fd < 0; address = address->ai_next) {
    fd = connect_to(address, share(deadline, left--), &error);
  }
  freeaddrinfo(addresses);
  if (fd < 0) return error == ETIMEDOUT ? cuwb_outcome_of(CUWB_TIMEOUT) : cuwb_failed(error);

  cuwb_result result = cuwb_stream_open(fd, CUWB_MEDIUM_SOCKET, link);
  if (result.outcome != CUWB_OK) close(fd);
  return result;
}
