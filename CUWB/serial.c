// SPDX-License-Identifier: Apache-2.0
//
// Serial devices: UARTs, USB CDC-ACM, USB bridges.
#include <errno.h>
#include <fcntl.h>
#include <linux/serial.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "internal.h"

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

int cuwb_serial_make_raw(int fd, uint32_t baud, bool rts_cts) {
  struct termios settings;
  if (tcgetattr(fd, &settings) < 0) return errno;

  cfmakeraw(&settings);
  // cfmakeraw leaves these alone. A break is no byte, and must not become one.
  settings.c_iflag &= ~(tcflag_t)(IXOFF | IXANY | INPCK);
  settings.c_iflag |= IGNBRK;
  settings.c_cflag &= ~(tcflag_t)(CSTOPB | CRTSCTS);
  settings.c_cflag |= CLOCAL | CREAD;
  if (rts_cts) settings.c_cflag |= CRTSCTS;
  // More than one byte at a time cannot be asked for: above 64 the kernel withholds the rest of
  // a frame, and a time would be added to every frame.
  settings.c_cc[VMIN] = 1;
  settings.c_cc[VTIME] = 0;
  speed_t speed = speed_of(baud);
  if (baud != 0) {
    cfsetispeed(&settings, speed);
    cfsetospeed(&settings, speed);
  }
  if (tcsetattr(fd, TCSANOW, &settings) < 0) return errno;

  // tcsetattr is content if it could do any part of it.
  struct termios actual;
  if (tcgetattr(fd, &actual) < 0) return errno;
  bool raw = !(actual.c_lflag & (ICANON | ECHO | ISIG)) && !(actual.c_oflag & OPOST);
  if (!raw || (baud != 0 && cfgetospeed(&actual) != speed)) return EINVAL;
  return 0;
}

// ----------------------------------------------------------------------------------- exclusiveness

// TIOCEXCL keeps others from opening the device, except root. The lock keeps out root too, as far
// as the other program asks for one, as this one and most terminal programs do.
static int take_exclusively(int fd) {
  if (flock(fd, LOCK_EX | LOCK_NB) < 0) return errno == EWOULDBLOCK ? EBUSY : errno;
  int taken = 0;
  int error = ioctl(fd, TIOCGEXCL, &taken) == 0 && taken ? EBUSY : 0;
  if (!error && ioctl(fd, TIOCEXCL) < 0) error = errno;
  if (error) flock(fd, LOCK_UN);
  return error;
}

// Closing alone gives up neither. The flag belongs to the terminal, and stays if another process has
// it open; the lock belongs to the open file, which a child shares between fork and exec.
void cuwb_serial_release(int fd) {
  ioctl(fd, TIOCNXCL);
  flock(fd, LOCK_UN);
}

// ------------------------------------------------------------------------------------------- open

// Neither is there on every device (a pseudo-terminal has neither), and neither is vital.
static void ask_for_favours(int fd) {
  // Without DTR the USB firmware of Qorvo's kits neither listens nor talks.
  int dtr = TIOCM_DTR;
  ioctl(fd, TIOCMBIS, &dtr);

  // FTDI bridges hold bytes back for 16 ms otherwise.
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
  if (!options.shared) error = take_exclusively(fd);
  if (error) goto close;
  error = cuwb_serial_make_raw(fd, options.baud, options.rts_cts);
  if (error) goto release;
  ask_for_favours(fd);

  result = cuwb_stream_open(fd, CUWB_MEDIUM_TTY, link);
  if (result.outcome == CUWB_OK) {
    (*link)->exclusive = !options.shared;
    return result;
  }
  error = result.error;

release:
  if (!options.shared) cuwb_serial_release(fd);
close:
  close(fd);
  return cuwb_failed(error);
}
