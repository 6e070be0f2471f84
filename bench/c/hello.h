/* ClientHellos with a server name: written for plain loads, parsed by the relay and the backend. */
#ifndef HELLO_H
#define HELLO_H

#include <stdbool.h>
#include <stddef.h>

enum { HELLO_ROOM = 1024, NAME_ROOM = 256, HELLO_PROBE = 43 };

/* Writes the hello that replaces a handshake in a plain load, and returns its length. */
size_t hello_write(unsigned char room[HELLO_ROOM], const char *server_name);

/* Returns whether the bytes begin such a hello. Needs the first HELLO_PROBE bytes. */
bool hello_is_plain(const unsigned char *bytes);

/* Returns the length of a TLS record including its header, given the first five bytes. */
size_t record_length(const unsigned char *bytes);

/* Returns 1 and the server name, 0 if more bytes are needed, or -1 if this is not a hello with a server name. */
int hello_server_name(const unsigned char *bytes, size_t length, char name[NAME_ROOM]);

#endif
