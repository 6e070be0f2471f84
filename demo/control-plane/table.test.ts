import { expect, test } from 'bun:test';
import { ageText, tableOf, wantsTable } from './table.ts';

test('kubectl accepts a table, other clients do not', () => {
  const kubectl =
    'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json';

  expect(wantsTable(kubectl)).toBe(true);
  expect(wantsTable('application/json;as=Table;v=v1beta1;g=meta.k8s.io')).toBe(false);
  expect(wantsTable('application/json')).toBe(false);
});

test('a list has a row for each item, and an object has one row', () => {
  const slice = {
    metadata: { name: 'kubernetes' },
    addressType: 'IPv4',
    ports: [{ port: 6443 }],
    endpoints: [{ addresses: ['100.64.64.1'] }, { addresses: ['100.64.64.2'] }],
  };

  const list = tableOf('EndpointSlice', { metadata: {}, items: [slice, slice] });

  const cells = ['kubernetes', 'IPv4', '6443', '100.64.64.1,100.64.64.2', '<unknown>'];
  expect(list['rows']).toMatchObject([{ cells }, { cells }]);
  expect(tableOf('EndpointSlice', slice)['rows']).toMatchObject([{ cells }]);
});

test('an unknown kind has a name and an age', () => {
  const table = tableOf('Lease', { metadata: { name: 'one' } });

  expect(table['columnDefinitions']).toMatchObject([{ name: 'Name' }, { name: 'Age' }]);
});

test('formats an age in seconds, minutes or hours', () => {
  const now = Date.parse('2026-01-01T12:00:00Z');

  expect(ageText('2026-01-01T11:58:01Z', now)).toBe('119s');
  expect(ageText('2026-01-01T11:30:00Z', now)).toBe('30m');
  expect(ageText('2026-01-01T02:00:00Z', now)).toBe('10h');
  expect(ageText('', now)).toBe('<unknown>');
});
