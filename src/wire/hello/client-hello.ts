/** Reads the server name of a TLS ClientHello (RFC 8446 section 4.1.2). */
import { uint16, uint8 } from '../bytes.ts';
import { HelloRecords } from './hello-records.ts';
import type { HelloOutcome, HelloRefusal } from '../outcome.ts';
import { serverNameFault, serverNameText } from './server-name.ts';

/** The default limit of a hello on the wire. kubectl sends 1,529 bytes with its post-quantum key share. */
const HELLO_LIMIT_BYTES = 16 * 1024;

interface ClientHelloOptions {
  /**
   * Maximum length of a hello on the wire, including record headers. A full buffer of this size always leads to a
   * decision. Default {@link HELLO_LIMIT_BYTES}.
   */
  readonly limitBytes?: number;
}

const VERSION_AND_RANDOM_BYTES = 2 + 32;
const MAX_SESSION_ID_BYTES = 32;
const EXTENSION_HEADER_BYTES = 4;
const SERVER_NAME = 0;
const ALPN = 16;
const SUPPORTED_VERSIONS = 43;
const HOST_NAME = 0;
const NOT_FOUND = -1;

/**
 * A reader for one thread, reused for every hello. Its results are valid until the next read, or until the bytes
 * change. A hello in one record allocates only its name.
 *
 * @example
 * const hello = new ClientHello();
 * const outcome = hello.read(bytes, length);
 * if (outcome === 'hello') route(hello.serverName);
 * else if (outcome !== 'incomplete') refuse(outcome);
 */
export class ClientHello {
  /** After `hello`: the requested name in lower case. Absent if the client sent none. */
  serverName: string | undefined;

  readonly #records: HelloRecords;
  #extensions = 0;
  #serverName = NOT_FOUND;

  constructor(options: ClientHelloOptions = {}) {
    this.#records = new HelloRecords(options.limitBytes ?? HELLO_LIMIT_BYTES);
  }

  /** After `hello`: the offset in the buffer after its last record. */
  get end(): number {
    return this.#records.recordsEnd;
  }

  /**
   * Reads the bytes up to `end` that have arrived so far. The reader is stateless, so the caller passes all bytes again
   * when more have arrived.
   */
  read(bytes: Buffer, end: number, start = 0): HelloOutcome {
    this.serverName = undefined;
    const found = this.#records.find(bytes, start, end);
    if (found !== 'message') return found;
    return this.#structureFault() ?? this.#nameFault() ?? 'hello';
  }

  /**
   * Returns the protocols of the ALPN extension (RFC 7301) in the client's order. The list is empty without the
   * extension, and undefined if the extension is malformed. Parsed on demand, because routing does not need it.
   */
  alpnProtocols(): string[] | undefined {
    const { bytes } = this.#records;
    const extension = this.#find(ALPN);
    if (extension === NOT_FOUND) return [];
    const end = extension + extensionBytes(bytes, extension);
    let at = extension + EXTENSION_HEADER_BYTES;
    if (at + 2 > end || at + 2 + uint16(bytes, at) !== end) return undefined;
    const protocols: string[] = [];
    for (at += 2; at < end;) {
      const next = at + 1 + uint8(bytes, at);
      if (next === at + 1 || next > end) return undefined;
      protocols.push(bytes.toString('latin1', at + 1, next));
      at = next;
    }
    return protocols.length === 0 ? undefined : protocols;
  }

  /**
   * Returns the TLS versions of the client in its order, such as 0x0304 for TLS 1.3. Without the extension, that is the
   * version of the hello (RFC 8446 section 4.2.1). Undefined if the extension is malformed. Parsed on demand.
   */
  supportedVersions(): number[] | undefined {
    const { bytes, start } = this.#records;
    const extension = this.#find(SUPPORTED_VERSIONS);
    if (extension === NOT_FOUND) return [uint16(bytes, start)];
    const end = extension + extensionBytes(bytes, extension);
    const list = extension + EXTENSION_HEADER_BYTES;
    const listBytes = end - list - 1;
    if (listBytes < 2 || listBytes % 2 !== 0 || uint8(bytes, list) !== listBytes) return undefined;
    const versions: number[] = [];
    for (let at = list + 1; at < end; at += 2) versions.push(uint16(bytes, at));
    return versions;
  }

  /** Walks the whole hello once, from length to length, and records the offsets of the extensions and of the name. */
  #structureFault(): HelloRefusal | undefined {
    const { bytes, start, end } = this.#records;
    this.#serverName = NOT_FOUND;
    this.#extensions = end;

    const sessionId = start + VERSION_AND_RANDOM_BYTES;
    if (sessionId + 1 > end) return 'hello_truncated';
    const sessionIdBytes = uint8(bytes, sessionId);
    if (sessionIdBytes > MAX_SESSION_ID_BYTES) return 'session_id_too_long';

    const cipherSuites = sessionId + 1 + sessionIdBytes;
    if (cipherSuites + 2 > end) return 'hello_truncated';
    const cipherSuitesBytes = uint16(bytes, cipherSuites);
    if (cipherSuitesBytes === 0 || cipherSuitesBytes % 2 !== 0) return 'cipher_suites_malformed';

    const compression = cipherSuites + 2 + cipherSuitesBytes;
    if (compression + 1 > end) return 'hello_truncated';
    const compressionBytes = uint8(bytes, compression);
    if (compressionBytes === 0) return 'compression_methods_malformed';

    const list = compression + 1 + compressionBytes;
    if (list > end) return 'hello_truncated';
    if (list === end) return undefined; // no extensions: allowed before TLS 1.3
    if (list + 2 > end) return 'extensions_overrun_hello';
    const listEnd = list + 2 + uint16(bytes, list);
    if (listEnd > end) return 'extensions_overrun_hello';
    if (listEnd < end) return 'hello_trailing_bytes';
    this.#extensions = list + 2;
    return this.#extensionsFault();
  }

  #extensionsFault(): HelloRefusal | undefined {
    const { bytes, end } = this.#records;
    for (let at = this.#extensions; at < end;) {
      const next = at + extensionBytes(bytes, at);
      if (at + EXTENSION_HEADER_BYTES > end || next > end) return 'extension_overruns_list';
      if (uint16(bytes, at) === SERVER_NAME) {
        if (this.#serverName !== NOT_FOUND) return 'server_name_duplicate';
        this.#serverName = at;
      }
      at = next;
    }
    return undefined;
  }

  /**
   * Reads the single host_name. RFC 6066 requires skipping unknown name types, but none exist, and OpenSSL and
   * BoringSSL refuse them. Refusing them here gives a clearer error.
   */
  #nameFault(): HelloRefusal | undefined {
    if (this.#serverName === NOT_FOUND) return undefined;
    const { bytes } = this.#records;
    const extensionEnd = this.#serverName + extensionBytes(bytes, this.#serverName);
    const list = this.#serverName + EXTENSION_HEADER_BYTES;
    if (list + 2 > extensionEnd) return 'server_name_list_overruns_extension';
    const listEnd = list + 2 + uint16(bytes, list);
    if (listEnd > extensionEnd) return 'server_name_list_overruns_extension';
    if (listEnd < extensionEnd) return 'server_name_extension_trailing_bytes';

    const entry = list + 2;
    if (entry === listEnd) return 'server_name_list_empty';
    if (uint8(bytes, entry) !== HOST_NAME) return 'server_name_type_unknown';
    const name = entry + 3;
    if (name > listEnd) return 'server_name_overruns_list';
    const nameEnd = name + uint16(bytes, entry + 1);
    if (nameEnd > listEnd) return 'server_name_overruns_list';
    if (nameEnd < listEnd) return 'server_name_list_not_single';

    const fault = serverNameFault(bytes, name, nameEnd);
    if (fault === undefined) this.serverName = serverNameText(bytes, name, nameEnd);
    return fault;
  }

  #find(type: number): number {
    const { bytes, end } = this.#records;
    for (let at = this.#extensions; at < end; at += extensionBytes(bytes, at)) {
      if (uint16(bytes, at) === type) return at;
    }
    return NOT_FOUND;
  }
}

/** Returns the length of an extension, including its header. */
function extensionBytes(bytes: Buffer, at: number): number {
  return EXTENSION_HEADER_BYTES + uint16(bytes, at + 2);
}
