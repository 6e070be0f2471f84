import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { addressBytes, answer, CODE, parseQuery, TYPE_A, TYPE_AAAA } from './message.ts';

/** Builds a query by hand: header, one question and optional bytes after it. */
function queryBytes(name: string, type = TYPE_A, additional = ''): Buffer {
  const labels = name
    .split('.')
    .flatMap((label) => [label.length, ...Buffer.from(label, 'latin1')]);
  return Buffer.concat([
    Buffer.from('beef01000001000000000000', 'hex'),
    Buffer.from([...labels, 0, 0, type, 0, 1]),
    Buffer.from(additional, 'hex'),
  ]);
}

describe('a query', () => {
  test('is read', () => {
    const query = parseQuery(queryBytes('A.k8s.Snicket.TEST', TYPE_AAAA));

    expect(query).toMatchObject({
      id: 0xbeef,
      name: 'a.k8s.snicket.test',
      type: TYPE_AAAA,
      recursionDesired: true,
    });
  });

  test('keeps the case of its name, because resolvers compare the name in the answer', () => {
    const message = queryBytes('SniCKet.test');

    const query = parseQuery(message)!;

    expect(query.question).toEqual(message.subarray(12));
  });

  test('may have an EDNS record after its question, as most resolvers send it', () => {
    const opt = '00' + '0029' + '04d0' + '00000000' + '0000';
    const plain = parseQuery(queryBytes('a.test'));

    const query = parseQuery(queryBytes('a.test', TYPE_A, opt));

    expect(query).toEqual(plain);
  });

  test('may be for the root', () => {
    const root = Buffer.from('beef010000010000000000000000020001', 'hex');

    expect(parseQuery(root)).toMatchObject({ name: '', type: 2 });
  });

  test.each([
    ['empty', Buffer.alloc(0)],
    ['an answer', withByte(queryBytes('a.test'), 2, 0x81)],
    ['of another opcode', withByte(queryBytes('a.test'), 2, 0x29)],
    ['without a question', withByte(queryBytes('a.test'), 5, 0)],
    ['with two questions', withByte(queryBytes('a.test'), 5, 2)],
    ['with a compressed name', withByte(queryBytes('a.test'), 12, 0xc0)],
    ['with a label longer than the message', withByte(queryBytes('a.test'), 12, 63)],
  ])('is rejected if it is %s', (_, message) => {
    expect(parseQuery(message)).toBeUndefined();
  });

  test('is rejected if it is truncated anywhere', () => {
    const message = queryBytes('tenant.k8s.snicket.test');

    const read = Array.from(message.keys()).filter((end) => parseQuery(message.subarray(0, end)));

    expect(read).toEqual([]);
  });

  test('is parsed or rejected without an exception for any bytes', () => {
    const header = fc.constant(Buffer.from('beef01000001000000000000', 'hex'));
    const anyBytes = fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes));
    const anyName = fc.tuple(header, anyBytes).map((parts) => Buffer.concat(parts));

    fc.assert(
      fc.property(fc.oneof(anyBytes, anyName), (message) => {
        const query = parseQuery(message);

        const question = query && message.subarray(12, 12 + query.question.length);
        expect(query?.question).toEqual(question);
      }),
    );
  });

  test('returns the requested name', () => {
    const label = fc.stringMatching(/^[a-z0-9_-]{1,63}$/);
    const name = fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.'));

    fc.assert(
      fc.property(name, (requested) => {
        expect(parseQuery(queryBytes(requested))?.name).toBe(requested);
      }),
    );
  });
});

describe('an answer', () => {
  test('has the bytes of RFC 1035, section 4.1', () => {
    const query = parseQuery(queryBytes('a.test'))!;

    const message = answer(query, CODE.ok, ['10.0.0.1']);

    expect(message.toString('hex')).toBe(
      [
        'beef' + '8580' + '0001' + '0001' + '0000' + '0000', // response, authoritative, RD, RA
        '0161' + '0474657374' + '00' + '0001' + '0001',
        'c00c' + '0001' + '0001' + '00000001' + '0004' + '0a000001',
      ].join(''),
    );
  });

  test('omits addresses of the other family', () => {
    const addresses = ['10.0.0.1', 'fd00::1', '10.0.0.2'];
    const four = parseQuery(queryBytes('a.test', TYPE_A))!;
    const six = parseQuery(queryBytes('a.test', TYPE_AAAA))!;

    const [toFour, toSix] = [answer(four, CODE.ok, addresses), answer(six, CODE.ok, addresses)];

    expect(toFour.readUInt16BE(6)).toBe(2);
    expect(toSix.readUInt16BE(6)).toBe(1);
    expect(toSix.subarray(-16)).toEqual(addressBytes('fd00::1'));
  });

  test.each([
    ['of the other family', TYPE_AAAA, ['10.0.0.1']],
    ['that is not known', 16, ['10.0.0.1', 'fd00::1']],
  ])('to a query for a type %s has no records and no error', (_, type, addresses) => {
    const query = parseQuery(queryBytes('a.test', type))!;

    const message = answer(query, CODE.ok, addresses);

    expect(message.readUInt16BE(2) & 0xf).toBe(0);
    expect(message.readUInt16BE(6)).toBe(0);
  });

  test.each([CODE.servfail, CODE.nxdomain])('has the code %p', (code) => {
    const query = parseQuery(queryBytes('a.test'))!;

    const message = answer(query, code, []);

    expect(message.readUInt16BE(2) & 0xf).toBe(code);
    expect(message.length).toBe(queryBytes('a.test').length);
  });
});

describe('the bytes of', () => {
  test.each([
    ['10.0.0.1', '0a000001'],
    ['255.255.255.255', 'ffffffff'],
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['fd00::', 'fd000000000000000000000000000000'],
    ['fd00:1::2:3', 'fd000001000000000000000000020003'],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
  ])('%s', (address, hex) => {
    expect(addressBytes(address).toString('hex')).toBe(hex);
  });
});

function withByte(message: Buffer, at: number, byte: number): Buffer {
  message[at] = byte;
  return message;
}
