import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { CommandIo } from '../../src/cli/io/command-io.ts';
import { GROUPS, runSnicket } from '../../src/cli/run-snicket.ts';
import { CommandExit, TestIo } from '../../src/cli/testing/test-io.ts';
import { commandLines } from './command-lines.ts';
import { documentedLines, snicketCommands } from './documented-commands.ts';
import { readPages, REPOSITORY } from './pages.ts';

const documented = documentedLines(readPages());

/** Parses a command line without running the command. Returns its error, or undefined. */
async function parseError(words: readonly string[]): Promise<string | undefined> {
  const io = new TestIo({});
  const withoutActions = Object.fromEntries(
    Object.entries(GROUPS).map(([heading, commands]) => [
      heading,
      commands.map(
        ([name, load]) =>
          [name, async (given: CommandIo) => withoutAction(await load(given))] as const,
      ),
    ]),
  );
  try {
    await runSnicket(words, io, withoutActions);
  } catch (error) {
    if (!(error instanceof CommandExit)) throw error;
  }
  return (io.exitCode ?? 0) === 0 ? undefined : io.stderr.text.trim();
}

function withoutAction(command: Command): Command {
  for (const part of command.commands) withoutAction(part);
  return command.action(() => undefined);
}

describe('the command lines of the documentation', () => {
  test('of snicket have known commands, arguments and flags', async () => {
    const errors: string[] = [];
    let count = 0;
    for (const { page, line, words } of snicketCommands(documented)) {
      count += 1;
      const error = await parseError(words);
      if (error !== undefined) errors.push(`${page}:${line}: ${words.join(' ')}: ${error}`);
    }

    expect(errors).toEqual([]);
    expect(count).toBeGreaterThan(50);
  });

  test('of make have targets in the Makefile', () => {
    const makefile = readFileSync(join(REPOSITORY, 'Makefile'), 'utf8');
    const targets = new Set(
      [...makefile.matchAll(/^(?<target>[a-z0-9-]+):/gm)].map(({ groups }) => groups?.['target']),
    );
    const unknown = documented
      .filter(({ words: [program] }) => program === 'make')
      .flatMap(({ page, line, words }) =>
        words
          .slice(1)
          .filter((word) => /^[a-z0-9-]+$/.test(word) && !targets.has(word))
          .map((word) => `${page}:${line}: make ${word}`),
      );

    expect(unknown).toEqual([]);
  });
});

test('finds the commands of a script', () => {
  const text = [
    'A=1 make test  # a comment',
    'kubectl get a \\',
    '  -o "json path" | jq .x > out && ./snicket status',
    "cat > file <<'END'",
    'make nothing',
    'END',
    'make demo',
    'source <(snicket completion bash)',
    "kubectl patch '",
    "  {}'",
  ].join('\n');

  expect(commandLines({ language: 'sh', text, line: 10 })).toEqual([
    { words: ['make', 'test'], line: 10 },
    { words: ['kubectl', 'get', 'a', '-o', 'json path'], line: 11 },
    { words: ['jq', '.x'], line: 11 },
    { words: ['./snicket', 'status'], line: 11 },
    { words: ['cat'], line: 13 },
    { words: ['make', 'demo'], line: 16 },
    { words: ['source'], line: 17 },
    { words: ['snicket', 'completion', 'bash'], line: 17 },
    { words: ['kubectl', 'patch', ' {}'], line: 18 },
  ]);
});
