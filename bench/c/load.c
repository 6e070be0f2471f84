/*
 * load --port N --name HOST --kind plain|tls --connections N [--up BYTES] [--down BYTES] [--again]
 *      [--warm-up MS] [--duration MS] [--watch PID] [--idle]
 *
 * Keeps the given number of connections busy with requests (stream.h), in one thread, on loopback. With --again every
 * request has a new connection. After the warm-up it measures for the duration. It reads the CPU time of the watched
 * process at the start and the end itself, because another process would read it late. It prints one line of JSON.
 *
 * With --idle each connection makes one request and stays idle. The line is printed when all are idle, and the program
 * ends when its standard input is closed, or after three minutes.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "hello.h"
#include "processor.h"
#include "stream.h"

enum {
    /* Stop after this many errors. */
    ERROR_LIMIT = 100,
    LATENCY_LIMIT = 1 << 20,
    /* Maximum number of idle connections being opened at a time. */
    OPENING_LIMIT = 64,
    IDLE_SECONDS = 180,
    MESSAGE_ROOM = HELLO_ROOM + sizeof(struct request) + CHUNK,
};

struct connection {
    struct stream stream;
    enum { CONNECTING, HANDSHAKE, WRITING, READING, IDLE } stage;
    uint32_t events;
    bool hello_sent; /* the hello of a plain load is sent */
    uint64_t written, left_to_read, began_ns;
};

struct message {
    char bytes[MESSAGE_ROOM];
    size_t prepared; /* length in `bytes`; the rest is filler */
    uint64_t total;
};

static struct {
    const char *name;
    int port, connections, watched;
    bool tls, again, idle;
    struct request request;
    uint64_t warm_up_ns, duration_ns;
} options = {.connections = 1, .request = {.up = 0, .down = 1}, .duration_ns = 1000000000};

static int epoll;
static SSL_CTX *tls_context;
static struct message first_message, next_message; /* in a plain load the first message of a connection begins with the hello */
static uint64_t completed, errors, bytes;
static bool measuring;
static uint32_t latencies_us[LATENCY_LIMIT];
static size_t latency_count;

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void watch(struct connection *connection, int operation, uint32_t events) {
    if (operation == EPOLL_CTL_MOD && connection->events == events) return;
    struct epoll_event event = {.events = events, .data.ptr = connection};
    connection->events = events;
    epoll_ctl(epoll, operation, connection->stream.fd, &event);
}

static void prepare(struct message *message, bool with_hello) {
    size_t length = with_hello ? hello_write((unsigned char *)message->bytes, options.name) : 0;
    memcpy(message->bytes + length, &options.request, sizeof options.request);
    length += sizeof options.request;
    message->total = length + options.request.up;
    message->prepared = message->total < MESSAGE_ROOM ? message->total : MESSAGE_ROOM;
}

static void open_connection(struct connection *connection) {
    static uint32_t turn;
    memset(connection, 0, sizeof *connection);
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) fail("socket");
    socket_without_delay(fd);
    /* Uses 200 source addresses, because one address has too few ports for thousands of connections per second. */
    struct sockaddr_in source = {.sin_family = AF_INET};
    source.sin_addr.s_addr = htonl(0x7f000101 + turn++ % 200);
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&source, sizeof source) < 0) fail("bind");
    struct sockaddr_in target = loopback(options.port);
    connection->stream.fd = fd;
    connection->began_ns = now_ns();
    if (connect(fd, (struct sockaddr *)&target, sizeof target) < 0 && errno != EINPROGRESS) fail("connect");
    watch(connection, EPOLL_CTL_ADD, EPOLLOUT);
}

static void start_request(struct connection *connection) {
    if (!options.again) connection->began_ns = now_ns();
    connection->written = 0;
    connection->left_to_read = options.request.down;
    connection->stage = WRITING;
}

static void count_answer(struct connection *connection) {
    completed++;
    if (measuring && latency_count < LATENCY_LIMIT)
        latencies_us[latency_count++] = (uint32_t)((now_ns() - connection->began_ns) / 1000);
    if (options.idle) {
        connection->stage = IDLE;
        watch(connection, EPOLL_CTL_MOD, EPOLLIN);
    } else if (options.again) {
        stream_close(&connection->stream, true);
        open_connection(connection);
    } else {
        start_request(connection);
    }
}

static long connected(struct connection *connection) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(connection->stream.fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return STREAM_END;
    if (options.tls) {
        SSL *tls = connection->stream.tls = SSL_new(tls_context);
        SSL_set_fd(tls, connection->stream.fd);
        SSL_set_tlsext_host_name(tls, options.name);
        SSL_set_connect_state(tls);
        connection->stage = HANDSHAKE;
    } else {
        start_request(connection);
    }
    return 1;
}

static long write_request(struct connection *connection) {
    struct message *message = connection->hello_sent ? &next_message : &first_message;
    uint64_t left = message->total - connection->written;
    /* Filler bytes can be taken from anywhere after the request. */
    size_t at = connection->written < message->prepared ? connection->written : HELLO_ROOM + sizeof(struct request);
    size_t size = left < message->prepared - at ? left : message->prepared - at;
    long count = stream_write(&connection->stream, message->bytes + at, size);
    if (count <= 0) return count;
    bytes += (uint64_t)count;
    connection->written += (uint64_t)count;
    if (connection->written == message->total) {
        connection->hello_sent = true;
        connection->stage = READING;
    }
    return count;
}

static long read_answer(struct connection *connection) {
    long count = stream_discard(&connection->stream, connection->left_to_read);
    if (count <= 0) return count;
    bytes += (uint64_t)count;
    connection->left_to_read -= (uint64_t)count;
    if (connection->left_to_read == 0) count_answer(connection);
    return count;
}

/* Continues until the socket would block. Returns STREAM_END if the connection is lost. */
static long advance(struct connection *connection) {
    for (int step = 0; step < 64; step++) {
        long result = STREAM_WAIT;
        switch (connection->stage) {
        case CONNECTING:
            if (step > 0) return STREAM_WAIT; /* a new connection was opened in this call */
            result = connected(connection);
            break;
        case HANDSHAKE:
            result = stream_handshake(&connection->stream);
            if (result == 1) start_request(connection);
            break;
        case WRITING:
            result = write_request(connection);
            break;
        case READING:
            result = read_answer(connection);
            break;
        case IDLE: {
            char byte;
            result = stream_read(&connection->stream, &byte, 1) == STREAM_WAIT ? STREAM_WAIT : STREAM_END;
            break;
        }
        }
        if (result <= 0) return result;
    }
    return STREAM_WAIT;
}

static void handle(struct connection *connection) {
    if (advance(connection) != STREAM_END) {
        if (connection->stage == CONNECTING) return;
        watch(connection, EPOLL_CTL_MOD, connection->stage == WRITING ? EPOLLIN | EPOLLOUT : EPOLLIN);
        return;
    }
    stream_close(&connection->stream, false);
    if (++errors < ERROR_LIMIT) open_connection(connection);
}

static int compare_latency(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void print_result(uint64_t elapsed_ns, uint64_t processor_ns) {
    qsort(latencies_us, latency_count, sizeof *latencies_us, compare_latency);
    uint32_t median = latency_count ? latencies_us[latency_count / 2] : 0;
    uint32_t p99 = latency_count ? latencies_us[latency_count * 99 / 100] : 0;
    printf("{\"completed\":%lu,\"bytes\":%lu,\"errors\":%lu,\"elapsedNs\":%lu,\"processorNs\":%lu,"
           "\"latencyMedianUs\":%u,\"latency99Us\":%u}\n",
           completed, bytes, errors, elapsed_ns, processor_ns, median, p99);
    fflush(stdout);
}

static void wait_once(int timeout_ms) {
    struct epoll_event events[256];
    int ready = epoll_wait(epoll, events, 256, timeout_ms);
    for (int i = 0; i < ready && errors < ERROR_LIMIT; i++) handle(events[i].data.ptr);
}

static void measure(struct connection *connections) {
    for (int i = 0; i < options.connections; i++) open_connection(&connections[i]);
    uint64_t began = now_ns(), processor_began = 0;
    while (errors < ERROR_LIMIT) {
        wait_once(10);
        uint64_t now = now_ns();
        if (!measuring && now - began >= options.warm_up_ns) {
            measuring = true;
            completed = bytes = 0;
            processor_began = processor_time(options.watched);
            began = now_ns();
        } else if (measuring && now - began >= options.duration_ns) {
            print_result(now - began, processor_time(options.watched) - processor_began);
            return;
        }
    }
    print_result(now_ns() - began, 0);
}

static void stay_idle(struct connection *connections) {
    int opened = 0;
    bool printed = false;
    uint64_t began = now_ns();
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    while (now_ns() - began < IDLE_SECONDS * 1000000000ull && errors < ERROR_LIMIT) {
        while (opened < options.connections && (uint64_t)opened - completed < OPENING_LIMIT)
            open_connection(&connections[opened++]);
        wait_once(10);
        if (!printed && completed >= (uint64_t)options.connections) {
            print_result(now_ns() - began, 0);
            printed = true;
        }
        if (poll(&input, 1, 0) > 0) return;
    }
    if (!printed) print_result(now_ns() - began, 0);
}

static void read_options(int argc, char **argv) {
    static const struct option long_options[] = {
        {"port", required_argument, NULL, 'p'},        {"name", required_argument, NULL, 'n'},
        {"kind", required_argument, NULL, 'k'},        {"connections", required_argument, NULL, 'c'},
        {"up", required_argument, NULL, 'u'},          {"down", required_argument, NULL, 'd'},
        {"warm-up", required_argument, NULL, 'w'},     {"duration", required_argument, NULL, 't'},
        {"watch", required_argument, NULL, 'W'},       {"again", no_argument, NULL, 'a'},
        {"idle", no_argument, NULL, 'i'},              {NULL, 0, NULL, 0},
    };
    for (int letter; (letter = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
        switch (letter) {
        case 'p': options.port = atoi(optarg); break;
        case 'n': options.name = optarg; break;
        case 'k': options.tls = strcmp(optarg, "tls") == 0; break;
        case 'c': options.connections = atoi(optarg); break;
        case 'u': options.request.up = strtoull(optarg, NULL, 10); break;
        case 'd': options.request.down = strtoull(optarg, NULL, 10); break;
        case 'w': options.warm_up_ns = strtoull(optarg, NULL, 10) * 1000000; break;
        case 't': options.duration_ns = strtoull(optarg, NULL, 10) * 1000000; break;
        case 'W': options.watched = atoi(optarg); break;
        case 'a': options.again = true; break;
        case 'i': options.idle = true; break;
        default: exit(2);
        }
    }
    if (options.name == NULL || strlen(options.name) >= NAME_ROOM || options.port == 0 || options.request.down == 0) {
        fprintf(stderr, "load: --port, --name (up to 255 characters) and --down of at least 1 are needed\n");
        exit(2);
    }
}

int main(int argc, char **argv) {
    read_options(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    tls_context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_mode(tls_context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
    prepare(&first_message, !options.tls);
    prepare(&next_message, false);
    struct connection *connections = calloc((size_t)options.connections, sizeof *connections);
    if (connections == NULL) fail("calloc");
    if (options.idle) stay_idle(connections);
    else measure(connections);
    return errors < ERROR_LIMIT ? 0 : 1;
}
