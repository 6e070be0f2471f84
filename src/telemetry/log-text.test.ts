import { expect, test } from 'bun:test';
import { createLogger } from './log.ts';
import { textLine } from './log-text.ts';

function textOf(msg: string, fields: Record<string, unknown>, hasColors = false): string {
  const lines: string[] = [];
  const log = createLogger({
    format: (head, rest) => textLine(head, rest, hasColors),
    write: (line) => lines.push(line),
  });
  log.warn(msg, fields);
  return lines.join('').replace(/\d\d:\d\d:\d\d/, 'hh:mm:ss');
}

test('formats the time, the level, the message and the fields', () => {
  const fields = { file: 'a b.yaml', line: 7, none: undefined, ports: [1, 2], size: 12n };

  expect(textOf('the file is bad', fields)).toBe(
    'hh:mm:ss  warn   the file is bad  file="a b.yaml" line=7 ports=1,2 size=12\n',
  );
  expect(textOf('all is well', {})).toBe('hh:mm:ss  warn   all is well\n');
});

test('formats an error as its message', () => {
  expect(textOf('failed', { error: new Error('no listener') })).toEndWith(
    'failed  error="no listener"\n',
  );
});

test('puts an excerpt below the line', () => {
  const excerpt = '7 |   driver: nginx\n              ^';

  expect(textOf('edge.yaml:7:11: no', { excerpt, line: 7 })).toBe(
    `hh:mm:ss  warn   edge.yaml:7:11: no  line=7\n  7 |   driver: nginx\n                ^\n`,
  );
});

test('escapes untrusted text that would move the cursor, add a line or reverse the writing direction', () => {
  const bad = 'a\u001B[2Jb\rc\u009Bd\u202Ee';
  const text = textOf(`${bad}\nf`, { bad, file: `${bad}\n10:55:04  error`, excerpt: `${bad}\nx` });

  expect(text).toContain('a\\u001b[2Jb\\u000dc\\u009bd\\u202ee\\u000af  bad=');
  for (const sign of ['\u001B', '\r', '\u009B', '\u202E']) expect(text).not.toContain(sign);
  expect(text.match(/\n/g)).toHaveLength(3);
});

test('uses colors if requested', () => {
  const text = textOf('edge is bad', { line: 7 }, true);

  expect(text).toContain('\u001B[33mwarn \u001B[0m  edge is bad  \u001B[90mline=7\u001B[0m\n');
});
