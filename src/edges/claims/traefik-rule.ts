/**
 * Traefik's rules, as far as they name hosts.
 */

/** The rule for one host. */
export function hostSniRule(host: string): string {
  return `HostSNI(\`${host}\`)`;
}

/** A matcher in a rule: `HostSNI(...)`, `HostSNIRegexp(...)`. */
export interface HostMatcher {
  readonly isRegexp: boolean;
  readonly values: readonly string[];
}

const MATCHER = /(!\s*)?\bHostSNI(Regexp)?\s*\(/gi;
/** A literal, and what comes after it. */
const ARGUMENT = /\s*(?:`([^`]*)`|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*([,)])/y;

/**
 * The matchers of a rule that name hosts. Those that are negated name none. What stands beside them
 * (`&& ClientIP(...)`) makes a claim smaller, not less of one.
 */
export function hostMatchers(rule: string): readonly HostMatcher[] {
  const found: HostMatcher[] = [];
  for (const match of rule.matchAll(MATCHER)) {
    const [whole, negation, regexp] = match;
    if (negation !== undefined) continue;
    found.push({
      isRegexp: regexp !== undefined,
      values: literals(rule, match.index + whole.length),
    });
  }
  return found;
}

/** Which router is asked first: the higher one. By default it is the length of the rule; one for all comes last. */
export function rulePriority(rule: string, given: number | undefined): number {
  // Zero means the default.
  if (given !== undefined && given !== 0) return given;
  return /^\s*HostSNI\s*\(\s*[`"']\*[`"']\s*\)\s*$/i.test(rule) ? -1 : Buffer.byteLength(rule);
}

/**
 * Whether a name may match a regular expression. It is not run: a stranger wrote it, for an engine that cannot be kept
 * busy for ever as ours can. Only its end is looked at, where that is plain text.
 */
export function mayMatch(expression: string, name: string): boolean {
  const isPlain =
    expression.endsWith('$') && !expression.includes('|') && !/\\[^.]/.test(expression);
  if (!isPlain) return true;
  const end = expression.length - 1;
  let start = end;
  while (start > 0) {
    if (/[a-z0-9-]/i.test(expression.charAt(start - 1))) start -= 1;
    else if (expression.slice(start - 2, start) === '\\.') start -= 2;
    else break;
  }
  const tail = expression.slice(start, end).replaceAll('\\', '');
  return name.toLowerCase().endsWith(tail.toLowerCase());
}

function literals(rule: string, from: number): readonly string[] {
  const values: string[] = [];
  for (let at = from; ; at = ARGUMENT.lastIndex) {
    ARGUMENT.lastIndex = at;
    const match = ARGUMENT.exec(rule);
    if (match === null) return values;
    const [, raw, double, single, after] = match;
    values.push(raw ?? (double ?? single ?? '').replaceAll(/\\(.)/g, '$1'));
    if (after === ')') return values;
  }
}
