/*
 * backend PORT CERTIFICATE KEY
 *
 * Answers the requests of stream.h on loopback. A connection that begins with the marked hello of hello.h continues in
 * plain bytes. Any other connection gets a TLS handshake. So one address serves both kinds of load, and TLS health
 * checks.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "hello.h"
#include "stream.h"

struct connection {
    struct stream stream;
    enum { FIRST_BYTES, HANDSHAKE, REQUEST } stage;
    uint64_t skip; /* remaining bytes of the marked hello */
    struct request request;
    size_t request_bytes; /* received so far */
    uint64_t owed;        /* bytes to send before the next request is read */
    uint32_t events;
};

static int epoll;
static SSL_CTX *tls_context;
static char filler[CHUNK];

static void watch(struct connection *connection, int operation, uint32_t events) {
    if (operation == EPOLL_CTL_MOD && connection->events == events) return;
    struct epoll_event event = {.events = events, .data.ptr = connection};
    connection->events = events;
    epoll_ctl(epoll, operation, connection->stream.fd, &event);
}

static void accept_all(int listener) {
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct connection *connection = calloc(1, sizeof *connection);
        if (connection == NULL) fail("calloc");
        socket_without_delay(fd);
        connection->stream.fd = fd;
        watch(connection, EPOLL_CTL_ADD, EPOLLIN);
    }
}

/* Returns 1 once it is known whether this client uses plain bytes or TLS. */
static long detect_kind(struct connection *connection) {
    unsigned char bytes[HELLO_PROBE];
    ssize_t count = recv(connection->stream.fd, bytes, sizeof bytes, MSG_PEEK);
    if (count <= 0) return STREAM_END;
    if (count < HELLO_PROBE) return STREAM_WAIT;
    if (hello_is_plain(bytes)) {
        connection->skip = record_length(bytes);
        connection->stage = REQUEST;
        return 1;
    }
    connection->stream.tls = SSL_new(tls_context);
    SSL_set_fd(connection->stream.tls, connection->stream.fd);
    SSL_set_accept_state(connection->stream.tls);
    connection->stage = HANDSHAKE;
    return 1;
}

static long send_owed(struct connection *connection) {
    while (connection->owed > 0) {
        size_t size = connection->owed < CHUNK ? connection->owed : CHUNK;
        long count = stream_write(&connection->stream, filler, size);
        if (count <= 0) return count;
        connection->owed -= (uint64_t)count;
    }
    return 1;
}

/* Reads the rest of a hello, a request, and the body that the request announced. */
static long read_request(struct connection *connection) {
    static unsigned char bytes[4096];
    size_t at = 0;
    long count;
    if (connection->request_bytes == sizeof connection->request && connection->request.up > sizeof bytes) {
        count = stream_discard(&connection->stream, connection->request.up);
        if (count > 0) connection->request.up -= (uint64_t)count;
        return count;
    }
    count = stream_read(&connection->stream, bytes, sizeof bytes);
    if (count <= 0) return count;
    size_t have = (size_t)count, skipped = connection->skip < have ? connection->skip : have;
    connection->skip -= skipped;
    at += skipped;
    size_t missing = sizeof connection->request - connection->request_bytes;
    size_t taken = have - at < missing ? have - at : missing;
    memcpy((char *)&connection->request + connection->request_bytes, bytes + at, taken);
    connection->request_bytes += taken;
    at += taken;
    if (connection->request_bytes == sizeof connection->request) connection->request.up -= have - at;
    return count;
}

/* Continues until the socket would block. */
static long serve(struct connection *connection) {
    for (;;) {
        long result = 1;
        if (connection->stage == FIRST_BYTES) result = detect_kind(connection);
        else if (connection->stage == HANDSHAKE) {
            result = stream_handshake(&connection->stream);
            if (result == 1) connection->stage = REQUEST;
        } else if (connection->owed > 0) {
            result = send_owed(connection);
        } else {
            result = read_request(connection);
            if (result > 0 && connection->request_bytes == sizeof connection->request && connection->request.up == 0) {
                connection->owed = connection->request.down;
                connection->request_bytes = 0;
            }
        }
        if (result <= 0) return result;
    }
}

static SSL_CTX *server_context(const char *certificate, const char *key) {
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (context == NULL || SSL_CTX_use_certificate_chain_file(context, certificate) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) {
        fprintf(stderr, "backend: %s and %s are not a certificate and its key\n", certificate, key);
        exit(1);
    }
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 0);
    return context;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: backend PORT CERTIFICATE KEY\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    tls_context = server_context(argv[2], argv[3]);
    int listener = listen_on(atoi(argv[1]));
    epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event arrival = {.events = EPOLLIN, .data.ptr = NULL}, events[256];
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &arrival);
    for (;;) {
        int ready = epoll_wait(epoll, events, 256, -1);
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            if (connection == NULL) {
                accept_all(listener);
            } else if (serve(connection) == STREAM_END) {
                stream_close(&connection->stream, false);
                free(connection);
            } else {
                watch(connection, EPOLL_CTL_MOD, connection->owed > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
            }
        }
    }
}
