import { describe, expect, test } from 'bun:test';
import { ClientHello } from './client-hello.ts';
import {
  EXAMPLE_HOST,
  exampleHello,
  extension,
  handshake,
  hello,
  helloMessage,
  inRecords,
  record,
  serverNameExtension,
  type HelloParts,
} from './hello-builder.ts';

function read(bytes: Buffer, reader = new ClientHello()) {
  return { outcome: reader.read(bytes, bytes.length), name: reader.serverName, reader };
}

function outcomeOf(parts: HelloParts) {
  return read(hello(parts)).outcome;
}

/** Returns the outcome of a hello whose server_name extension has this content. */
function withServerName(content: Uint8Array) {
  return outcomeOf({ extensions: [extension(0, content)] });
}

describe('a valid hello', () => {
  test('returns the name in lower case', () => {
    const { outcome, name } = read(hello({ serverName: 'Tenant-A.K8S.example.com' }));

    expect(outcome).toBe('hello');
    expect(name).toBe('tenant-a.k8s.example.com');
  });

  test('may have no name', () => {
    const { outcome, name } = read(hello({ versions: [0x0304] }));

    expect(outcome).toBe('hello');
    expect(name).toBeUndefined();
  });

  test('may have no extensions', () => {
    const { outcome, reader } = read(hello({ afterCompression: Buffer.alloc(0) }));

    expect(outcome).toBe('hello');
    expect(reader.serverName).toBeUndefined();
    expect(reader.alpnProtocols()).toEqual([]);
    expect(reader.supportedVersions()).toEqual([0x0303]);
  });

  test('may arrive one byte at a time', () => {
    const bytes = exampleHello();
    const reader = new ClientHello();
    // Simulates leftover bytes of the previous connection.
    const buffer = Buffer.alloc(bytes.length, 0xff);

    for (let length = 0; length < bytes.length; length++) {
      expect(reader.read(buffer, length)).toBe('incomplete');
      buffer[length] = bytes[length]!;
    }

    expect(reader.read(buffer, bytes.length)).toBe('hello');
    expect(reader.serverName).toBe(EXAMPLE_HOST);
  });

  test.each([[[1]], [[2, 3]], [[4, 1000]], [[3, 1, 1]], [[700]]])(
    'may arrive in records of %p bytes',
    (sizes) => {
      const bytes = inRecords(exampleHello().subarray(5), sizes);
      const { outcome, name, reader } = read(bytes);

      expect(outcome).toBe('hello');
      expect(name).toBe(EXAMPLE_HOST);
      expect(reader.alpnProtocols()).toEqual(['h2', 'http/1.1']);
      expect(reader.end).toBe(bytes.length);
    },
  );

  test('may follow a PROXY header and be followed by early data', () => {
    const early = record(Buffer.alloc(40), 23, 0x0303);
    const bytes = Buffer.concat([Buffer.alloc(28), exampleHello(), early]);
    const reader = new ClientHello();

    expect(reader.read(bytes, bytes.length, 28)).toBe('hello');
    expect(reader.serverName).toBe(EXAMPLE_HOST);
    expect(reader.end).toBe(bytes.length - early.length);
  });

  test('does not affect the next read', () => {
    const reader = new ClientHello();
    read(exampleHello(), reader);

    expect(read(hello(), reader).name).toBeUndefined();
    read(exampleHello(), reader);
    expect(read(exampleHello().subarray(0, 99), reader)).toMatchObject({ outcome: 'incomplete' });
    expect(reader.serverName).toBeUndefined();
  });
});

describe('extensions that routing does not need', () => {
  test('are parsed on demand', () => {
    const { reader } = read(exampleHello());

    expect(reader.alpnProtocols()).toEqual(['h2', 'http/1.1']);
    expect(reader.supportedVersions()).toEqual([0x0304, 0x0303]);
  });

  test.each(['', '00', '0001', '000100', '0003026832ff', '000302683200', '0000', '000401613162'])(
    'do not prevent routing: malformed ALPN extension (%s)',
    (hex) => {
      const broken = extension(16, Buffer.from(hex, 'hex'));
      const { outcome, reader } = read(hello({ serverName: 'a.example', extensions: [broken] }));

      expect(outcome).toBe('hello');
      expect(reader.alpnProtocols()).toBeUndefined();
    },
  );

  test.each(['', '00', '02', '0203', '03030403', '02030403'])(
    'do not prevent routing: malformed list of versions (%s)',
    (hex) => {
      const broken = extension(43, Buffer.from(hex, 'hex'));
      const { outcome, reader } = read(hello({ serverName: 'a.example', extensions: [broken] }));

      expect(outcome).toBe('hello');
      expect(reader.supportedVersions()).toBeUndefined();
    },
  );
});

describe('inconsistent lengths', () => {
  test.each([
    ['a session id of 33 bytes', { sessionId: Buffer.alloc(33) }, 'session_id_too_long'],
    ['no cipher suite', { cipherSuites: Buffer.alloc(0) }, 'cipher_suites_malformed'],
    ['half a cipher suite', { cipherSuites: Buffer.alloc(3) }, 'cipher_suites_malformed'],
    ['no method', { compressionMethods: Buffer.alloc(0) }, 'compression_methods_malformed'],
    ['half a length', { afterCompression: Buffer.from([0]) }, 'extensions_overrun_hello'],
    ['too few bytes', { afterCompression: Buffer.from([0, 1]) }, 'extensions_overrun_hello'],
    ['too many bytes', { afterCompression: Buffer.from([0, 0, 0]) }, 'hello_trailing_bytes'],
    ['a cut type', { extensions: [Buffer.from([0, 1, 0])] }, 'extension_overruns_list'],
    ['a cut extension', { extensions: [Buffer.from([0, 1, 0, 1])] }, 'extension_overruns_list'],
  ] as const)('are refused: %s', (_, parts, code) => {
    expect(outcomeOf(parts)).toBe(code);
  });

  test('are refused at every truncation before the extensions', () => {
    const body = helloMessage({ sessionId: Buffer.alloc(0) }).subarray(4);
    const endOf = (bytes: number) => read(record(handshake(1, body.subarray(0, bytes)))).outcome;
    // Version and random 34, session id 1, suites 2 + 4, methods 1 + 1; then the extensions, if any.
    const compressionEnd = 43;

    for (let end = 0; end < compressionEnd; end++) expect(endOf(end)).toBe('hello_truncated');
    expect(endOf(compressionEnd)).toBe('hello');
    expect(endOf(compressionEnd + 1)).toBe('extensions_overrun_hello');
  });
});

describe('the server_name extension', () => {
  test.each([
    ['', 'server_name_list_overruns_extension'],
    ['00', 'server_name_list_overruns_extension'],
    ['0001', 'server_name_list_overruns_extension'],
    ['0004 00 0001 61 ff', 'server_name_extension_trailing_bytes'],
    ['0000', 'server_name_list_empty'],
    ['0001 00', 'server_name_overruns_list'],
    ['0002 00 00', 'server_name_overruns_list'],
    ['0003 00 0001', 'server_name_overruns_list'],
    ['0003 00 0000', 'server_name_empty'],
    ['0004 01 0001 61', 'server_name_type_unknown'],
    ['0008 00 0001 61 00 0001 62', 'server_name_list_not_single'],
    ['0005 00 0001 61 ff', 'server_name_list_not_single'],
  ] as const)('with content "%s" is refused as %s', (hex, code) => {
    expect(withServerName(Buffer.from(hex.replaceAll(' ', ''), 'hex'))).toBe(code);
  });

  test('may occur only once', () => {
    const extensions = [serverNameExtension('a.example')];

    expect(outcomeOf({ serverName: 'a.example', extensions })).toBe('server_name_duplicate');
  });

  test('returns no name if the name cannot be routed', () => {
    const { outcome, name } = read(hello({ serverName: 'a.example.' }));

    expect(outcome).toBe('server_name_trailing_dot');
    expect(name).toBeUndefined();
  });
});
