import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Dns, lookUp, recordsReader, writeRecords, type DnsRecords } from './records.ts';

const service = 'kubernetes.default.svc.cluster.local';

const records: DnsRecords = {
  names: { 'a.test': ['10.0.0.1'], 'b.test': 'servfail', [service]: ['10.0.0.9'] },
  views: [
    { prefix: '172.30.101.', names: { [service]: ['10.96.0.1'] } },
    { prefix: '172.30.102.', names: { [service]: ['10.32.0.1'] } },
  ],
};

describe('a client', () => {
  test.each([
    ['172.30.101.7', ['10.96.0.1']],
    ['172.30.102.7', ['10.32.0.1']],
    ['172.30.1.1', ['10.0.0.9']],
    ['172.30.10.17', ['10.0.0.9']],
  ])('at %s gets the names of its own view', (client, addresses) => {
    expect(lookUp(records, service, client)).toEqual(addresses);
  });

  test('also gets the names of all clients if it has a view', () => {
    expect(lookUp(records, 'a.test', '172.30.101.7')).toEqual(['10.0.0.1']);
    expect(lookUp(records, 'b.test', '172.30.101.7')).toBe('servfail');
  });

  test('does not find a missing name, even if it is an inherited property such as constructor', () => {
    expect(lookUp(records, 'c.test', '172.30.101.7')).toBeUndefined();
    expect(lookUp(records, 'constructor', '172.30.101.7')).toBeUndefined();
  });
});

describe('the file', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'snicket-records-'));
    path = join(folder, 'dns.json');
    writeRecords(path, records);
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  test('is read back unchanged', () => {
    expect(recordsReader(path)()).toEqual(records);
  });

  test('is replaced without temporary files left in the folder', () => {
    new Dns(path).set('c.test', '10.0.0.3');

    expect(readdirSync(folder)).toEqual(['dns.json']);
  });

  test('accepts more views', () => {
    new Dns(path).addViews({ prefix: '172.30.103.', names: { [service]: ['10.64.0.1'] } });

    const after = recordsReader(path)();
    expect(lookUp(after, service, '172.30.103.1')).toEqual(['10.64.0.1']);
    expect(lookUp(after, service, '172.30.102.1')).toEqual(['10.32.0.1']);
    expect(after.names).toEqual(records.names);
  });

  test('is read again only after a change', () => {
    const read = recordsReader(path);
    const dns = new Dns(path);
    const first = read();
    const again = read();

    dns.set('c.test', '10.0.0.3', 'fd00::3');
    const added = read();
    dns.setAll(['d.test', 'e.test'], '10.0.0.4');
    const many = read();
    dns.remove('d.test');
    dns.remove('e.test');
    dns.break('c.test', 'silent');
    const broken = read();
    dns.remove('c.test');
    const removed = read();

    expect(again).toBe(first);
    expect(added.names['c.test']).toEqual(['10.0.0.3', 'fd00::3']);
    expect(many.names).toEqual({
      ...added.names,
      'd.test': ['10.0.0.4'],
      'e.test': ['10.0.0.4'],
    });
    expect(broken.names['c.test']).toBe('silent');
    expect(removed).toEqual(records);
  });
});
