/**
 * TLS alerts that a router can send. A router has no key, so its alerts are plaintext, before the handshake, and fatal.
 */
import { uint16, uint8 } from './bytes.ts';

/** The codes of alert descriptions, by their names in RFC 8446 section 6. */
export const ALERTS = {
  unexpected_message: 10,
  record_overflow: 22,
  handshake_failure: 40,
  illegal_parameter: 47,
  decode_error: 50,
  protocol_version: 70,
  internal_error: 80,
  unrecognized_name: 112,
} as const;

/** The name of an alert. */
export type AlertName = keyof typeof ALERTS;

/** An alert that was read. `name` is absent if it is not one of {@link ALERTS}. */
interface Alert {
  readonly level: 'warning' | 'fatal';
  readonly description: number;
  readonly name: AlertName | undefined;
}

const ALERT_TYPE = 21;
const WARNING = 1;
const FATAL = 2;
const RECORD_BYTES = 7;

/**
 * Returns a record with one fatal alert.
 *
 * Its version is 0x0303, TLS 1.2. RFC 8446 section 5.1 requires that of every record except a first ClientHello, which
 * may have 0x0301 for old servers that stop at an unknown version. Clients accept both versions in alerts before the
 * version is negotiated: OpenSSL 3.0, BoringSSL (Bun 1.4) and Go 1.26 report the same error.
 */
function alertRecord(description: number): Buffer {
  return Buffer.from([ALERT_TYPE, 3, 3, 0, 2, FATAL, description]);
}

/** The record to send for each alert. Connections share these buffers, so nothing may write to them. */
export const ALERT_RECORDS: Readonly<Record<AlertName, Buffer>> = {
  unexpected_message: alertRecord(ALERTS.unexpected_message),
  record_overflow: alertRecord(ALERTS.record_overflow),
  handshake_failure: alertRecord(ALERTS.handshake_failure),
  illegal_parameter: alertRecord(ALERTS.illegal_parameter),
  decode_error: alertRecord(ALERTS.decode_error),
  protocol_version: alertRecord(ALERTS.protocol_version),
  internal_error: alertRecord(ALERTS.internal_error),
  unrecognized_name: alertRecord(ALERTS.unrecognized_name),
};

/** Parses an alert. Returns undefined unless the bytes are exactly one alert in plaintext. */
export function readAlert(bytes: Uint8Array): Alert | undefined {
  const level = uint8(bytes, 5);
  const description = uint8(bytes, 6);
  if (bytes.length !== RECORD_BYTES || uint8(bytes, 0) !== ALERT_TYPE) return undefined;
  if (uint8(bytes, 1) !== 3 || uint16(bytes, 3) !== 2) return undefined;
  if (level !== WARNING && level !== FATAL) return undefined;
  return {
    level: level === FATAL ? 'fatal' : 'warning',
    description,
    name: alertName(description),
  };
}

function alertName(description: number): AlertName | undefined {
  for (const [name, value] of Object.entries(ALERTS)) {
    if (value === description) return name as AlertName;
  }
  return undefined;
}
