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

test('knows its own from those of another list', () => {
  const sockets = new SocketTable();
  const one = new WaitingList(sockets, 1);
  const other = new WaitingList(sockets, 2);
  one.add(5);

  expect(other.delete(5)).toBe(false);
  expect(one.delete(5)).toBe(true);
  expect(one.delete(5)).toBe(false);
  expect([...one]).toEqual([]);
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
