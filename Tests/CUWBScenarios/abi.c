// SPDX-License-Identifier: Apache-2.0
//
// No code: checks at compile time, on every architecture, that the kernel's headers agree with its
// binary interface (values: Linux 6.1 on x86-64), and that the request numbers agree with the
// vendors' drivers (values: the sources named in ioctl_requests.h).
#include <linux/gpio.h>
#include <linux/spi/spidev.h>
#include <stddef.h>

#include "../../CUWB/chardev/ioctl_requests.h"

#define IS(expression, value) _Static_assert((expression) == (value), #expression)
#define SIZE(type, size) IS(sizeof(type), size)
#define AT(type, member, offset) IS(offsetof(type, member), offset)

// ------------------------------------------------------------------------------------------ spidev

IS(SPI_IOC_MESSAGE(1), 0x40206B00);
IS(SPI_IOC_MESSAGE(2), 0x40406B00);
IS(SPI_IOC_MESSAGE(3), 0x40606B00);
IS(SPI_IOC_MESSAGE(4), 0x40806B00);
IS(SPI_IOC_WR_MODE, 0x40016B01);
IS(SPI_IOC_WR_BITS_PER_WORD, 0x40016B03);
IS(SPI_IOC_WR_MAX_SPEED_HZ, 0x40046B04);

SIZE(struct spi_ioc_transfer, 32);
AT(struct spi_ioc_transfer, tx_buf, 0);
AT(struct spi_ioc_transfer, rx_buf, 8);
AT(struct spi_ioc_transfer, len, 16);
AT(struct spi_ioc_transfer, speed_hz, 20);
AT(struct spi_ioc_transfer, delay_usecs, 24);
AT(struct spi_ioc_transfer, bits_per_word, 26);
AT(struct spi_ioc_transfer, cs_change, 27);

// -------------------------------------------------------------------------------------------- GPIO

IS(GPIO_GET_CHIPINFO_IOCTL, 0x8044B401);
IS(GPIO_V2_GET_LINEINFO_IOCTL, 0xC100B405);
IS(GPIO_V2_GET_LINE_IOCTL, 0xC250B407);
IS(GPIO_V2_LINE_GET_VALUES_IOCTL, 0xC010B40E);
IS(GPIO_V2_LINE_SET_VALUES_IOCTL, 0xC010B40F);

IS(GPIO_MAX_NAME_SIZE, 32);
IS(GPIO_V2_LINE_FLAG_USED, 0x1);
IS(GPIO_V2_LINE_FLAG_INPUT, 0x4);
IS(GPIO_V2_LINE_FLAG_OUTPUT, 0x8);
IS(GPIO_V2_LINE_FLAG_EDGE_RISING, 0x10);
IS(GPIO_V2_LINE_FLAG_EDGE_FALLING, 0x20);
IS(GPIO_V2_LINE_ATTR_ID_OUTPUT_VALUES, 2);
IS(GPIO_V2_LINE_EVENT_RISING_EDGE, 1);
IS(GPIO_V2_LINE_EVENT_FALLING_EDGE, 2);

SIZE(struct gpiochip_info, 68);
AT(struct gpiochip_info, lines, 64);

SIZE(struct gpio_v2_line_info, 256);
AT(struct gpio_v2_line_info, consumer, 32);
AT(struct gpio_v2_line_info, offset, 64);
AT(struct gpio_v2_line_info, num_attrs, 68);
AT(struct gpio_v2_line_info, flags, 72);

SIZE(struct gpio_v2_line_request, 592);
AT(struct gpio_v2_line_request, consumer, 256);
AT(struct gpio_v2_line_request, config, 288);
AT(struct gpio_v2_line_request, num_lines, 560);
AT(struct gpio_v2_line_request, event_buffer_size, 564);
AT(struct gpio_v2_line_request, fd, 588);

SIZE(struct gpio_v2_line_config, 272);
AT(struct gpio_v2_line_config, num_attrs, 8);
AT(struct gpio_v2_line_config, attrs, 32);
SIZE(struct gpio_v2_line_config_attribute, 24);
AT(struct gpio_v2_line_config_attribute, mask, 16);
SIZE(struct gpio_v2_line_attribute, 16);
AT(struct gpio_v2_line_attribute, values, 8);

SIZE(struct gpio_v2_line_values, 16);
AT(struct gpio_v2_line_values, mask, 8);

SIZE(struct gpio_v2_line_event, 48);
AT(struct gpio_v2_line_event, id, 8);
AT(struct gpio_v2_line_event, offset, 12);
AT(struct gpio_v2_line_event, line_seqno, 20);

// ------------------------------------------------------------------------------- vendors' drivers

IS(SRXXX_SET_PWR, 0x4004EA01);
IS(SRXXX_SET_FWD, 0x4004EA02);
#if __SIZEOF_LONG__ == 8
IS(SRXXX_SET_PWR_LONG, 0x4008EA01);
IS(SRXXX_SET_FWD_LONG, 0x4008EA02);
#endif

IS(QM35_RESET, 0x80045501);
IS(QM35_GET_STATE, 0x80045502);
IS(QM35_FW_UPLOAD, 0x80045503);
IS(QM35_POWER, 0x40045504);
