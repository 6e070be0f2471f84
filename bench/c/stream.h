/* The bytes of one connection, plain or through TLS, and what is sent over it. Sockets never block. */
#ifndef STREAM_H
#define STREAM_H

#include <netinet/in.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * What is spoken after the hello or the handshake: the client says how many bytes it sends behind this, and how many
 * it wants back when they are there. Then it may ask again.
 */
struct request {
    uint64_t up;
    uint64_t down;
};

struct stream {
    int fd;
    SSL *tls; /* NULL: plain bytes */
};

enum { STREAM_END = 0, STREAM_WAIT = -1, CHUNK = 256 * 1024 };

/* All return the number of bytes, STREAM_END for an end or an error, or STREAM_WAIT if the socket must be waited for. */
long stream_read(struct stream *stream, void *room, size_t size);
long stream_write(struct stream *stream, const void *bytes, size_t size);
/* Reads and throws away; of a plain socket the kernel does not even copy them. */
long stream_discard(struct stream *stream, size_t size);
/* 1 when the handshake is done. */
long stream_handshake(struct stream *stream);
/* With `properly` TLS says goodbye first. */
void stream_close(struct stream *stream, bool properly);

/* TCP_NODELAY: a request must not wait for an acknowledgement. */
void socket_without_delay(int fd);
/* 127.0.0.1 with this port. */
struct sockaddr_in loopback(int port);
/* A listening socket on loopback; ends the program if the port is taken. */
int listen_on(int port);
/* Prints what failed, with the system's reason, and ends the program. */
_Noreturn void give_up(const char *what);

#endif
