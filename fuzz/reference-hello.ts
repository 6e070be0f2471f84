/**
 * A slow reference parser for ClientHellos. It follows the grammar of RFC 8446 sections 4.1.2 and 5.1 and RFC 6066
 * section 3 line by line, copies everything and throws. The fast parser in src/wire must agree with it on any input.
 * The two share only the codes.
 */
import { isIPv6 } from 'node:net';
import type { HelloRefusal } from '../src/wire/outcome.ts';
import { Cursor, Incomplete, Refused } from './cursor.ts';

/** The result of the reference parser. */
export type ReferenceHello =
  | { readonly outcome: 'incomplete' | HelloRefusal }
  | {
      readonly outcome: 'hello';
      readonly serverName: string | undefined;
      readonly alpn: readonly string[] | undefined;
      readonly versions: readonly number[] | undefined;
    };

interface Extension {
  readonly type: number;
  readonly content: Cursor<HelloRefusal>;
}

/** Parses the bytes that have arrived so far. */
export function referenceHello(arrived: Uint8Array, limitBytes: number): ReferenceHello {
  try {
    return readBody(readMessage(arrived, limitBytes));
  } catch (error) {
    if (error instanceof Incomplete) return { outcome: 'incomplete' };
    if (error instanceof Refused) return { outcome: error.code as HelloRefusal };
    throw error;
  }
}

/** Returns the body of the first handshake message. It reads records byte by byte, as they arrive on a socket. */
function readMessage(arrived: Uint8Array, limitBytes: number): number[] {
  const wire = new Cursor<HelloRefusal>(arrived, () => new Incomplete());
  const message: number[] = [];
  let total = Number.POSITIVE_INFINITY;
  while (message.length < total) {
    const isFirst = message.length === 0;
    if (wire.at + 5 + 1 > limitBytes) throw new Refused('hello_too_long');

    const [type = 0] = wire.take(1);
    if (type !== 22 && !isFirst) throw new Refused('record_type_changed');
    if (type >= 0x80) refuseSsl2(wire);
    if (type !== 22) throw new Refused('not_tls');
    const [major, , high = 0, low = 0] = wire.take(4);
    if (major !== 3) throw new Refused(isFirst ? 'not_tls' : 'record_version_invalid');
    const size = high * 256 + low;
    if (size === 0) throw new Refused('record_empty');
    if (size > 16384) throw new Refused('record_too_long');
    if (wire.at + size > limitBytes) throw new Refused('hello_too_long');

    let remaining = size;
    while (message.length < 4 && remaining > 0) {
      message.push(wire.number(1));
      remaining--;
      const [type, a = 0, b = 0, c = 0] = message;
      if (type !== 1) throw new Refused('not_client_hello');
      if (message.length === 4) total = 4 + a * 65536 + b * 256 + c;
    }
    if (total < Number.POSITIVE_INFINITY && 5 + total > limitBytes)
      throw new Refused('hello_too_long');
    if (message.length + remaining > total) throw new Refused('record_overruns_hello');
    message.push(...wire.take(remaining));
  }
  return message.slice(4);
}

function refuseSsl2(wire: Cursor<HelloRefusal>): never {
  const [, messageType, major, minor] = wire.take(4);
  const isVersion2 = major === 0 && minor === 2;
  throw new Refused(messageType === 1 && (isVersion2 || major === 3) ? 'sslv2_hello' : 'not_tls');
}

function readBody(body: readonly number[]): ReferenceHello {
  const hello = new Cursor<HelloRefusal>(body, () => new Refused('hello_truncated'));
  const legacyVersion = hello.number(2);
  hello.take(32);
  const sessionIdLength = hello.number(1);
  if (sessionIdLength > 32) throw new Refused('session_id_too_long');
  hello.take(sessionIdLength);
  const cipherSuitesLength = hello.number(2);
  if (cipherSuitesLength < 2 || cipherSuitesLength % 2 === 1) {
    throw new Refused('cipher_suites_malformed');
  }
  hello.take(cipherSuitesLength);
  const compressionMethodsLength = hello.number(1);
  if (compressionMethodsLength < 1) throw new Refused('compression_methods_malformed');
  hello.take(compressionMethodsLength);

  const extensions = hello.remaining === 0 ? [] : readExtensions(hello);
  const name = extensions.find(({ type }) => type === 0);
  return {
    outcome: 'hello',
    serverName: name === undefined ? undefined : readServerName(name.content),
    alpn: orMalformed(() => readAlpn(extensions)),
    versions: orMalformed(() => readVersions(extensions, legacyVersion)),
  };
}

function readExtensions(hello: Cursor<HelloRefusal>): Extension[] {
  const block = hello.vector(2, 'extensions_overrun_hello');
  if (hello.remaining > 0) throw new Refused('hello_trailing_bytes');
  const list = new Cursor<HelloRefusal>(block, () => new Refused('extension_overruns_list'));
  const extensions: Extension[] = [];
  let names = 0;
  while (list.remaining > 0) {
    const type = list.number(2);
    const content = list.vector(2, 'extension_overruns_list');
    if (type === 0 && ++names > 1) throw new Refused('server_name_duplicate');
    extensions.push({
      type,
      content: new Cursor<HelloRefusal>(
        content,
        () => new Refused('server_name_list_overruns_extension'),
      ),
    });
  }
  return extensions;
}

function readServerName(content: Cursor<HelloRefusal>): string {
  const entries = content.vector(2, 'server_name_list_overruns_extension');
  if (content.remaining > 0) throw new Refused('server_name_extension_trailing_bytes');
  if (entries.length === 0) throw new Refused('server_name_list_empty');
  const list = new Cursor<HelloRefusal>(entries, () => new Refused('server_name_overruns_list'));
  if (list.number(1) !== 0) throw new Refused('server_name_type_unknown');
  const bytes = list.vector(2, 'server_name_overruns_list');
  if (list.remaining > 0) throw new Refused('server_name_list_not_single');
  return checkName(bytes);
}

function checkName(bytes: readonly number[]): string {
  const name = String.fromCharCode(...bytes);
  if (name === '') throw new Refused('server_name_empty');
  if (name.length > 255) throw new Refused('server_name_too_long');
  if (name.includes('\0')) throw new Refused('server_name_has_nul');
  if (bytes.some((byte) => byte >= 0x80)) throw new Refused('server_name_not_ascii');
  const bare = name.replace(/^\[(.*)\]$/, '$1');
  if (isIPv6(bare) && !bare.includes('%')) throw new Refused('server_name_ip_literal');
  if (/^[0-9a-f:.[\]]*[:[\]][0-9a-f:.[\]]*$/i.test(name))
    throw new Refused('server_name_ip_literal');
  if (!/^[a-z0-9._-]+$/i.test(name)) throw new Refused('server_name_not_dns');
  if (name.endsWith('.')) throw new Refused('server_name_trailing_dot');
  if (/^[0-9.]+$/.test(name)) throw new Refused('server_name_ip_literal');
  if (!name.split('.').every((label) => /^.{1,63}$/.test(label))) {
    throw new Refused('server_name_not_dns');
  }
  return name.toLowerCase();
}

function readAlpn(extensions: readonly Extension[]): string[] {
  const found = extensions.find(({ type }) => type === 16);
  if (found === undefined) return [];
  const protocols: string[] = [];
  const content = new Cursor<HelloRefusal>(found.content.rest(), () => new Malformed());
  const list = new Cursor<HelloRefusal>(content.take(content.number(2)), () => new Malformed());
  if (content.remaining > 0 || list.remaining === 0) throw new Malformed();
  while (list.remaining > 0) {
    const protocol = list.take(list.number(1));
    if (protocol.length === 0) throw new Malformed();
    protocols.push(String.fromCharCode(...protocol));
  }
  return protocols;
}

function readVersions(extensions: readonly Extension[], legacyVersion: number): number[] {
  const found = extensions.find(({ type }) => type === 43);
  if (found === undefined) return [legacyVersion];
  const content = new Cursor<HelloRefusal>(found.content.rest(), () => new Malformed());
  const list = new Cursor<HelloRefusal>(content.take(content.number(1)), () => new Malformed());
  if (content.remaining > 0 || list.remaining === 0) throw new Malformed();
  const versions: number[] = [];
  while (list.remaining > 0) versions.push(list.number(2));
  return versions;
}

/** The error for a malformed extension that routing does not need. It does not refuse the hello. */
class Malformed extends Error {}

function orMalformed<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}
