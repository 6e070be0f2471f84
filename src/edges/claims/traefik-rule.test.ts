import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { hostMatchers, hostSniRule, mayMatch, rulePriority } from './traefik-rule.ts';

const matcher = (isRegexp: boolean, ...values: string[]) => ({ isRegexp, values });

test.each<[string, ReturnType<typeof hostMatchers>]>([
  ['HostSNI(`a.example`)', [matcher(false, 'a.example')]],
  ['HostSNI("a.example")', [matcher(false, 'a.example')]],
  ["hostsni( 'a.example' )", [matcher(false, 'a.example')]],
  ['HostSNI(`a.example`, `b.example`)', [matcher(false, 'a.example', 'b.example')]],
  [
    '(HostSNI(`a.example`) || HostSNI(`b.example`)) && ClientIP(`10.0.0.0/8`)',
    [matcher(false, 'a.example'), matcher(false, 'b.example')],
  ],
  ['HostSNIRegexp(`^(a|b)\\.example$`)', [matcher(true, '^(a|b)\\.example$')]],
  ['HostSNI(`*`)', [matcher(false, '*')]],
  ['!HostSNI(`a.example`)', []],
  ['! HostSNI(`a.example`) && HostSNI(`b.example`)', [matcher(false, 'b.example')]],
  ['ALPN(`h2`)', []],
  ['XHostSNI(`a.example`)', []],
  ['HostSNI(`a.example', [matcher(false)]],
  ['HostSNI(', [matcher(false)]],
])('parses %s', (rule, found) => {
  expect(hostMatchers(rule)).toEqual(found);
});

test('parses the generated rule', () => {
  fc.assert(
    fc.property(fc.domain(), (host) => {
      expect(hostMatchers(hostSniRule(host))).toEqual([matcher(false, host)]);
    }),
  );
});

test('parses any text in linear time', () => {
  const parts = ['HostSNI(', 'HostSNIRegexp(', '`', '"', "'", '\\', '!', ' ', ',', ')', 'a'];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 30 }), (pattern) => {
      const text = pattern.join('').repeat(2000);
      const before = process.cpuUsage();

      hostMatchers(text);
      mayMatch(text, 'a.example');
      rulePriority(text, undefined);

      // 100,000 characters take some milliseconds of CPU time. Quadratic time would be minutes.
      expect(process.cpuUsage(before).user).toBeLessThan(10_000_000);
    }),
  );
});

describe('the priority of a rule', () => {
  test.each<[string, number | undefined, number]>([
    ['HostSNI(`a.example`)', undefined, 20],
    ['HostSNI(`a.example`)', 0, 20],
    ['HostSNI(`a.example`)', 5, 5],
    ['HostSNI(`*`)', undefined, -1],
    ['HostSNI(`*`)', 7, 7],
    ['HostSNI(`*`) && ALPN(`h2`)', undefined, 26],
  ])('of %s with explicit priority %p is %p', (rule, explicit, priority) => {
    expect(rulePriority(rule, explicit)).toBe(priority);
  });
});

describe('a regular expression', () => {
  test.each<[string, boolean]>([
    ['^.+\\.k8s\\.example$', true],
    ['^.+\\.K8S\\.example$', true],
    ['^.+\\.other\\.example$', false],
    ['^.+\\.other\\.example', true], // more may follow
    ['^x\\.other|blue\\.k8s\\.example$', true],
    ['^.+\\.(k8s|other)\\.example$', true],
    ['^.+\\.[a-z]+$', true],
    ['\\x65$', true], // an e
    ['\\pL$', true],
    ['^.+\\$', true],
    ['', true],
    ['$', true],
  ])('%s may match: %p', (expression, may) => {
    expect(mayMatch(expression, 'blue.k8s.example')).toBe(may);
  });

  test('that matches a host is never reported as not matching', () => {
    const part = fc.constantFrom(
      'a',
      'b',
      '-',
      '.',
      '\\.',
      '.*',
      '[ab]',
      'a?',
      'b+',
      '(a.)',
      '^',
      '(?:b)',
    );
    const name = fc.stringMatching(/^[ab.-]{1,8}$/);
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), name, (parts, host) => {
        const expression = `${parts.join('')}$`;
        // Neither engine backtracks catastrophically on these, and both give them the same meaning.
        if (new RegExp(expression).test(host)) expect(mayMatch(expression, host)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
