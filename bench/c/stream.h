/* Reads and writes one connection, plain or with TLS. All sockets are non-blocking. */
#ifndef STREAM_H
#define STREAM_H

#include <netinet/in.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The protocol after the hello or the handshake: the client sends the size of its request body and of the response,
 * then the body. After the response it may send another request.
 */
struct request {
    uint64_t up;
    uint64_t down;
};

struct stream {
    int fd;
    SSL *tls; /* NULL for plain bytes */
};

enum { STREAM_END = 0, STREAM_WAIT = -1, CHUNK = 256 * 1024 };

/* All return the number of bytes, STREAM_END on end or error, or STREAM_WAIT if the socket would block. */
long stream_read(struct stream *stream, void *room, size_t size);
long stream_write(struct stream *stream, const void *bytes, size_t size);
/* Reads and discards bytes. For a plain socket, the kernel does not copy them. */
long stream_discard(struct stream *stream, size_t size);
/* Returns 1 when the handshake is done. */
long stream_handshake(struct stream *stream);
/* With `graceful`, TLS sends close_notify first. */
void stream_close(struct stream *stream, bool graceful);

/* Sets TCP_NODELAY, so that a request does not wait for an acknowledgment. */
void socket_without_delay(int fd);
/* Returns 127.0.0.1 with this port. */
struct sockaddr_in loopback(int port);
/* Returns a listening socket on loopback. Exits if the port is in use. */
int listen_on(int port);
/* Prints `what` with the system error, and exits. */
_Noreturn void fail(const char *what);

#endif
