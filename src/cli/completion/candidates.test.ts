import { expect, test } from 'bun:test';
import { Argument, Command, Option } from 'commander';
import { expectedAt } from './candidates.ts';

function command(): Command {
  return new Command('look')
    .addArgument(new Argument('<how>').choices(['near', 'far']))
    .argument('[exposure...]')
    .option('-n, --namespace <name>')
    .option('-f, --filename <file...>')
    .option('--all', 'all of them')
    .addOption(new Option('-o, --output <format>').choices(['table', 'json']))
    .addOption(new Option('--secret').hideHelp());
}

function valuesAt(line: string): readonly string[] | string {
  const words = line.split(' ');
  const expected = expectedAt(command(), words.slice(0, -1), words.at(-1) ?? '');
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
  // As Bash splits it.
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
  ['--unknown=', 'anything'],
])('behind %j', (line, expected) => {
  expect(valuesAt(line)).toEqual(expected);
});

test('an option is offered once, and one with many values again and again', () => {
  expect(valuesAt('--all -f a --output=json --')).toEqual(['--namespace', '--filename', '--help']);
});

test('says which Exposures are there already, and where to look for more', () => {
  const words = ['near', 'blue', '-n', 'tenants', 'red'];

  expect(expectedAt(command(), words, '')).toEqual({
    kind: 'exposure',
    flags: new Map([['--namespace', 'tenants']]),
    given: ['near', 'blue', 'red'],
    also: [],
  });
});

test('an Edge is offered where one is named', () => {
  const named = new Command('expose').option('--edge <name>', 'the Edge');
  const dialed = new Command('doctor').option('--edge <address>', 'where it is');

  expect(expectedAt(named, ['--edge'], '')).toMatchObject({ kind: 'edge' });
  expect(expectedAt(dialed, ['--edge'], '')).toMatchObject({ kind: 'anything' });
});

test('a subcommand is offered first, and then its own words are', () => {
  const parent = new Command('doctor')
    .argument('[exposure]')
    .option('--all')
    .addCommand(new Command('edge').description('look at an edge').option('--hosts <host...>'));

  expect(expectedAt(parent, [], '')).toMatchObject({
    kind: 'exposure',
    also: [{ value: 'edge', description: 'look at an edge' }],
  });
  expect(expectedAt(parent, ['--all'], '')).toMatchObject({ kind: 'exposure', also: [] });
  expect(expectedAt(parent, ['edge'], '-')).toMatchObject({
    kind: 'values',
    values: [{ value: '--hosts' }, { value: '--help' }],
  });
});

test('offers files for a folder', () => {
  const run = new Command('run').argument('<folder>').option('--state <folder>');

  expect(expectedAt(run, [], '')).toEqual({ kind: 'file' });
  expect(expectedAt(run, ['--state'], '')).toEqual({ kind: 'file' });
});
