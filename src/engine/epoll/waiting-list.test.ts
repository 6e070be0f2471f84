import { expect, test } from 'bun:test';
import { SocketTable } from './socket-table.ts';
import { WaitingList } from './waiting-list.ts';

test('keeps the order of arrival after removals', () => {
  const list = new WaitingList(new SocketTable(), 1);
  for (const fd of [5, 3, 9, 7]) list.add(fd);

  expect(list.delete(9)).toBe(true);
  expect([...list]).toEqual([5, 3, 7]);
  expect(list.delete(5)).toBe(true);
  expect(list.delete(7)).toBe(true);
  list.add(4);

  expect([...list]).toEqual([3, 4]);
  expect(list.size).toBe(2);
});

test('deletes only clients of this list', () => {
  const sockets = new SocketTable();
  const first = new WaitingList(sockets, 1);
  const second = new WaitingList(sockets, 2);
  first.add(5);

  expect(second.delete(5)).toBe(false);
  expect(first.delete(5)).toBe(true);
  expect(first.delete(5)).toBe(false);
  expect([...first]).toEqual([]);
});

test('allows removing the current client during iteration', () => {
  const list = new WaitingList(new SocketTable(), 1);
  for (const fd of [1, 2, 3]) list.add(fd);

  const visited: number[] = [];
  for (const fd of list) {
    visited.push(fd);
    list.delete(fd);
  }

  expect(visited).toEqual([1, 2, 3]);
  expect(list.size).toBe(0);
});
