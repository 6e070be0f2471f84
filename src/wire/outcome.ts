/**
 * All reasons to refuse bytes on the wire.
 *
 * Codes never change: they are metric labels, log fields and, on objects, reasons of conditions. They are in
 * snake_case, like the alerts of RFC 8446, because Kubernetes allows `_` in a reason, but not `-`.
 */
import type { AlertName } from './alert.ts';

interface HelloRefusalEntry {
  readonly meaning: string;
  /** The alert for the client. Absent if the client would not understand one. */
  readonly alert?: AlertName;
}

/** Reasons to refuse a ClientHello: the meaning, and the alert that RFC 8446 section 6.2 assigns. */
export const HELLO_REFUSALS = {
  not_tls: { meaning: 'the first bytes are not a TLS record' },
  sslv2_hello: {
    meaning: 'a hello in SSL 2.0 format, which RFC 8446 appendix D.5 forbids',
    alert: 'protocol_version',
  },
  record_empty: { meaning: 'a record without content', alert: 'unexpected_message' },
  record_too_long: { meaning: 'a record of more than 2^14 bytes', alert: 'record_overflow' },
  record_type_changed: {
    meaning: 'a record of another type before the hello was complete',
    alert: 'unexpected_message',
  },
  record_version_invalid: {
    meaning: 'a later record whose version is not 3.x',
    alert: 'protocol_version',
  },
  record_overruns_hello: {
    meaning: 'a record that extends beyond the hello (RFC 8446 section 5.1)',
    alert: 'unexpected_message',
  },
  not_client_hello: {
    meaning: 'a handshake that starts with another message',
    alert: 'unexpected_message',
  },
  hello_too_long: { meaning: 'a hello longer than the limit', alert: 'illegal_parameter' },
  hello_truncated: { meaning: 'a field that extends beyond the hello', alert: 'decode_error' },
  session_id_too_long: { meaning: 'a session id of more than 32 bytes', alert: 'decode_error' },
  cipher_suites_malformed: {
    meaning: 'no cipher suite, or an incomplete one',
    alert: 'decode_error',
  },
  compression_methods_malformed: { meaning: 'no compression method', alert: 'decode_error' },
  hello_trailing_bytes: { meaning: 'bytes after the extensions', alert: 'decode_error' },
  extensions_overrun_hello: {
    meaning: 'extensions that extend beyond the hello',
    alert: 'decode_error',
  },
  extension_overruns_list: {
    meaning: 'an extension that extends beyond the list of extensions',
    alert: 'decode_error',
  },
  server_name_duplicate: {
    meaning: 'two server_name extensions (RFC 8446 section 4.2)',
    alert: 'illegal_parameter',
  },
  server_name_list_overruns_extension: {
    meaning: 'a list of names that extends beyond its extension',
    alert: 'decode_error',
  },
  server_name_extension_trailing_bytes: {
    meaning: 'bytes after the list of names',
    alert: 'decode_error',
  },
  server_name_list_empty: { meaning: 'a list without a name', alert: 'decode_error' },
  server_name_list_not_single: {
    meaning: 'more than one name, or bytes after it',
    alert: 'decode_error',
  },
  server_name_type_unknown: {
    meaning: 'a name that is not a host_name',
    alert: 'unrecognized_name',
  },
  server_name_overruns_list: {
    meaning: 'a name that extends beyond its list',
    alert: 'decode_error',
  },
  server_name_empty: { meaning: 'an empty name', alert: 'decode_error' },
  server_name_too_long: { meaning: 'a name of more than 255 bytes', alert: 'unrecognized_name' },
  server_name_has_nul: { meaning: 'a name with a NUL byte', alert: 'unrecognized_name' },
  server_name_not_ascii: {
    meaning: 'a name that is not ASCII; it must be in A-label form',
    alert: 'unrecognized_name',
  },
  server_name_ip_literal: {
    meaning: 'an IP address instead of a name (RFC 6066 section 3 forbids it)',
    alert: 'unrecognized_name',
  },
  server_name_trailing_dot: {
    meaning: 'a name with a trailing dot (RFC 6066 section 3 forbids it)',
    alert: 'unrecognized_name',
  },
  server_name_not_dns: {
    meaning: 'a name that is not a valid DNS name',
    alert: 'unrecognized_name',
  },
} as const satisfies Record<string, HelloRefusalEntry>;

/** Reasons to refuse a PROXY protocol header. */
export const PROXY_REFUSALS = {
  not_proxy_header: 'the first bytes are not the signature of a PROXY v2 header',
  proxy_v1_header: 'a PROXY v1 header; configure the sender for version 2',
  proxy_version_unknown: 'a version other than 2',
  proxy_command_unknown: 'a command other than LOCAL and PROXY',
  proxy_family_unknown: 'an address family or transport that the protocol does not define',
  proxy_unix_address: 'Unix socket addresses, which identify no client',
  proxy_not_stream: 'a datagram transport on a stream connection',
  proxy_header_too_long: 'a header longer than the limit',
  proxy_address_truncated: 'a header too short for its addresses',
  proxy_tlv_overruns_header: 'a TLV that extends beyond the header',
  proxy_authority_duplicate: 'more than one authority',
  proxy_checksum_duplicate: 'more than one checksum',
  proxy_checksum_malformed: 'a checksum that is not four bytes long',
  proxy_checksum_wrong: 'a checksum that does not match the header',
  proxy_tenant_duplicate: 'more than one tenant stamp',
  proxy_headers_too_many: 'more consecutive headers than allowed',
} as const satisfies Record<string, string>;

/** Reasons to refuse a signed tenant header. */
export const TENANT_REFUSALS = {
  tenant_unsigned: 'a header without a tenant stamp, an authority or addresses',
  tenant_version_unknown: 'a stamp of an unknown version',
  tenant_stamp_malformed: 'a stamp of the wrong length',
  tenant_key_unknown: 'a key that does not belong to the tenant',
  tenant_forged: 'a signature that does not match the header',
  tenant_expired: 'a header signed too long ago; check the clock of the worker',
  tenant_not_yet_valid: 'a header signed in the future; check the clock of the worker',
  tenant_replayed: 'a header that was already used',
} as const satisfies Record<string, string>;

/** A code of {@link HELLO_REFUSALS}. */
export type HelloRefusal = keyof typeof HELLO_REFUSALS;
/** A code of {@link PROXY_REFUSALS}. */
export type ProxyRefusal = keyof typeof PROXY_REFUSALS;
/** A code of {@link TENANT_REFUSALS}. */
type TenantRefusal = keyof typeof TENANT_REFUSALS;

/** The outcome of the bytes so far: a complete hello, the beginning of one, or a refusal. */
export type HelloOutcome = 'hello' | 'incomplete' | HelloRefusal;
/** The outcome of the bytes so far: a complete PROXY header, the beginning of one, or a refusal. */
export type ProxyOutcome = 'header' | 'incomplete' | ProxyRefusal;
/** The outcome of verifying a tenant header. */
export type TenantOutcome = 'valid' | TenantRefusal;

/** Returns the alert to send for a refused hello, or undefined if the peer would not understand one. */
export function alertFor(refusal: HelloRefusal): AlertName | undefined {
  const entry: HelloRefusalEntry = HELLO_REFUSALS[refusal];
  return entry.alert;
}
