// SPDX-License-Identifier: Apache-2.0
//
// ioctl requests of the vendors' character devices.
#ifndef CUWB_IOCTL_REQUESTS_H
#define CUWB_IOCTL_REQUESTS_H

#include <linux/ioctl.h>
#include <linux/types.h>

// NXP's drivers declare the argument with a 32-bit type (sr1xx.c of NXP/uwb-driver-testapp, its
// test program, AOSP's HAL, sr200.c) or as a long (its predecessor nxp-sr1xx.c, the patches on the
// kernel's mailing list). Either way the argument is passed by value.
#define SRXXX_SET_PWR _IOW(0xEA, 1, __u32)
#define SRXXX_SET_FWD _IOW(0xEA, 2, __u32)
#define SRXXX_SET_PWR_LONG _IOW(0xEA, 1, long)
#define SRXXX_SET_FWD_LONG _IOW(0xEA, 2, long)

// Arguments of SET_PWR and of SET_FWD.
#define SRXXX_POWER_OFF 0
#define SRXXX_POWER_ON 1
#define SRXXX_ABORT_READ 2
#define SRXXX_MODE_UCI 0
#define SRXXX_MODE_HBCI 1

// Qorvo: uci_ioctls.h of the QM35 driver (GPL; GrapheneOS-Archive/kernel_google-modules_uwb-zuma).
#define QM35_RESET _IOR('U', 1, unsigned int)
#define QM35_GET_STATE _IOR('U', 2, unsigned int)
#define QM35_FW_UPLOAD _IOR('U', 3, unsigned int)
#define QM35_POWER _IOW('U', 4, unsigned int)

#endif
