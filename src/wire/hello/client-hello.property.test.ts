import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ClientHello } from './client-hello.ts';
import { extension, handshake, helloMessage, inRecords, record } from './hello-builder.ts';

const reader = new ClientHello();

function outcomeOf(bytes: Buffer, length = bytes.length) {
  return { outcome: reader.read(bytes, length), serverName: reader.serverName };
}

const label = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_-]{0,20}$/);
const host = fc.array(label, { minLength: 1, maxLength: 6 }).map((labels) => labels.join('.'));
const bytes = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));

const otherExtension = fc
  .tuple(fc.integer({ min: 1, max: 0xffff }), bytes(60))
  .map(([type, content]) => extension(type, content));

const validMessage = fc
  .record({
    serverName: fc.option(host, { nil: undefined }),
    sessionId: bytes(32),
    extensions: fc.array(otherExtension, { maxLength: 5 }),
  })
  .map(({ serverName, ...parts }) => ({
    serverName,
    message: helloMessage(serverName === undefined ? parts : { serverName, ...parts }),
  }));

/** Valid messages, and messages with any error after the message type. */
const anyMessage = fc.oneof(
  validMessage.map(({ message }) => message),
  bytes(200).map((body) => handshake(1, body)),
  fc.tuple(validMessage, fc.nat(), fc.nat(255)).map(([{ message }, at, byte]) => {
    const broken = Buffer.from(message);
    broken[4 + (at % (broken.length - 4))] = byte;
    return broken;
  }),
);

const recordSizes = fc.array(fc.integer({ min: 1, max: 80 }), { minLength: 1, maxLength: 8 });

test('returns the server name of any valid hello', () => {
  fc.assert(
    fc.property(validMessage, ({ serverName, message }) => {
      const expected = { outcome: 'hello', serverName: serverName?.toLowerCase() };

      expect(outcomeOf(record(message))).toEqual(expected as ReturnType<typeof outcomeOf>);
    }),
  );
});

test('returns the same outcome for any split into records', () => {
  fc.assert(
    fc.property(anyMessage, recordSizes, (message, sizes) => {
      expect(outcomeOf(inRecords(message, sizes))).toEqual(outcomeOf(record(message)));
    }),
  );
});

test('does not change its outcome when more bytes arrive', () => {
  const arrival = fc.oneof(
    fc.tuple(anyMessage, recordSizes).map(([message, sizes]) => inRecords(message, sizes)),
    fc
      .tuple(anyMessage, bytes(20))
      .map(([message, extra]) => Buffer.concat([record(message), extra])),
    bytes(40),
    bytes(40).map((content) => record(content)),
  );
  fc.assert(
    fc.property(arrival, (wire) => {
      const final = outcomeOf(wire);
      let decided = false;
      for (let length = 0; length <= wire.length; length++) {
        const now = outcomeOf(wire, length);
        if (decided) expect(now).toEqual(final);
        else if (now.outcome !== 'incomplete') {
          expect(now).toEqual(final);
          decided = true;
        }
      }
    }),
  );
});

test('returns incomplete for any prefix of a valid hello', () => {
  fc.assert(
    fc.property(validMessage, recordSizes, fc.nat(), ({ message }, sizes, cut) => {
      const wire = inRecords(message, sizes);

      expect(outcomeOf(wire, cut % wire.length).outcome).toBe('incomplete');
    }),
  );
});

test('never throws, and never waits for bytes beyond its limit', () => {
  const small = new ClientHello({ limitBytes: 64 });
  const wire = fc.oneof(
    bytes(200),
    fc.tuple(bytes(200), recordSizes).map(([content, sizes]) => inRecords(content, sizes)),
    fc.tuple(anyMessage, recordSizes).map(([message, sizes]) => inRecords(message, sizes)),
  );
  fc.assert(
    fc.property(wire, (arrived) => {
      const outcome = small.read(arrived, arrived.length);
      small.alpnProtocols();
      small.supportedVersions();

      if (arrived.length >= 64) expect(outcome).not.toBe('incomplete');
    }),
  );
});
