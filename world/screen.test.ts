import { expect, test } from 'bun:test';
import { statusText, table } from './screen.ts';

test('a table has columns as wide as their widest cell, and no trailing spaces', () => {
  const lines = table([
    ['HOST', 'MEMORY'],
    ['management', '1 MB'],
    ['a', ''],
  ]);

  expect(lines).toEqual(['HOST        MEMORY', 'management  1 MB', 'a']);
});

test('the status without worlds has a hint how to start one', () => {
  expect(statusText([])).toBe('no worlds found; `make world` starts one');
});

test('the status of a world has its ended programs and its total memory', () => {
  const text = statusText([
    {
      id: 'x1y2',
      folder: '/worlds/x1y2',
      state: 'kept',
      hosts: [
        { name: 'a', address: '172.30.1.2', running: ['etcd'], ended: [], memoryBytes: 40e6 },
        { name: 'a-1', address: '172.30.101.1', running: [], ended: ['kubelet'], memoryBytes: 2e6 },
      ],
      kubeconfigs: { a: '/worlds/x1y2/a/kubeconfig' },
    },
  ]);

  expect(text.split('\n')).toEqual([
    'World x1y2: kept until `world/world down`, 42 MB, /worlds/x1y2',
    '  HOST  ADDRESS       MEMORY  PROGRAMS',
    '  a     172.30.1.2    40 MB   etcd',
    '  a-1   172.30.101.1  2 MB    kubelet (ended)',
    '  kubeconfig of a: /worlds/x1y2/a/kubeconfig',
  ]);
});
