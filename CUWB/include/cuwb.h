// SPDX-License-Identifier: Apache-2.0
//
// CUWB: whole UCI frames from and to a UWB chip on a Linux file descriptor.
//
// One interface (`cuwb_link`), several ways to open it. The rest of the package sees only frames,
// and CUWB interprets no messages: it reads the four header bytes to find where a frame ends. The
// exceptions are the length of the data in DATA_MESSAGE_RCV, which helps to find the boundary
// between frames where it was lost, and CORE_DEVICE_STATUS_NTF, before which an NXP chip's bytes
// are junk.
//
// Rules that hold for every function:
//  - nothing is allocated after an open call has returned;
//  - no global state, no signal handlers, no `errno`: the outcome is in the returned `cuwb_result`;
//  - one thread may read while another one writes; `cuwb_link_wake` and `cuwb_link_get_stats` may
//    be called from any thread; nothing else may run during `cuwb_link_close`.
#ifndef CUWB_H
#define CUWB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// ------------------------------------------------------------------------------------- outcomes

/// The outcome of a call.
typedef enum cuwb_outcome {
  CUWB_OK = 0,
  /// The time passed without a whole frame (read), or without room for one (write, connect).
  CUWB_TIMEOUT = 1,
  /// `cuwb_link_wake` was called.
  CUWB_WOKEN = 2,
  /// The peer closed the connection: a socket, a pipe.
  CUWB_CLOSED = 3,
  /// The device is lost: unplugged, hung up, or its driver removed.
  CUWB_GONE = 4,
  /// The next frame is longer than the given memory. It is kept; `cuwb_frame.length` has the
  /// required size.
  CUWB_TOO_LONG = 5,
  /// The kernel reported an error; `error` is its errno.
  CUWB_FAILED = 6,
  /// An argument is invalid: a baud rate that the kernel does not support, an empty frame.
  CUWB_INVALID = 7,
  /// The host name could not be resolved; `error` is the EAI_ code of getaddrinfo.
  CUWB_UNRESOLVED = 8,
  /// The chip does not take part in the protocol of its bus: it is off, in another mode, wired
  /// differently, or another chip.
  CUWB_NO_ANSWER = 9,
} cuwb_outcome;

/// The outcome of a call, and the errno if there is one (0 otherwise).
typedef struct cuwb_result {
  cuwb_outcome outcome;
  int32_t error;
} cuwb_result;

// -------------------------------------------------------------------------------------- framing

/// Every UCI frame begins with four bytes (FiRa UCI, "control packet" and "data packet" header).
#define CUWB_HEADER_LENGTH 4
/// A control frame is at most 4 + 255 bytes.
#define CUWB_CONTROL_FRAME_MAX 259
/// The longest frame a link can carry, in bytes. Chips in the field announce payloads of at most
/// 2039 bytes (NXP SR250).
#define CUWB_FRAME_MAX 8192

/// The rules for the length of a frame, and for the bytes that may begin a frame.
typedef struct cuwb_framing {
  /// Bit n set: message type n (bits 7..5 of byte 0) may come from the chip. Data 0, command 1,
  /// response 2, notification 3, test 4 and 5.
  uint8_t message_types;
  /// Bit n set: data packet format n may come from the chip (lower nibble of byte 0 of type 0).
  uint16_t data_formats;
  /// NXP: bit 7 of byte 1 announces a 16-bit little-endian length in a control frame.
  bool extended_length;
  /// Qorvo QM33 serial firmware: data frames have their length in byte 3 only.
  bool data_length_in_byte_3;
  /// The longest frame that this chip sends, header included: bytes that announce a longer frame
  /// are not a header. 0 means CUWB_FRAME_MAX.
  uint16_t longest_frame;
  /// The silence in milliseconds after which an incomplete frame is given up. 0 means 100, the time
  /// after which Qorvo's firmware discards a partial packet.
  uint16_t gap_ms;
} cuwb_framing;

/// Returns the framing for an unknown chip: responses, notifications, data to the host.
cuwb_framing cuwb_framing_default(void);

/// A frame that was read.
typedef struct cuwb_frame {
  /// The bytes of the frame, including the header.
  uint32_t length;
  /// The number of bytes that were skipped between the previous frame and this one.
  uint32_t skipped;
  /// CLOCK_MONOTONIC in nanoseconds, right after the read that completed the frame.
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
  /// Whether another program may use the port at the same time: neither TIOCEXCL nor flock is used.
  bool shared;
} cuwb_serial_options;

/// Opens a serial device: raw, 8N1, exclusive, with DTR asserted, and in the driver's low-latency
/// mode if it has one. EBUSY in `error`: another program has the port. ENOTTY: not a serial device.
cuwb_result cuwb_open_serial(const char *path, cuwb_serial_options options,
                             cuwb_link *_Nullable *_Nonnull link);

/// Takes over a descriptor that is open for reading and writing: a socket, a pipe end, a
/// pseudo-terminal. Sets it non-blocking, and a terminal raw; a terminal keeps its speed and is not
/// locked. On CUWB_OK the link owns the descriptor and closes it; on any other outcome the caller
/// still owns it.
cuwb_result cuwb_open_descriptor(int descriptor, cuwb_link *_Nullable *_Nonnull link);

/// Connects to `host`:`port` with TCP_NODELAY within `timeout_ms`, trying every address of the
/// host. Resolving a name is not covered by the time limit.
cuwb_result cuwb_open_tcp(const char *host, const char *port, int32_t timeout_ms,
                          cuwb_link *_Nullable *_Nonnull link);

// ------------------------------------------------------------------------------- every open link

/// Closes the descriptor and frees the link. The reader must have returned.
void cuwb_link_close(cuwb_link *link);

/// Replaces the framing rules. Only from the reading thread, or before the first read.
void cuwb_link_set_framing(cuwb_link *link, cuwb_framing framing);

/// The framing rules in use. Callable from the same threads as `cuwb_link_set_framing`.
cuwb_framing cuwb_link_get_framing(const cuwb_link *link);

/// Reads the next whole frame into `memory`. A `timeout_ms` of -1 waits without a limit, 0 does not
/// wait.
///
/// A frame is delivered as soon as its last byte has arrived once it is known where frames begin.
/// That is the case from the second frame on, and from the first frame if the reader has seen a
/// silence of 25 ms before it. Otherwise the first frame, and the first frame after a loss of
/// bytes, waits for the header after it or for 25 ms of silence.
///
/// A pending wake is reported before any frame. When a terminal, a device (CUWB_GONE) or a
/// connection (CUWB_CLOSED) has ended, the whole frames that arrived before are delivered first.
cuwb_result cuwb_read_frame(cuwb_link *link, void *memory, size_t capacity, int32_t timeout_ms,
                            cuwb_frame *frame);

/// Writes a whole frame, with one write(2) unless the kernel accepts only a part of it. After
/// CUWB_TIMEOUT a part of the frame may have been sent; Qorvo's firmware discards it after 100 ms.
/// Never raises SIGPIPE.
cuwb_result cuwb_write_frame(cuwb_link *link, const void *bytes, size_t length,
                             int32_t timeout_ms);

/// Makes the current or next `cuwb_read_frame` return CUWB_WOKEN. Callable from any thread at any
/// time.
void cuwb_link_wake(cuwb_link *link);

/// Counters since the link was opened.
typedef struct cuwb_stats {
  uint64_t frames_read;
  uint64_t bytes_read;
  uint64_t reads;
  uint64_t frames_written;
  uint64_t bytes_written;
  /// Bytes that were skipped because they could not belong to a frame.
  uint64_t bytes_skipped;
  /// The number of times that the boundary between frames was lost; on SPI and behind NXP's
  /// drivers, that a chip announced a packet and did not deliver it.
  uint64_t resynchronisations;
} cuwb_stats;

/// Returns a copy of the counters. Each is exact; together they may be one frame apart.
cuwb_stats cuwb_link_get_stats(const cuwb_link *link);

/// Returns the link's descriptor, for diagnosis only; -1 for a link that has none to be read like a
/// stream (SPI, NXP's drivers).
int cuwb_link_descriptor(const cuwb_link *link);

// ----------------------------------------------------------------------- sleeping and the clock

/// Sleeps until another thread calls `cuwb_futex_wake` or `timeout_ms` has passed (-1: no limit).
/// Returns at once if `*word` is not `expected`. In C because Swift's Glibc hides syscall(2).
void cuwb_futex_wait(uint32_t *word, uint32_t expected, int32_t timeout_ms);

/// Wakes one thread that sleeps on `*word`.
void cuwb_futex_wake(uint32_t *word);

/// Keeps the compiler from moving accesses to memory across; the processor may still move them.
static inline void cuwb_compiler_barrier(void) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

/// Copies bytes that are read next, in pieces that do not overlap. memcpy(3) writes the end of most
/// lengths twice, and a processor has to wait when it reads across two writes that are under way.
static inline void cuwb_copy_to_read(void *to, const void *from, size_t count) {
  uint8_t *out = (uint8_t *)to;
  const uint8_t *in = (const uint8_t *)from;
  size_t at = 0;
  for (; count - at >= 64; at += 64) __builtin_memcpy(out + at, in + at, 64);
#define CUWB_COPY_PIECE(size)                    \
  if (count & (size)) {                          \
    __builtin_memcpy(out + at, in + at, (size)); \
    at += (size);                                \
  }
  CUWB_COPY_PIECE(32)
  CUWB_COPY_PIECE(16)
  CUWB_COPY_PIECE(8)
  CUWB_COPY_PIECE(4)
  CUWB_COPY_PIECE(2)
  CUWB_COPY_PIECE(1)
#undef CUWB_COPY_PIECE
}

/// Whether `cuwb_process_barrier` works here: asks the kernel for it, once in the life of a
/// process.
bool cuwb_has_process_barrier(void);

/// Runs a full memory barrier on every processor that runs a thread of this process. After it, a
/// compiler barrier between two accesses of another thread counts as a full barrier. membarrier(2)
/// with MEMBARRIER_CMD_PRIVATE_EXPEDITED. To be called only if `cuwb_has_process_barrier`.
void cuwb_process_barrier(void);

/// Returns CLOCK_MONOTONIC in nanoseconds.
uint64_t cuwb_monotonic_ns(void);

/// Watches descriptors together: epoll(7), which Swift's Glibc does not have. Returns a descriptor
/// that is readable when there is something to take, or -1.
int32_t cuwb_watch_open(void);

/// Watches a descriptor until it is closed, or changes the events of a watched one.
///
/// Each change is reported once: the descriptor can be read, or with `writes`, can be written. The
/// state at the time of the call is reported as well.
bool cuwb_watch_set(int32_t watch, int32_t fd, uint64_t tag, bool writes, bool is_new);

/// Takes the tags of descriptors with new events, at most 64, and whether the other end has hung
/// up. Does not wait.
int32_t cuwb_watch_take(int32_t watch, uint64_t *tags, bool *hung_up, int32_t room);

/// Returns a descriptor that is readable while `fd` is, and never hangs up, or -1. Close it before
/// `fd`.
int32_t cuwb_watch_readable(int32_t fd);

/// Names the calling thread (15 bytes are kept). In C because Swift's Glibc hides
/// pthread_setname_np(3).
void cuwb_name_thread(const char *name);

#pragma clang assume_nonnull end

#endif
