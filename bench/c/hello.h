/* A ClientHello with a server name: written for plain loads, read by the relay and the backend. */
#ifndef HELLO_H
#define HELLO_H

#include <stdbool.h>
#include <stddef.h>

enum { HELLO_ROOM = 1024, NAME_ROOM = 256, HELLO_PROBE = 43 };

/* Writes the hello that stands for a handshake in a plain load, and returns its length. */
size_t hello_write(unsigned char room[HELLO_ROOM], const char *server_name);

/* Is this the beginning of such a hello? Needs the first HELLO_PROBE bytes. */
bool hello_is_plain(const unsigned char *bytes);

/* Length of a TLS record with its header, of which the first five bytes are given. */
size_t record_length(const unsigned char *bytes);

/* 1 and the server name, 0 if there must be more bytes, -1 if this is no hello with a name. */
int hello_server_name(const unsigned char *bytes, size_t length, char name[NAME_ROOM]);

#endif
