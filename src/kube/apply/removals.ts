/**
 * The fields that an apply would remove: those in `metadata.managedFields` that this manager applied before, that are
 * no longer desired, and that have no other owner.
 */
import { APPLIED_ANNOTATION } from './needs-apply.ts';
import type { Difference } from './differences.ts';
import type { KubeObject, ManagedFields } from '../object.ts';

/** Fields in the fieldsV1 format: `f:` and a name, or an item of a list. */
type Fields = Readonly<Record<string, unknown>>;

const FIELD = 'f:';

/**
 * Returns the fields of `live` that an apply of `desired` by this manager would remove. List items are not included: a
 * list that gets shorter is a difference.
 */
export function removals(
  desired: KubeObject,
  live: KubeObject,
  manager = 'snicket',
): readonly Difference[] {
  const entries = live.metadata.managedFields ?? [];
  const isOurs = (entry: ManagedFields) =>
    entry.manager === manager && entry.operation === 'Apply' && entry.subresource === undefined;
  const others = entries.filter((entry) => !isOurs(entry)).map(({ fieldsV1 = {} }) => fieldsV1);
  const found: Difference[] = [];
  for (const { fieldsV1 = {} } of entries.filter(isOurs)) {
    collect({ owned: fieldsV1, others, desired, live, path: '' }, found);
  }
  return found.filter(({ path }) => path !== `.metadata.annotations.${APPLIED_ANNOTATION}`);
}

interface FieldPath {
  readonly owned: Fields;
  readonly others: readonly Fields[];
  readonly desired: unknown;
  readonly live: unknown;
  readonly path: string;
}

function collect({ owned, others, desired, live, path }: FieldPath, found: Difference[]): void {
  for (const [key, below] of Object.entries(owned)) {
    if (!key.startsWith(FIELD)) continue;
    const name = key.slice(FIELD.length);
    const present = fieldIn(live, name);
    if (present === undefined) continue;
    const wanted = fieldIn(desired, name);
    const field: FieldPath = {
      owned: below as Fields,
      others: others.flatMap((fields) => (key in fields ? [fields[key] as Fields] : [])),
      desired: wanted,
      live: present,
      path: `${path}.${name}`,
    };
    const isLeaf = !Object.keys(field.owned).some((child) => child.startsWith(FIELD));
    if (!isLeaf) collect(field, found);
    else if ((wanted === undefined || wanted === null) && field.others.length === 0) {
      found.push({ path: field.path, found: present });
    }
  }
}

function fieldIn(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Fields)[name];
}
