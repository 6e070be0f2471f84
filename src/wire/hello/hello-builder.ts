/**
 * For tests only: builds valid and invalid ClientHellos.
 */

/** The parts of a hello. By default each is one that a server accepts. */
export interface HelloParts {
  /** The server_name extension, as text or as bytes that are not text. Default: none. */
  readonly serverName?: string | Uint8Array;
  /** Default: none. */
  readonly alpn?: readonly string[];
  /** The supported_versions extension. Default: none, which is a hello of TLS 1.2. */
  readonly versions?: readonly number[];
  /** Further extensions, after those above. */
  readonly extensions?: readonly Uint8Array[];
  /** Replaces all extensions: the bytes after the compression methods, including their length. */
  readonly afterCompression?: Uint8Array;
  /** Default: 32 bytes. */
  readonly sessionId?: Uint8Array;
  /** Default: two suites. */
  readonly cipherSuites?: Uint8Array;
  /** Default: `null` alone. */
  readonly compressionMethods?: Uint8Array;
}

/** The name in {@link exampleHello}. */
export const EXAMPLE_HOST = 'tenant-a.k8s.example.com';

/** Returns the handshake message, without records. */
export function helloMessage(parts: HelloParts = {}): Buffer {
  const extensions: Uint8Array[] = [];
  if (parts.serverName !== undefined) extensions.push(serverNameExtension(parts.serverName));
  if (parts.alpn !== undefined) extensions.push(alpnExtension(parts.alpn));
  if (parts.versions !== undefined) extensions.push(versionsExtension(parts.versions));
  extensions.push(...(parts.extensions ?? []));
  return handshake(
    1,
    Buffer.concat([
      Buffer.from([3, 3]),
      Buffer.alloc(32, 0xa5),
      vector(1, parts.sessionId ?? Buffer.alloc(32, 0x5a)),
      vector(2, parts.cipherSuites ?? Buffer.from([0x13, 0x01, 0x13, 0x02])),
      vector(1, parts.compressionMethods ?? Buffer.from([0])),
      parts.afterCompression ?? vector(2, Buffer.concat(extensions)),
    ]),
  );
}

/** Returns a hello in one record. */
export function hello(parts: HelloParts = {}): Buffer {
  return record(helloMessage(parts));
}

/** Returns a hello like that of kubectl: TLS 1.3 with a post-quantum key share, longer than a TCP segment. */
export function exampleHello(): Buffer {
  return hello({
    serverName: EXAMPLE_HOST,
    alpn: ['h2', 'http/1.1'],
    versions: [0x0304, 0x0303],
    extensions: [extension(0x0a0a, Buffer.alloc(0)), extension(51, Buffer.alloc(1263, 7))],
  });
}

/** Returns a handshake message of any type. */
export function handshake(type: number, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([type]), vector(3, body)]);
}

/** Returns a record. By default it is a handshake record of the version that clients begin with. */
export function record(content: Uint8Array, type = 22, version = 0x0301): Buffer {
  return Buffer.concat([Buffer.from([type, version >> 8, version & 0xff]), vector(2, content)]);
}

/** Returns a message split into records of these sizes, repeated in order. */
export function inRecords(message: Uint8Array, sizes: readonly number[]): Buffer {
  const records: Buffer[] = [];
  for (let at = 0; at < message.length;) {
    const size = sizes[records.length % sizes.length] ?? 1;
    records.push(record(message.subarray(at, at + size)));
    at += size;
  }
  return Buffer.concat(records);
}

/** Returns an extension of any type. */
export function extension(type: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([type >> 8, type & 0xff]), vector(2, content)]);
}

/** Returns the server_name extension with one host_name. */
export function serverNameExtension(name: string | Uint8Array): Buffer {
  return extension(0, vector(2, hostName(name)));
}

/** Returns one entry of a list of server names. */
export function hostName(name: string | Uint8Array): Buffer {
  const bytes = typeof name === 'string' ? Buffer.from(name, 'latin1') : name;
  return Buffer.concat([Buffer.from([0]), vector(2, bytes)]);
}

/** Returns bytes after their length, which takes `lengthBytes` bytes. */
export function vector(lengthBytes: number, content: Uint8Array): Buffer {
  const length = Buffer.alloc(lengthBytes);
  length.writeUIntBE(content.length, 0, lengthBytes);
  return Buffer.concat([length, content]);
}

function alpnExtension(protocols: readonly string[]): Buffer {
  const list = protocols.map((protocol) => vector(1, Buffer.from(protocol, 'latin1')));
  return extension(16, vector(2, Buffer.concat(list)));
}

function versionsExtension(versions: readonly number[]): Buffer {
  const list = versions.flatMap((version) => [version >> 8, version & 0xff]);
  return extension(43, vector(1, Buffer.from(list)));
}
