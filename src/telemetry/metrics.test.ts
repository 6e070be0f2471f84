import { expect, test } from 'bun:test';
import { Metrics } from './metrics.ts';

test('writes each family with help, type and its samples', () => {
  const metrics = new Metrics();
  metrics.register({
    name: 'doors_total',
    help: 'Doors opened.',
    type: 'counter',
    samples: () => [{ labels: { house: 'a', side: 'left' }, value: 3 }, { value: 0.5 }],
  });
  metrics.register({ name: 'open', help: 'Now.', type: 'gauge', samples: () => [{ value: 7 }] });

  expect(metrics.text()).toBe(
    [
      '# HELP doors_total Doors opened.',
      '# TYPE doors_total counter',
      'doors_total{house="a",side="left"} 3',
      'doors_total 0.5',
      '# HELP open Now.',
      '# TYPE open gauge',
      'open 7',
      '',
    ].join('\n'),
  );
});

test('reads the current values for each page', () => {
  const metrics = new Metrics();
  let value = 1;
  metrics.register({ name: 'n', help: 'N.', type: 'gauge', samples: () => [{ value }] });
  metrics.text();

  value = 2;

  expect(metrics.text()).toContain('\nn 2\n');
});

test('escapes characters that would end a label or a line', () => {
  const metrics = new Metrics();
  const samples = () => [{ labels: { text: 'a"b\\c\nd' }, value: 1 }];
  metrics.register({ name: 'n', help: 'one\\two\nlines', type: 'gauge', samples });

  expect(metrics.text()).toContain('# HELP n one\\\\two\\nlines\n');
  expect(metrics.text()).toContain('n{text="a\\"b\\\\c\\nd"} 1\n');
});

test.each([
  [Infinity, '+Inf'],
  [-Infinity, '-Inf'],
  [Number.NaN, 'NaN'],
  [1e21, '1e+21'],
])('writes %d as Prometheus does', (value, text) => {
  const metrics = new Metrics();
  metrics.register({ name: 'n', help: 'N.', type: 'gauge', samples: () => [{ value }] });

  expect(metrics.text()).toEndWith(`n ${text}\n`);
});

test('rejects a duplicate name and a name that is invalid in Prometheus', () => {
  const metrics = new Metrics();
  const family = { help: 'N.', type: 'gauge', samples: () => [] } as const;
  metrics.register({ name: 'n', ...family });

  expect(() => metrics.register({ name: 'n', ...family })).toThrow('registered already');
  expect(() => metrics.register({ name: 'a-b', ...family })).toThrow("'a-b'");
});
