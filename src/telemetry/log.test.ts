import { expect, test } from 'bun:test';
import { createLogger, type LoggerOptions } from './log.ts';

function loggerWithLines(options: LoggerOptions = {}) {
  const lines: string[] = [];
  return { lines, log: createLogger({ ...options, write: (line) => lines.push(line) }) };
}

test('writes one line of JSON with time, level, message and fields', () => {
  const { lines, log } = loggerWithLines();

  log.warn('the file is bad', { file: 'routes.yaml', line: 3 });

  expect(lines).toHaveLength(1);
  expect(lines[0]).toEndWith('}\n');
  const entry = JSON.parse(lines[0]!);
  expect(entry).toMatchObject({ level: 'warn', msg: 'the file is bad', line: 3 });
  expect(Object.keys(entry)).toEqual(['time', 'level', 'msg', 'file', 'line']);
  expect(new Date(entry.time).toISOString()).toBe(entry.time);
});

test('writes nothing below its level, which is info by default', () => {
  const standard = loggerWithLines();
  const terse = loggerWithLines({ level: 'error' });

  for (const { log } of [standard, terse]) {
    log.debug('a');
    log.info('b');
    log.error('c');
  }

  expect(standard.lines).toHaveLength(2);
  expect(terse.lines).toHaveLength(1);
});

test('writes one line, and fields cannot override level or message', () => {
  const { lines, log } = loggerWithLines();

  log.info('two\nlines', { level: 'error', msg: 'override', text: 'a\nb' });

  expect(lines[0]!.match(/\n/g)).toHaveLength(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'info', msg: 'two\nlines', text: 'a\nb' });
});

test('prints the message and the code of an error', () => {
  const { lines, log } = loggerWithLines();
  const refused = Object.assign(new Error('no listener'), { code: 'ECONNREFUSED' });

  log.error('failed', { error: refused, plain: new Error('plain'), size: 12n });

  expect(JSON.parse(lines[0]!)).toMatchObject({
    error: { code: 'ECONNREFUSED', message: 'no listener' },
    plain: 'plain',
    size: '12',
  });
});
