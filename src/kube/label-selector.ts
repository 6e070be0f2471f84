/**
 * Kubernetes LabelSelectors.
 */
import type { KubeObject } from './object.ts';
import { listAt, textAt, textMapAt, textsAt } from './unstructured.ts';

/**
 * Reports whether a selector matches labels. An empty selector matches any labels. A selector with an unknown operator
 * matches none.
 */
export function selects(selector: unknown, labels: Readonly<Record<string, string>>): boolean {
  const required = [...textMapAt(selector, 'matchLabels')];
  return (
    required.every(([key, value]) => labels[key] === value) &&
    listAt(selector, 'matchExpressions').every((expression) => matches(expression, labels))
  );
}

/** Reports whether an object has all of these labels. */
export function hasLabels(
  { metadata: { labels = {} } }: Pick<KubeObject, 'metadata'>,
  expected: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(expected).every(([key, value]) => labels[key] === value);
}

/** Returns the selector as kubectl prints it: `team=a,tier in (x,y),!retired`. */
export function selectorText(selector: unknown): string {
  const labels = [...textMapAt(selector, 'matchLabels')].map(([key, value]) => `${key}=${value}`);
  return [...labels, ...listAt(selector, 'matchExpressions').map(expressionText)].join(',');
}

function expressionText(expression: unknown): string {
  const key = textAt(expression, 'key') ?? '';
  const values = `(${textsAt(expression, 'values').join(',')})`;
  switch (textAt(expression, 'operator') ?? '') {
    case 'In':
      return `${key} in ${values}`;
    case 'NotIn':
      return `${key} notin ${values}`;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return key;
  }
}

function matches(expression: unknown, labels: Readonly<Record<string, string>>): boolean {
  const value = labels[textAt(expression, 'key') ?? ''];
  const values = textsAt(expression, 'values');
  switch (textAt(expression, 'operator') ?? '') {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}
