/**
 * A LabelSelector, as Kubernetes defines it.
 */
import { listAt, textAt, textMapAt, textsAt } from '../../kube/unstructured.ts';

/** Whether labels are as a selector wants them. An empty selector takes any; one that we do not understand none. */
export function selects(selector: unknown, labels: Readonly<Record<string, string>>): boolean {
  const wanted = [...textMapAt(selector, 'matchLabels')];
  return (
    wanted.every(([key, value]) => labels[key] === value) &&
    listAt(selector, 'matchExpressions').every((expression) => holds(expression, labels))
  );
}

function holds(expression: unknown, labels: Readonly<Record<string, string>>): boolean {
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
