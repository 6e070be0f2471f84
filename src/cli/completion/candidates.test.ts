import { expect, test } from 'bun:test';
import { Argument, Command, Option } from 'commander';
import { expectedAt } from './candidates.ts';

function command(): Command {
  return new Command('inspect')
    .addArgument(new Argument('<range>').choices(['near', 'far']))
    .argument('[exposure...]')
    .option('-n, --namespace <name>')
    .option('-f, --filename <file...>')
    .option('--all', 'select all')
    .addOption(new Option('-o, --output <format>').choices(['table', 'json']))
    .addOption(new Option('--secret').hideHelp());
}

function valuesAt(line: string): readonly string[] | string {
  const args = line.split(' ');
  const expected = expectedAt(command(), args.slice(0, -1), args.at(-1) ?? '');
  return expected.kind === 'values' ? expected.values.map(({ value }) => value) : expected.kind;
}

const OPTIONS = ['--namespace', '--filename', '--all', '--output', '--help'];

test.each([
  ['', ['near', 'far']],
  ['near ', 'exposure'],
  ['near blue ', 'exposure'],
  ['-', OPTIONS],
  ['near --al', OPTIONS],
  ['--output ', ['table', 'json']],
  ['-o ', ['table', 'json']],
  ['--output=t', ['--output=table', '--output=json']],
  // Bash splits --output=t into three args.
  ['--output = t', ['table', 'json']],
  ['-o json ', ['near', 'far']],
  ['--output=json ', ['near', 'far']],
  ['-n ', 'namespace'],
  ['-f ', 'file'],
  ['-f a.yaml ', 'file'],
  ['-f a.yaml -', OPTIONS],
  ['-f a.yaml --all ', ['near', 'far']],
  ['--filename=', 'file'],
  ['near -- -', 'exposure'],
  ['--unknown=', 'freeText'],
])('completes %j', (line, expected) => {
  expect(valuesAt(line)).toEqual(expected);
});

test('offers each option once, except variadic options', () => {
  expect(valuesAt('--all -f a --output=json --')).toEqual(['--namespace', '--filename', '--help']);
});

test('returns the positional arguments and flags for an Exposure', () => {
  const args = ['near', 'blue', '-n', 'tenants', 'red'];

  expect(expectedAt(command(), args, '')).toEqual({
    kind: 'exposure',
    flags: new Map([['--namespace', 'tenants']]),
    positionals: ['near', 'blue', 'red'],
    subcommands: [],
  });
});

test('offers Edges for --edge <name>, but not for --edge <address>', () => {
  const expose = new Command('expose').option('--edge <name>', 'the Edge');
  const doctor = new Command('doctor').option('--edge <address>', 'the address');

  expect(expectedAt(expose, ['--edge'], '')).toMatchObject({ kind: 'edge' });
  expect(expectedAt(doctor, ['--edge'], '')).toMatchObject({ kind: 'freeText' });
});

test('offers a subcommand as the first argument, and then the options of the subcommand', () => {
  const parent = new Command('doctor')
    .argument('[exposure]')
    .option('--all')
    .addCommand(new Command('edge').description('check an edge').option('--hosts <host...>'));

  expect(expectedAt(parent, [], '')).toMatchObject({
    kind: 'exposure',
    subcommands: [{ value: 'edge', description: 'check an edge' }],
  });
  expect(expectedAt(parent, ['--all'], '')).toMatchObject({ kind: 'exposure', subcommands: [] });
  expect(expectedAt(parent, ['edge'], '-')).toMatchObject({
    kind: 'values',
    values: [{ value: '--hosts' }, { value: '--help' }],
  });
});

test('offers files for an argument or option <folder>', () => {
  const run = new Command('run').argument('<folder>').option('--state <folder>');

  expect(expectedAt(run, [], '')).toEqual({ kind: 'file' });
  expect(expectedAt(run, ['--state'], '')).toEqual({ kind: 'file' });
});
