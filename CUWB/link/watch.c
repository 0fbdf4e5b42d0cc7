// SPDX-License-Identifier: Apache-2.0
#include <sys/epoll.h>
#include <unistd.h>

#include "cuwb.h"

int32_t cuwb_watch_open(void) { return epoll_create1(EPOLL_CLOEXEC); }

bool cuwb_watch_set(int32_t watch, int32_t fd, uint64_t tag, bool writes, bool is_new) {
  struct epoll_event event = {
      .events = EPOLLIN | EPOLLRDHUP | EPOLLET | (writes ? EPOLLOUT : 0),
      .data.u64 = tag,
  };
  return epoll_ctl(watch, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event) == 0;
}

int32_t cuwb_watch_take(int32_t watch, uint64_t *tags, bool *hung_up, int32_t room) {
  struct epoll_event events[64];
  int count = epoll_wait(watch, events, room < 64 ? room : 64, 0);
  for (int index = 0; index < count; index++) {
    tags[index] = events[index].data.u64;
    hung_up[index] = events[index].events & EPOLLHUP;
  }
  return count;
}

int32_t cuwb_watch_readable(int32_t fd) {
  int watch = epoll_create1(EPOLL_CLOEXEC);
  if (watch < 0) return -1;
  struct epoll_event event = {.events = EPOLLIN};
  if (epoll_ctl(watch, EPOLL_CTL_ADD, fd, &event) == 0) return watch;
  close(watch);
  return -1;
}
