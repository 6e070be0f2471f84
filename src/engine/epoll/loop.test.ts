import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { until } from '../../net/testing/peer.ts';
import { Table } from '../conformance/table.ts';
import { EpollEngine } from './epoll-engine.ts';

/** An idle engine in this thread. Each test runs something else in the same thread. */
let engine: EpollEngine;

beforeAll(() => {
  const table = new Table([]);
  engine = new EpollEngine({
    router: table,
    counters: table.counters,
    onFault(error) {
      throw error;
    },
  });
  engine.listen({ address: '127.0.0.1', port: 0 });
});

afterAll(() => engine.stop());

test('timers keep working', async () => {
  let ticks = 0;
  const timer = setInterval(() => ticks++, 20);

  await until(() => ticks >= 5, 'five ticks');

  clearInterval(timer);
});

test("Bun's own sockets keep working", async () => {
  using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('here') });

  for (let request = 0; request < 20; request++) {
    const response = await fetch(`http://127.0.0.1:${server.port}/`);
    expect(await response.text()).toBe('here');
  }
});

test('files and child processes keep working', async () => {
  const child = Bun.spawn(['cat', import.meta.path]);

  const [file, output] = await Promise.all([
    readFile(import.meta.path, 'utf8'),
    new Response(child.stdout).text(),
  ]);

  expect(output).toBe(file);
  expect(await child.exited).toBe(0);
});

test('signals keep working', async () => {
  let signals = 0;
  const onSignal = () => signals++;
  process.on('SIGUSR2', onSignal);

  process.kill(process.pid, 'SIGUSR2');

  await until(() => signals === 1, 'the signal');
  process.off('SIGUSR2', onSignal);
});

test('messages of another thread keep working', async () => {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads');
     parentPort.on('message', (number) => parentPort.postMessage(number + 1));`,
    { eval: true },
  );
  const answers: number[] = [];
  worker.on('message', (answer: number) => answers.push(answer));

  for (let question = 0; question < 10; question++) {
    worker.postMessage(question);
    await until(() => answers.length === question + 1, 'an answer');
  }

  expect(answers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  await worker.terminate();
});
