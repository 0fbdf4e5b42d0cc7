// SPDX-License-Identifier: Apache-2.0
//
// CUWB: whole UCI frames from and to a UWB chip on a Linux file descriptor.
//
// One interface (`cuwb_link`), several ways to open it. The rest of the package sees only frames;
// nothing in here knows what a message means. Only the four header octets are looked at, and only
// to find where a frame ends. One exception: where that is in doubt, a received application message
// (DATA_MESSAGE_RCV) counts for more if the length of its data, behind the header, agrees with the
// header, and for nothing if it does not.
//
// Rules that hold for every function:
//  - nothing is allocated after an open call has returned;
//  - no globals, no signals, no `errno`: the outcome is in the returned `cuwb_result`;
//  - one thread may read while another one writes; `cuwb_link_wake` and `cuwb_link_get_stats` may
//    be called from any thread; nothing else may run during `cuwb_link_close`.
#ifndef CUWB_H
#define CUWB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// ------------------------------------------------------------------------------------- outcomes

/// What became of a call.
typedef enum cuwb_outcome {
  CUWB_OK = 0,
  /// The time given passed without a whole frame (read) or without room for one (write, connect).
  CUWB_TIMEOUT = 1,
  /// `cuwb_link_wake` was called.
  CUWB_WOKEN = 2,
  /// The peer ended the connection in good order: a socket, a pipe.
  CUWB_CLOSED = 3,
  /// The device is no longer there: unplugged, hung up, its driver gone.
  CUWB_GONE = 4,
  /// The frame at the head of the link is longer than the memory given. It stays there;
  /// `cuwb_frame.length` says what is needed.
  CUWB_TOO_LONG = 5,
  /// The kernel refused; `error` is its errno.
  CUWB_FAILED = 6,
  /// The arguments make no sense: a baud rate the kernel has no name for, an empty frame.
  CUWB_INVALID = 7,
  /// The host's name could not be resolved; `error` is the EAI_ code of getaddrinfo.
  CUWB_UNRESOLVED = 8,
  /// The chip does not take part in the protocol of its bus: it is off, in another mode, not
  /// wired like that, or another chip.
  CUWB_NO_ANSWER = 9,
} cuwb_outcome;

/// The outcome of a call and, where the kernel gave one, its errno (0 otherwise).
typedef struct cuwb_result {
  cuwb_outcome outcome;
  int32_t error;
} cuwb_result;

// -------------------------------------------------------------------------------------- framing

/// Every UCI frame begins with four octets (FiRa UCI, "control packet" and "data packet" header).
#define CUWB_HEADER_LENGTH 4
/// A control frame is at most 4 + 255 octets.
#define CUWB_CONTROL_FRAME_MAX 259
/// The longest frame the link can carry: 4 + the largest 16-bit length that fits its staging
/// memory. Chips in the field announce at most 2039 (NXP SR250).
#define CUWB_FRAME_MAX 8192

/// How the length of a frame is found, and which octets may begin one.
typedef struct cuwb_framing {
  /// Bit n set: message type n (bits 7..5 of octet 0) may come from the chip. Data 0, command 1,
  /// response 2, notification 3, test 4 and 5.
  uint8_t message_types;
  /// Bit n set: data packet format n may come from the chip (lower nibble of octet 0 of type 0).
  uint16_t data_formats;
  /// NXP: bit 7 of octet 1 announces a 16-bit little-endian length in a control frame.
  bool extended_length;
  /// Qorvo QM33 serial firmware: data frames carry their length in octet 3 only.
  bool data_length_in_octet_3;
  /// The longest frame this chip sends, header included; a longer one cannot be a header. 0 means
  /// CUWB_FRAME_MAX.
  uint16_t longest_frame;
  /// Silence in milliseconds after which whatever is incomplete will never be completed. 0 means
  /// 100, the time after which Qorvo's own firmware discards a partial packet.
  uint16_t gap_ms;
} cuwb_framing;

/// Framing for a chip of which nothing is known yet: responses, notifications, data to the host.
cuwb_framing cuwb_framing_default(void);

/// A frame that was read.
typedef struct cuwb_frame {
  /// Octets of the frame, header included.
  uint32_t length;
  /// Octets that were thrown away to find this frame since the one before it.
  uint32_t skipped;
  /// CLOCK_MONOTONIC in nanoseconds, taken once after the read that completed the frame.
  uint64_t received_ns;
} cuwb_frame;

// ----------------------------------------------------------------------------------------- link

typedef struct cuwb_link cuwb_link;

/// Line settings of a serial device.
typedef struct cuwb_serial_options {
  /// One of the standard rates, 1200 … 4000000; 8 data bits, no parity, one stop bit always.
  uint32_t baud;
  /// Hardware flow control.
  bool rts_cts;
  /// Do not ask for TIOCEXCL and flock: another program may use the port at the same time.
  bool shared;
} cuwb_serial_options;

/// Opens a serial device raw, 8N1, exclusive, with DTR asserted and the driver's low-latency mode
/// where there is one. EBUSY in `error`: another program holds the port. ENOTTY: not a serial
/// device.
cuwb_result cuwb_open_serial(const char *path, cuwb_serial_options options,
                             cuwb_link *_Nullable *_Nonnull link);

/// Takes over a descriptor that is open for reading and writing: a socket, a pipe end, a
/// pseudo-terminal. It is set non-blocking, and a terminal raw; a terminal keeps its speed and is
/// not locked. On CUWB_OK the link owns the descriptor and closes it; on any other outcome the
/// caller still does.
cuwb_result cuwb_open_descriptor(int descriptor, cuwb_link *_Nullable *_Nonnull link);

/// Connects to `host`:`port` with TCP_NODELAY, within `timeout_ms`, trying every address of the
/// host. Resolving a name takes as long as the system's resolver likes.
cuwb_result cuwb_open_tcp(const char *host, const char *port, int32_t timeout_ms,
                          cuwb_link *_Nullable *_Nonnull link);

// ------------------------------------------------------------------------------------------ SPI

/// What is spoken on the wires of a chip on SPI.
typedef enum cuwb_wired_protocol {
  /// NXP SR100T, SR150, SR160: CE, IRQ and RI.
  CUWB_WIRED_SR1XX = 0,
  /// NXP SR200T, SR250: RSTN and IRQ.
  CUWB_WIRED_SR2XX = 1,
  /// Qorvo QM35: HSSPI with SS_IRQ and SS_RDY.
  CUWB_WIRED_HSSPI = 2,
} cuwb_wired_protocol;

/// What becomes of the chip when it is opened.
typedef enum cuwb_start {
  /// It is switched on if it is off, and left alone otherwise.
  CUWB_START_KEEP = 0,
  /// It is switched off and on; an SR1xx has lost its firmware then.
  CUWB_START_CYCLE = 1,
} cuwb_start;

/// A chip on a spidev device, with its lines on GPIO character devices.
///
/// A line is named by its name (`GPIO24`), looked for on every GPIO chip, or by chip and offset
/// (`gpiochip0:24`, `/dev/gpiochip0:24`, `0:24`). NULL: not connected.
typedef struct cuwb_spi_options {
  cuwb_wired_protocol protocol;
  cuwb_start start;
  /// Hertz; 0: what the maker's driver uses, 16 MHz for NXP and 3 MHz for Qorvo.
  uint32_t speed_hz;
  /// NXP IRQ, Qorvo SS_IRQ.
  const char *_Nullable irq;
  /// Qorvo SS_RDY.
  const char *_Nullable ready;
  /// Qorvo EXTON.
  const char *_Nullable awake;
  /// NXP CE or RSTN, Qorvo RESET: low holds the chip off or in reset.
  const char *_Nullable power;
  /// NXP RI.
  const char *_Nullable read;
  /// Qorvo WAKEUP.
  const char *_Nullable wake;
} cuwb_spi_options;

/// What an open call was doing when it failed.
typedef enum cuwb_spi_step {
  /// Opening the spidev device, or locking it (EBUSY).
  CUWB_SPI_DEVICE = 0,
  /// Setting mode, word and clock. ENOTTY: it is no spidev device.
  CUWB_SPI_SETTINGS = 1,
  /// A line that the protocol needs was not given.
  CUWB_SPI_LINE_NEEDED = 2,
  /// Looking for a line. ENOENT: there is none of that name, or no such chip; ENOTUNIQ: several have
  /// the name; ERANGE: the chip has fewer lines.
  CUWB_SPI_LINE_LOOKUP = 3,
  /// Asking for a line. EBUSY: `consumer` has it.
  CUWB_SPI_LINE_REQUEST = 4,
  /// Starting the chip.
  CUWB_SPI_CHIP = 5,
} cuwb_spi_step;

/// More about an open call that failed.
typedef struct cuwb_spi_trouble {
  cuwb_spi_step step;
  /// For the steps about lines: the bit of the line, as in `cuwb_line` of cuwb_wires.h.
  uint32_t line;
  /// Who has the line, as it calls itself; empty where the kernel does not say.
  char consumer[32];
} cuwb_spi_trouble;

/// Opens a spidev device and its lines. The device is locked with flock.
cuwb_result cuwb_open_spi(const char *device, const cuwb_spi_options *options,
                          cuwb_link *_Nullable *_Nonnull link, cuwb_spi_trouble *trouble);

/// What spidev moves while a chip is selected (its module's parameter `bufsiz`): a longer packet
/// ends a read, or is refused by a write, with EMSGSIZE in `error`. 4096 unless it was raised; NXP's
/// longest packets have 4200 octets.
uint32_t cuwb_spi_bufsiz(void);

// ---------------------------------------------------------------------- vendors' character devices

/// Opens a device of NXP's kernel drivers: /dev/srxxx, /dev/sr1xx, /dev/sr200. It is locked with
/// flock, as the drivers let any number of programs in. ENOTTY in `error`: it is no such device.
///
/// The drivers have no poll(2): a thread of the link reads, and is unblocked by the driver's own
/// request when the link is closed. The chip stays switched on then.
cuwb_result cuwb_open_srxxx(const char *path, cuwb_start start,
                            cuwb_link *_Nullable *_Nonnull link);

/// States of a QM35 behind Qorvo's kernel driver.
typedef enum cuwb_uci_state {
  CUWB_UCI_UNKNOWN = 0x00,
  CUWB_UCI_OFF = 0x01,
  CUWB_UCI_IN_RESET = 0x02,
  /// The firmware has failed and its memory is being saved.
  CUWB_UCI_COREDUMP = 0x04,
  CUWB_UCI_READY = 0x08,
  CUWB_UCI_LOADING_FIRMWARE = 0x10,
  CUWB_UCI_RUNNING = 0x20,
} cuwb_uci_state;

/// Opens a device of Qorvo's kernel driver: /dev/uci, /dev/uci0. EBUSY in `error`: somebody else has
/// it, or the driver saves the memory of a firmware that failed or loads another one; `state` tells.
cuwb_result cuwb_open_uci(const char *path, cuwb_start start, cuwb_link *_Nullable *_Nonnull link,
                          uint32_t *state);

// -------------------------------------------------------------------------------- NXP's USB boards

/// An NXP board whose microcontroller passes UCI on over USB.
typedef struct cuwb_bridge_options {
  /// 3000000 with `rts_cts` is what NXP's own tools set.
  cuwb_serial_options serial;
  /// Resets the chip behind it.
  cuwb_start start;
  /// An SR2xx, which starts in its loader and has to be told to leave it.
  bool leaves_loader;
} cuwb_bridge_options;

/// Opens such a board. CUWB_NO_ANSWER: it does not answer the reset as NXP's firmware for it does.
cuwb_result cuwb_open_bridge(const char *path, cuwb_bridge_options options,
                             cuwb_link *_Nullable *_Nonnull link);

// ------------------------------------------------------------------------- the loader of a chip

/// Switches the chip off and on and into its loader, where the link has one: an NXP chip on SPI or
/// behind NXP's kernel driver. Before the first `cuwb_read_frame`. CUWB_INVALID: it has none.
cuwb_result cuwb_boot_begin(cuwb_link *link);

/// Sends octets as they are, in one selection of the chip.
cuwb_result cuwb_boot_write(cuwb_link *link, const void *octets, size_t length);

/// Reads exactly so many octets in one selection, once the chip offers something. `timeout_ms` 0: it
/// has done so already, and these are the rest.
cuwb_result cuwb_boot_read(cuwb_link *link, void *memory, size_t length, int32_t timeout_ms);

/// The firmware runs; frames from here on.
cuwb_result cuwb_boot_end(cuwb_link *link);

// ------------------------------------------------------------------------------- every open link

/// Closes the descriptor and frees the link. The reader must have returned.
void cuwb_link_close(cuwb_link *link);

/// Replaces the framing rules. Only from the reading thread, or before the first read.
void cuwb_link_set_framing(cuwb_link *link, cuwb_framing framing);

/// The framing rules in use. Same threads as `cuwb_link_set_framing`.
cuwb_framing cuwb_link_get_framing(const cuwb_link *link);

/// Reads the next whole frame into `memory`. `timeout_ms`: -1 waits for ever, 0 does not wait.
///
/// A frame is delivered with its last octet once it is known where frames begin. That is so from
/// the second frame on; and from the first one if the link has been read from during a silence of
/// 25 ms before it. Otherwise the first frame, and the first one after a loss, waits for the header
/// behind it or for 25 ms of silence.
///
/// A wake that is pending is reported before any frame. Where a terminal, a device (CUWB_GONE) or a
/// connection (CUWB_CLOSED) has ended, the whole frames that came before are delivered first.
cuwb_result cuwb_read_frame(cuwb_link *link, void *memory, size_t capacity, int32_t timeout_ms,
                            cuwb_frame *frame);

/// Whether a whole frame can be had without waiting on the descriptor. Reading thread only.
bool cuwb_frame_buffered(const cuwb_link *link);

/// Writes a whole frame, with one write(2) unless the kernel takes only a part of it. After
/// CUWB_TIMEOUT a part of the frame may be on the line; Qorvo's firmware discards it after 100 ms.
/// Never raises SIGPIPE.
cuwb_result cuwb_write_frame(cuwb_link *link, const void *octets, size_t length,
                             int32_t timeout_ms);

/// Makes the current or next `cuwb_read_frame` return CUWB_WOKEN. Any thread, any time.
void cuwb_link_wake(cuwb_link *link);

/// What the link has seen since it was opened.
typedef struct cuwb_stats {
  uint64_t frames_read;
  uint64_t octets_read;
  uint64_t reads;
  uint64_t frames_written;
  uint64_t octets_written;
  /// Octets thrown away because they could not belong to a frame.
  uint64_t octets_skipped;
  /// How often the boundary between frames was lost and looked for again; on SPI and behind NXP's
  /// drivers, how often a chip offered something and did not hand it over.
  uint64_t resynchronisations;
} cuwb_stats;

/// A copy of the counters; each is exact, together they may be one frame apart.
cuwb_stats cuwb_link_get_stats(const cuwb_link *link);

/// The descriptor below, for diagnosis only. -1 where a link has none that could be read from like a
/// stream: SPI, NXP's drivers.
int cuwb_link_descriptor(const cuwb_link *link);

// ----------------------------------------------------------------------- sleeping and the clock

/// Sleeps until `*word` is no longer `expected`, another thread calls `cuwb_futex_wake`, or
/// `timeout_ms` has passed (-1: no limit). In C because Swift's Glibc does not see syscall(2).
void cuwb_futex_wait(uint32_t *word, uint32_t expected, int32_t timeout_ms);

/// Wakes one thread that sleeps on `word`.
void cuwb_futex_wake(uint32_t *word);

/// CLOCK_MONOTONIC in nanoseconds.
uint64_t cuwb_monotonic_ns(void);

/// Names the calling thread (15 octets are kept). In C because Swift's Glibc hides it.
void cuwb_name_thread(const char *name);

#pragma clang assume_nonnull end

#endif
