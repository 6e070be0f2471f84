/**
 * Hosts in the rules of Traefik.
 */

/** Returns the rule for one host. */
export function hostSniRule(host: string): string {
  return `HostSNI(\`${host}\`)`;
}

/** A matcher in a rule: `HostSNI(...)`, `HostSNIRegexp(...)`. */
interface HostMatcher {
  readonly isRegexp: boolean;
  readonly values: readonly string[];
}

const MATCHER = /(!\s*)?\bHostSNI(Regexp)?\s*\(/gi;
/** A string literal, and the character after it. */
const ARGUMENT = /\s*(?:`([^`]*)`|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*([,)])/y;

/**
 * Returns the host matchers of a rule, without negated ones. Other matchers in the rule, such as `&& ClientIP(...)`,
 * restrict a claim and do not remove it.
 */
export function hostMatchers(rule: string): readonly HostMatcher[] {
  const found: HostMatcher[] = [];
  for (const match of rule.matchAll(MATCHER)) {
    const [text, negation, regexp] = match;
    if (negation !== undefined) continue;
    found.push({
      isRegexp: regexp !== undefined,
      values: literals(rule, match.index + text.length),
    });
  }
  return found;
}

/**
 * Returns the priority of a rule. Traefik evaluates the higher one first. The default is the length of the rule, and -1
 * for a catch-all rule.
 */
export function rulePriority(rule: string, priority: number | undefined): number {
  // Zero selects the default.
  if (priority !== undefined && priority !== 0) return priority;
  return /^\s*HostSNI\s*\(\s*[`"']\*[`"']\s*\)\s*$/i.test(rule) ? -1 : Buffer.byteLength(rule);
}

/**
 * Reports whether a regular expression may match a name, by comparing its end if that is plain text. The expression is
 * never evaluated: it comes from a foreign object and is meant for Go's linear-time engine, and JavaScript's engine can
 * backtrack without end.
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
