#include "hello.h"

#include <string.h>

/* Replaces the 32 random bytes. Announces that plain bytes follow instead of TLS. */
static const char MARK[] = "snicket-bench-plain-bytes-follow";

enum {
    HANDSHAKE_RECORD = 22,
    CLIENT_HELLO = 1,
    RECORD_HEADER = 5,
    HANDSHAKE_HEADER = 4,
    RANDOM_AT = RECORD_HEADER + HANDSHAKE_HEADER + 2,
    SESSION_AT = RANDOM_AT + 32,
    SERVER_NAME = 0,
    PADDING = 21,
    /* The size that OpenSSL and browsers pad to. kubectl with a post-quantum key share sends 1,500 bytes. */
    HELLO_BYTES = 517,
};

static unsigned char *put16(unsigned char *at, size_t value) {
    at[0] = (unsigned char)(value >> 8);
    at[1] = (unsigned char)value;
    return at + 2;
}

static size_t get16(const unsigned char *at) { return (size_t)at[0] << 8 | at[1]; }

size_t hello_write(unsigned char room[HELLO_ROOM], const char *server_name) {
    size_t name = strlen(server_name);
    memset(room, 0, HELLO_ROOM);
    put16(room + RECORD_HEADER + HANDSHAKE_HEADER, 0x0303);
    memcpy(room + RANDOM_AT, MARK, 32);

    unsigned char *at = room + SESSION_AT;
    *at++ = 32;
    at += 32;
    at = put16(at, 32);
    for (int suite = 0; suite < 16; suite++) at = put16(at, 0x1301 + (size_t)suite);
    *at++ = 1; /* one compression method: none */
    *at++ = 0;

    unsigned char *extensions = at;
    at = put16(at + 2, SERVER_NAME);
    at = put16(at, name + 5);
    at = put16(at, name + 3);
    *at++ = 0; /* host_name */
    at = put16(at, name);
    memcpy(at, server_name, name);
    at += name;
    size_t so_far = (size_t)(at - room) + 4;
    size_t padding = so_far < HELLO_BYTES ? HELLO_BYTES - so_far : 0;
    at = put16(put16(at, PADDING), padding) + padding;

    put16(extensions, (size_t)(at - extensions) - 2);
    size_t length = (size_t)(at - room);
    room[0] = HANDSHAKE_RECORD;
    put16(room + 1, 0x0301);
    put16(room + 3, length - RECORD_HEADER);
    room[RECORD_HEADER] = CLIENT_HELLO;
    put16(room + RECORD_HEADER + 2, length - RECORD_HEADER - HANDSHAKE_HEADER);
    return length;
}

bool hello_is_plain(const unsigned char *bytes) { return memcmp(bytes + RANDOM_AT, MARK, 32) == 0; }

size_t record_length(const unsigned char *bytes) { return RECORD_HEADER + get16(bytes + 3); }

int hello_server_name(const unsigned char *bytes, size_t length, char name[NAME_ROOM]) {
    if (length < RECORD_HEADER) return 0;
    if (bytes[0] != HANDSHAKE_RECORD) return -1;
    size_t end = record_length(bytes);
    if (length < end) return 0;
    size_t at = SESSION_AT;
    if (at + 1 > end) return -1;
    at += 1 + (size_t)bytes[at];
    if (at + 2 > end) return -1;
    at += 2 + get16(bytes + at);
    if (at + 1 > end) return -1;
    at += 1 + (size_t)bytes[at] + 2;
    while (at + 4 <= end) {
        size_t type = get16(bytes + at), size = get16(bytes + at + 2);
        at += 4;
        if (at + size > end) return -1;
        if (type == SERVER_NAME) {
            size_t name_length = size < 5 ? NAME_ROOM : get16(bytes + at + 3);
            if (name_length >= NAME_ROOM || name_length + 5 > size) return -1;
            memcpy(name, bytes + at + 5, name_length);
            name[name_length] = '\0';
            return 1;
        }
        at += size;
    }
    return -1;
}
