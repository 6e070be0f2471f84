/**
 * Label and field selectors.
 */
import type { KubeObject } from '../object.ts';
import { badRequest } from './api-failure.ts';

/** Reports whether an object is selected. */
export type Selector = (object: KubeObject) => boolean;

const SET_REQUIREMENT = /^(!?)([^\s=!]+)(?:\s+(in|notin)\s*\(([^)]*)\))?$/;
const EQUALITY = /^([^\s=!]+)\s*(==|=|!=)\s*(.*)$/;

/** Parses a label selector: `app=x,tier!=y,key,!key,key in (a,b)`. */
export function labelSelector(text: string): Selector {
  const requirements = split(text).map(labelRequirement);
  return ({ metadata: { labels = {} } }) => requirements.every((holds) => holds(labels));
}

type Labels = Readonly<Record<string, string>>;

function labelRequirement(text: string): (labels: Labels) => boolean {
  const [, key = '', operator, value = ''] = EQUALITY.exec(text) ?? [];
  if (operator === '!=') return (labels) => labels[key] !== value;
  if (operator !== undefined) return (labels) => labels[key] === value;
  const [, not, name, word, list = ''] = SET_REQUIREMENT.exec(text) ?? [];
  if (name === undefined) throw badRequest(`unable to parse requirement: '${text}'`);
  if (word === undefined) return (labels) => name in labels === (not === '');
  const values = list.split(',').map((item) => item.trim());
  return (labels) => {
    const found = labels[name];
    return (found !== undefined && values.includes(found)) === (word === 'in');
  };
}

/** Parses a field selector: `metadata.name=x`, `metadata.namespace!=y`. */
export function fieldSelector(text: string): Selector {
  const requirements = split(text).map((requirement) => {
    const [, field, operator, value] = EQUALITY.exec(requirement) ?? [];
    if (field !== 'metadata.name' && field !== 'metadata.namespace') {
      throw badRequest(`field label not supported: ${field ?? requirement}`);
    }
    return ({ metadata: { name, namespace = '' } }: KubeObject) =>
      ((field === 'metadata.name' ? name : namespace) === value) === (operator !== '!=');
  });
  return (object) => requirements.every((holds) => holds(object));
}

/** Splits at commas outside of parentheses. */
function split(text: string): readonly string[] {
  return text
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
