/**
 * Inputs for the ClientHello parsers, from valid hellos to noise.
 */
import {
  exampleHello,
  extension,
  handshake,
  hello,
  helloMessage,
  hostName,
  inRecords,
  record,
  serverNameExtension,
  vector,
} from '../src/wire/hello/hello-builder.ts';
import { mutated } from './mutation.ts';
import type { Random } from './random.ts';

const NAMES = [
  'tenant-a.k8s.example.com',
  'Tenant-B.K8S.Example.COM',
  'a',
  'under_score.example',
  '10.0.0.1',
  '127.1',
  '10.0.0.1.example.com',
  'fe80::1',
  '[::1]',
  '::ffff:10.0.0.1',
  'cafe.example:443',
  'trailing.dot.',
  '.leading.dot',
  'two..dots',
  'nul\0.example',
  'b\xfccher.example',
  'sp ace.example',
  `${'l'.repeat(63)}.example`,
  `${'l'.repeat(64)}.example`,
  `${'d.'.repeat(127)}x`,
  `${'d.'.repeat(127)}xy`,
  '',
];

const LARGE_KEY_SHARE = extension(51, Buffer.alloc(1216, 1));

const MESSAGES: readonly Buffer[] = [
  helloMessage(),
  ...NAMES.map((serverName) => helloMessage({ serverName, alpn: ['h2'], versions: [0x0304] })),
  helloMessage({ serverName: 'pq.example', extensions: [LARGE_KEY_SHARE] }),
  helloMessage({ serverName: 'a.example', extensions: [serverNameExtension('b.example')] }),
  helloMessage({ extensions: [extension(0, Buffer.alloc(0))] }),
  helloMessage({ extensions: [extension(0, Buffer.from([0, 0]))] }),
  helloMessage({
    extensions: [extension(0, vector(2, Buffer.concat([hostName('a.b'), hostName('c.d')])))],
  }),
  helloMessage({
    extensions: [extension(16, Buffer.from([0, 1, 0])), extension(43, Buffer.of(2))],
  }),
  helloMessage({ afterCompression: Buffer.alloc(0) }),
  helloMessage({ afterCompression: Buffer.from([0]) }),
  helloMessage({ sessionId: Buffer.alloc(33) }),
  helloMessage({ cipherSuites: Buffer.alloc(3) }),
  helloMessage({ compressionMethods: Buffer.alloc(0) }),
  handshake(2, Buffer.alloc(40)),
];

const COMPLETE: readonly Buffer[] = [
  exampleHello(),
  record(helloMessage({ serverName: 'a.example' }), 22, 0x0303),
  record(Buffer.from([2, 40]), 21, 0x0303),
  Buffer.concat([record(helloMessage().subarray(0, 9)), record(Buffer.from([2, 40]), 21)]),
  Buffer.concat([record(helloMessage().subarray(0, 9)), record(Buffer.alloc(9), 22, 0x0201)]),
  Buffer.concat([hello(), hello()]),
  Buffer.from('160301400001', 'hex'),
  Buffer.from('160301400101', 'hex'),
  Buffer.from('802e010002001500000010', 'hex'),
  Buffer.from('802e010303001500000010', 'hex'),
  Buffer.from('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n'),
];

/** Returns an input. Mutating the message before it is split into records reaches deeper than mutating the records. */
export function helloInput(random: Random): Buffer {
  if (random.oneIn(40)) return noise(random);
  if (random.oneIn(8)) return mutated(random.pick(COMPLETE), random, COMPLETE);
  let message: Buffer = random.pick(MESSAGES);
  if (!random.oneIn(4)) {
    message = mutated(message, random, MESSAGES);
    if (!random.oneIn(3)) message = withCorrectLength(message);
  }
  const wire = inRecords(message, recordSizes(random, message.length));
  return random.oneIn(4) ? mutated(wire, random, COMPLETE) : wire;
}

function noise(random: Random): Buffer {
  const bytes = random.bytes(1 + random.below(120));
  if (random.oneIn(2)) return bytes;
  return random.oneIn(2) ? record(bytes) : record(handshake(1, bytes));
}

/** Corrects the length of a mutated message, so that the parser reaches its body. */
function withCorrectLength(message: Buffer): Buffer {
  if (message.length >= 4) message.writeUIntBE(message.length - 4, 1, 3);
  return message;
}

function recordSizes(random: Random, messageBytes: number): number[] {
  if (!random.oneIn(3)) return [Math.max(1, messageBytes)];
  if (random.oneIn(10)) return [1];
  return Array.from({ length: 1 + random.below(4) }, () => 1 + random.below(messageBytes + 1));
}
