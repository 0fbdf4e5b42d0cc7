// SPDX-License-Identifier: Apache-2.0
//
// Serial devices: UARTs, USB CDC-ACM, USB bridges; and descriptors that the caller has opened,
// which may be terminals.
#include <errno.h>
#include <fcntl.h>
#include <linux/serial.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#include "link.h"

// ------------------------------------------------------------------------------------------ speed

static const struct {
  uint32_t baud;
  speed_t speed;
} speeds[] = {
    {1200, B1200},       {1800, B1800},       {2400, B2400},       {4800, B4800},
    {9600, B9600},       {19200, B19200},     {38400, B38400},     {57600, B57600},
    {115200, B115200},   {230400, B230400},   {460800, B460800},   {500000, B500000},
    {576000, B576000},   {921600, B921600},   {1000000, B1000000}, {1152000, B1152000},
    {1500000, B1500000}, {2000000, B2000000}, {2500000, B2500000}, {3000000, B3000000},
    {3500000, B3500000}, {4000000, B4000000},
};

static speed_t speed_of(uint32_t baud) {
  for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
    if (speeds[i].baud == baud) return speeds[i].speed;
  }
  return B0;
}

// ---------------------------------------------------------------------------------- line settings

// Sets a terminal raw, 8N1. A `baud` of 0 keeps the speed. Returns 0 or an errno.
static int make_raw(int fd, uint32_t baud, bool rts_cts) {
  struct termios settings;
  if (tcgetattr(fd, &settings) < 0) return errno;

  cfmakeraw(&settings);
  // Settings that cfmakeraw does not make. A break must not be read as a byte.
  settings.c_iflag &= ~(tcflag_t)(IXOFF | IXANY | INPCK);
  settings.c_iflag |= IGNBRK;
  settings.c_cflag &= ~(tcflag_t)(CSTOPB | CRTSCTS);
  settings.c_cflag |= CLOCAL | CREAD;
  if (rts_cts) settings.c_cflag |= CRTSCTS;
  // A higher VMIN would make the kernel hold back the last bytes of a frame, and a VTIME would
  // delay every frame.
  settings.c_cc[VMIN] = 1;
  settings.c_cc[VTIME] = 0;
  speed_t speed = speed_of(baud);
  if (baud != 0) {
    cfsetispeed(&settings, speed);
    cfsetospeed(&settings, speed);
  }
  if (tcsetattr(fd, TCSANOW, &settings) < 0) return errno;

  // tcsetattr succeeds if it could change any of the settings.
  struct termios actual;
  if (tcgetattr(fd, &actual) < 0) return errno;
  bool raw = !(actual.c_lflag & (ICANON | ECHO | ISIG)) && !(actual.c_oflag & OPOST);
  if (!raw || (baud != 0 && cfgetospeed(&actual) != speed)) return EINVAL;
  return 0;
}

// -------------------------------------------------------------------------------- exclusive access

// UNIX98_PTY_SLAVE_MAJOR and the seven after it, of linux/major.h.
static bool is_pseudo_terminal(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && major(status.st_rdev) >= 136 && major(status.st_rdev) <= 143;
}

// TIOCEXCL keeps other users from opening the device, but not root. The lock keeps out root too if
// the other program asks for it, as most terminal programs do.
//
// A pseudo-terminal has the lock alone: its flag outlives a program that was killed for as long as
// the program at the other end runs.
static int lock_exclusively(int fd) {
  if (flock(fd, LOCK_EX | LOCK_NB) < 0) return errno == EWOULDBLOCK ? EBUSY : errno;
  if (is_pseudo_terminal(fd)) return 0;
  int taken = 0;
  int error = ioctl(fd, TIOCGEXCL, &taken) == 0 && taken ? EBUSY : 0;
  if (!error && ioctl(fd, TIOCEXCL) < 0) error = errno;
  if (error) flock(fd, LOCK_UN);
  return error;
}

// Closing alone is not enough. The flag belongs to the terminal, and stays as long as another
// process has it open; the lock belongs to the open file, which a child shares between fork and
// exec.
static void unlock(int fd) {
  ioctl(fd, TIOCNXCL);
  flock(fd, LOCK_UN);
}

// ------------------------------------------------------------------------------------------- open

// Sets modes that some devices lack, such as pseudo-terminals. None of the modes is vital.
static void set_optional_modes(int fd) {
  // Without DTR the USB firmware of Qorvo's kits neither receives nor sends.
  int dtr = TIOCM_DTR;
  ioctl(fd, TIOCMBIS, &dtr);

  // Otherwise FTDI bridges hold bytes back for 16 ms.
  struct serial_struct serial;
  if (ioctl(fd, TIOCGSERIAL, &serial) == 0 && !(serial.flags & ASYNC_LOW_LATENCY)) {
    serial.flags |= ASYNC_LOW_LATENCY;
    ioctl(fd, TIOCSSERIAL, &serial);
  }
}

cuwb_result cuwb_open_serial(const char *path, cuwb_serial_options options, cuwb_link **link) {
  if (speed_of(options.baud) == B0) return cuwb_outcome_of(CUWB_INVALID);

  // Without O_NONBLOCK the open itself may wait for a carrier.
  int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return cuwb_failed(errno);

  cuwb_result result;
  int error = isatty(fd) ? 0 : ENOTTY;
  if (error) goto close;
  if (!options.shared) error = lock_exclusively(fd);
  if (error) goto close;
  error = make_raw(fd, options.baud, options.rts_cts);
  if (error) goto unlock;
  set_optional_modes(fd);

  result = cuwb_stream_open(fd, CUWB_MEDIUM_TTY, link);
  if (result.outcome == CUWB_OK) {
    if (!options.shared) (*link)->unlock = unlock;
    return result;
  }
  error = result.error;

unlock:
  if (!options.shared) unlock(fd);
close:
  close(fd);
  return cuwb_failed(error);
}

cuwb_result cuwb_open_descriptor(int descriptor, cuwb_link **link) {
  int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0) return cuwb_failed(errno);

  enum cuwb_medium medium = cuwb_stream_medium(descriptor);
  cuwb_link *opened;
  cuwb_result result = cuwb_stream_open(descriptor, medium, &opened);
  if (result.outcome != CUWB_OK) return result;

  // Non-blocking, because a read has to be possible with and without waiting; poll(2) waits.
  int error = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0 ? errno : 0;
  if (!error && medium == CUWB_MEDIUM_TTY) {
    error = make_raw(descriptor, 0, false);
    if (error) fcntl(descriptor, F_SETFL, flags);
  }
  if (error) {
    // cuwb_link_close would close the descriptor, which is still the caller's.
    cuwb_framer_destroy(opened->framer);
    cuwb_link_free(opened);
    return cuwb_failed(error);
  }
  *link = opened;
  return cuwb_outcome_of(CUWB_OK);
}
