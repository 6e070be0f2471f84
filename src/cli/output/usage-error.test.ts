import { expect, test } from 'bun:test';
import { usageErrorText } from './usage-error.ts';

const HINT = 'see: snicket dns --help';

test.each([
  [
    'an invalid value of an option',
    "error: option '-n, --namespace <name>' argument 'A B' is invalid. must be a lowercase RFC 1123 label\n",
    "error: invalid value 'A B' for --namespace: must be a lowercase RFC 1123 label\n",
  ],
  [
    'an invalid value with a hint',
    "error: option '--edge <host:port>' argument '::1' is invalid. requires brackets; pass [::1]:443\n",
    "error: invalid value '::1' for --edge: requires brackets\nhint: pass [::1]:443\n",
  ],
  [
    'a value that is not among the choices',
    "error: option '-o, --output <format>' argument 'x' is invalid. Allowed choices are table, json.\n",
    "error: invalid value 'x' for --output: must be one of table, json\n",
  ],
  [
    'an invalid value from the environment',
    "error: option '--engine <name>' value 'x' from env 'SNICKET_ENGINE' is invalid. Allowed choices are auto, bun.\n",
    "error: invalid value 'x' for $SNICKET_ENGINE: must be one of auto, bun\n",
  ],
  [
    'an invalid argument',
    "error: command-argument value 'a/b/c' is invalid for argument 'exposure'. must be NAMESPACE/NAME or NAME\n",
    "error: invalid value 'a/b/c' for argument exposure: must be NAMESPACE/NAME or NAME\n",
  ],
  [
    'a suggestion',
    "error: unknown option '--formt'\n(Did you mean --format?)\n",
    "error: unknown option '--formt'\nhint: did you mean --format?\n",
  ],
  [
    'an error without a hint',
    "error: unknown option '--x'\n",
    "error: unknown option '--x'\nhint: see: snicket dns --help\n",
  ],
  ['an error with a hint', 'error: a\nhint: b\n', 'error: a\nhint: b\n'],
  ['any other text', 'Usage: snicket\n', 'Usage: snicket\n'],
])('%s', (_, text, shown) => {
  expect(usageErrorText(text, HINT)).toBe(shown);
});
