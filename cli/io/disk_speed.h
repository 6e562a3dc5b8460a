/* How fast the disk of a folder gives what was not read before, measured. */
#ifndef BROAD_CLI_IO_DISK_SPEED_H
#define BROAD_CLI_IO_DISK_SPEED_H

/* Bytes per second of an unnamed file of some megabytes, written there and read again; 0: none can be written. */
double cli_disk_speed(const char *folder);

#endif
