/*
 * relay PORT HOST BACKEND_PORT
 *
 * The lower bound: a minimal single-threaded SNI router. It peeks at the hello, dials, and forwards bytes. It copies
 * small amounts, and splices after its buffer was full twice in a row. It has no limits, counters, timeouts or log, so
 * any proxy with the same system calls costs at least as much.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hello.h"
#include "stream.h"

enum { BUFFER = 64 * 1024, PIPE = 1024 * 1024, FULL_READS_UNTIL_SPLICE = 2, ROUNDS = 8, MAX_CLOSED = 8192, POOL = 64 };

struct side {
    int fd;
    struct side *peer;
    enum { HELLO, DIALING, JOINED, CLOSED } stage;
    uint32_t events;
    bool saw_fin;
    int full_reads;    /* consecutive */
    char *buffered;      /* bytes that its peer did not accept */
    size_t buffered_bytes;
    int pipe[2];       /* 0, 0 if there is none */
    size_t pipe_bytes;
};

static int epoll;
static char buffer[BUFFER];
static struct side *closed_sides[MAX_CLOSED]; /* freed after the batch of events, which may still refer to them */
static size_t closed_count;
static int pool[POOL][2];
static size_t pool_size;

static void watch(struct side *side, int operation, uint32_t events) {
    if (operation == EPOLL_CTL_MOD && side->events == events) return;
    struct epoll_event event = {.events = events, .data.ptr = side};
    side->events = events;
    epoll_ctl(epoll, operation, side->fd, &event);
}

static struct side *new_side(int fd, int stage, uint32_t events) {
    struct side *side = calloc(1, sizeof *side);
    if (side == NULL) fail("calloc");
    side->fd = fd;
    side->stage = stage;
    watch(side, EPOLL_CTL_ADD, events);
    return side;
}

static void return_pipe(struct side *side) {
    if (side->pipe[1] == 0) return;
    if (side->pipe_bytes == 0 && pool_size < POOL) {
        memcpy(pool[pool_size++], side->pipe, sizeof side->pipe);
    } else {
        close(side->pipe[0]);
        close(side->pipe[1]);
    }
    side->pipe[0] = side->pipe[1] = 0;
}

static bool take_pipe(struct side *side) {
    if (pool_size > 0) {
        memcpy(side->pipe, pool[--pool_size], sizeof side->pipe);
        return true;
    }
    if (pipe2(side->pipe, O_NONBLOCK | O_CLOEXEC) < 0) {
        side->pipe[0] = side->pipe[1] = 0;
        return false;
    }
    fcntl(side->pipe[1], F_SETPIPE_SZ, PIPE);
    return true;
}

static void end_side(struct side *side) {
    if (side == NULL || side->stage == CLOSED) return;
    side->stage = CLOSED;
    close(side->fd);
    return_pipe(side);
    free(side->buffered);
    closed_sides[closed_count++] = side;
}

static void end_pair(struct side *side) {
    end_side(side->peer);
    end_side(side);
}

/* The peer accepts no more bytes: stop reading until it does. */
static void block(struct side *side) {
    watch(side, EPOLL_CTL_MOD, 0);
    watch(side->peer, EPOLL_CTL_MOD, (side->peer->saw_fin ? 0 : EPOLLIN) | EPOLLOUT);
}

static void buffer_bytes(struct side *side, const char *bytes, size_t count) {
    char *copy = malloc(count);
    if (copy == NULL) fail("malloc");
    memcpy(copy, bytes, count);
    free(side->buffered);
    side->buffered = copy;
    side->buffered_bytes = count;
    block(side);
}

static void forward_fin(struct side *side) {
    side->saw_fin = true;
    if (side->peer->saw_fin) {
        end_pair(side);
        return;
    }
    shutdown(side->peer->fd, SHUT_WR);
    watch(side, EPOLL_CTL_MOD, 0);
}

/* Does one read and one write. Returns whether there may be more to read now. */
static bool copy_once(struct side *side) {
    ssize_t count = recv(side->fd, buffer, BUFFER, 0);
    if (count < 0) {
        if (errno != EAGAIN) end_pair(side);
        return false;
    }
    if (count == 0) {
        forward_fin(side);
        return false;
    }
    ssize_t sent = send(side->peer->fd, buffer, (size_t)count, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) {
        end_pair(side);
        return false;
    }
    if (sent < 0) sent = 0;
    side->full_reads = count == BUFFER ? side->full_reads + 1 : 0;
    if (sent < count) {
        buffer_bytes(side, buffer + sent, (size_t)(count - sent));
        return false;
    }
    if (side->full_reads >= FULL_READS_UNTIL_SPLICE) take_pipe(side);
    return count == BUFFER;
}

static bool splice_once(struct side *side) {
    if (side->pipe_bytes == 0) {
        ssize_t count = splice(side->fd, NULL, side->pipe[1], NULL, PIPE, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
        if (count < 0 && errno == EAGAIN) {
            return_pipe(side);
            side->full_reads = FULL_READS_UNTIL_SPLICE - 1;
            return false;
        }
        if (count <= 0) {
            if (count == 0) forward_fin(side);
            else end_pair(side);
            return false;
        }
        side->pipe_bytes = (size_t)count;
    }
    ssize_t sent = splice(side->pipe[0], NULL, side->peer->fd, NULL, side->pipe_bytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (sent < 0 && errno != EAGAIN) {
        end_pair(side);
        return false;
    }
    if (sent > 0) side->pipe_bytes -= (size_t)sent;
    if (side->pipe_bytes > 0) block(side);
    return side->pipe_bytes == 0;
}

static void pump(struct side *side) {
    for (int round = 0; round < ROUNDS; round++) {
        if (!(side->pipe[1] != 0 ? splice_once(side) : copy_once(side))) return;
    }
}

/* The side accepts bytes again: sends the buffered ones first. */
static void unblock(struct side *side) {
    struct side *from = side->peer;
    if (from->buffered != NULL) {
        ssize_t sent = send(side->fd, from->buffered, from->buffered_bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) end_pair(side);
        if (sent < 0) return;
        memmove(from->buffered, from->buffered + sent, from->buffered_bytes - (size_t)sent);
        from->buffered_bytes -= (size_t)sent;
        if (from->buffered_bytes > 0) return;
        free(from->buffered);
        from->buffered = NULL;
    }
    watch(side, EPOLL_CTL_MOD, side->saw_fin ? 0 : EPOLLIN);
    watch(from, EPOLL_CTL_MOD, from->saw_fin ? 0 : EPOLLIN);
    if (!from->saw_fin) pump(from);
}

static void route(struct side *client, const char *host, int backend_port) {
    char name[NAME_ROOM];
    ssize_t count = recv(client->fd, buffer, BUFFER, MSG_PEEK);
    int found = count <= 0 ? -1 : hello_server_name((unsigned char *)buffer, (size_t)count, name);
    if (found == 0) return;
    if (found < 0 || strcmp(name, host) != 0) {
        end_side(client);
        return;
    }
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        end_side(client);
        return;
    }
    socket_without_delay(fd);
    struct sockaddr_in address = loopback(backend_port);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS) {
        close(fd);
        end_side(client);
        return;
    }
    watch(client, EPOLL_CTL_MOD, 0);
    client->stage = JOINED;
    client->peer = new_side(fd, DIALING, EPOLLOUT);
    client->peer->peer = client;
}

static void dialed(struct side *server) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(server->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
        end_pair(server);
        return;
    }
    server->stage = JOINED;
    watch(server, EPOLL_CTL_MOD, EPOLLIN);
    watch(server->peer, EPOLL_CTL_MOD, EPOLLIN);
    pump(server->peer);
}

static void joined(struct side *side, uint32_t events) {
    if (events & EPOLLOUT) unblock(side);
    if (side->stage == CLOSED) return;
    if (events & EPOLLIN) pump(side);
    else if (events & (EPOLLHUP | EPOLLERR)) end_pair(side);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: relay PORT HOST BACKEND_PORT\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    int listener = listen_on(atoi(argv[1])), backend_port = atoi(argv[3]);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event arrival = {.events = EPOLLIN, .data.ptr = NULL}, events[256];
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &arrival);
    for (;;) {
        int ready = epoll_wait(epoll, events, 256, -1);
        for (int i = 0; i < ready; i++) {
            struct side *side = events[i].data.ptr;
            if (side == NULL) {
                for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
                    socket_without_delay(fd);
                    new_side(fd, HELLO, EPOLLIN);
                }
            } else if (side->stage == HELLO) route(side, argv[2], backend_port);
            else if (side->stage == DIALING) dialed(side);
            else if (side->stage == JOINED) joined(side, events[i].events);
        }
        while (closed_count > 0) free(closed_sides[--closed_count]);
    }
}
