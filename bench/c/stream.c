#define _GNU_SOURCE
#include "stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static long plain_result(ssize_t count) {
    if (count >= 0) return count;
    return errno == EAGAIN || errno == EINTR ? STREAM_WAIT : STREAM_END;
}

static long tls_result(SSL *tls, int count) {
    if (count > 0) return count;
    int reason = SSL_get_error(tls, count);
    return reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE ? STREAM_WAIT : STREAM_END;
}

long stream_read(struct stream *stream, void *room, size_t size) {
    if (stream->tls == NULL) return plain_result(recv(stream->fd, room, size, 0));
    return tls_result(stream->tls, SSL_read(stream->tls, room, (int)size));
}

long stream_write(struct stream *stream, const void *bytes, size_t size) {
    if (stream->tls == NULL) return plain_result(send(stream->fd, bytes, size, MSG_NOSIGNAL));
    return tls_result(stream->tls, SSL_write(stream->tls, bytes, (int)size));
}

long stream_discard(struct stream *stream, size_t size) {
    static char discarded[CHUNK];
    if (size > CHUNK) size = CHUNK;
    if (stream->tls == NULL) return plain_result(recv(stream->fd, NULL, size, MSG_TRUNC));
    return stream_read(stream, discarded, size);
}

long stream_handshake(struct stream *stream) {
    return tls_result(stream->tls, SSL_do_handshake(stream->tls));
}

void stream_close(struct stream *stream, bool graceful) {
    if (stream->tls != NULL) {
        if (graceful) SSL_shutdown(stream->tls);
        SSL_free(stream->tls);
    }
    close(stream->fd);
    stream->tls = NULL;
    stream->fd = -1;
}

void socket_without_delay(int fd) {
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

struct sockaddr_in loopback(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int listen_on(int port) {
    int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener < 0) fail("socket");
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address = loopback(port);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0) fail("bind");
    if (listen(listener, 4096) < 0) fail("listen");
    return listener;
}

void fail(const char *what) {
    perror(what);
    exit(1);
}
