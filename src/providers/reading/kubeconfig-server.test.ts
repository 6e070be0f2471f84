import { describe, expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { serverIn, withServer } from './kubeconfig-server.ts';
import { kubeconfigFor } from '../testing/provider-objects.ts';

const SERVER = 'https://blue.tenants.svc:6443';

describe('the server in a kubeconfig', () => {
  test('is replaced for every cluster', () => {
    const aimed = withServer(kubeconfigFor('https://old.example.test'), SERVER) ?? '';

    expect(serverIn(aimed)).toBe(SERVER);
    expect(aimed).not.toContain('old.example.test');
  });

  test('is absent in a text with an unresolved alias, which is not a kubeconfig', () => {
    const text = `${kubeconfigFor('https://old.example.test')}extensions: *nothing\n`;

    expect(withServer(text, SERVER)).toBeUndefined();
  });

  test('is looked up in any text without an exception', () => {
    const part = fc.constantFrom(
      ...[
        'clusters:',
        '\n',
        '- ',
        'cluster: ',
        '{server: a}',
        '*a',
        '&a ',
        '[',
        ']',
        '!!set ',
        ': ',
      ],
      ...['<<: ', '? ', '---', '"', '%YAML 1.1', '|', '\t', '\u0000'],
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 24 }), (parts) => {
        const text = parts.join('');

        withServer(text, SERVER);
        serverIn(text);
      }),
      { numRuns: 2000 },
    );
  });
});
