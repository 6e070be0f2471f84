/**
 * JSON merge patch (RFC 7386), and JSON patch (RFC 6902) without copy and move.
 */
import { badRequest, ApiFailure } from './api-failure.ts';
import { isObject, isSameJson, type JsonObject } from './json.ts';

/** Applies a merge patch: null removes a field, and lists are replaced. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else merged[field] = mergePatch(merged[field], value);
  }
  return merged;
}

/** Applies all operations of a JSON patch, or none. */
export function jsonPatch(target: JsonObject, patch: unknown): unknown {
  if (!Array.isArray(patch)) throw badRequest('a JSON patch is a list of operations');
  return patch.reduce<unknown>((value, operation) => operate(value, operation), target);
}

function operate(target: unknown, operation: unknown): unknown {
  const { op, path, value } = isObject(operation) ? operation : {};
  if (typeof path !== 'string') throw badRequest('an operation of a JSON patch needs a path');
  const at = pointer(path);
  switch (op) {
    case 'test':
      if (isSameJson(valueAt(target, at), value)) return target;
      throw unprocessable(`testing value ${path} failed`);
    case 'add':
      return changed(target, at, { kind: 'add', value });
    case 'replace':
      return changed(target, at, { kind: 'replace', value });
    case 'remove':
      return changed(target, at, { kind: 'remove' });
    default:
      throw badRequest(`unexpected operation '${String(op)}' in a JSON patch`);
  }
}

type Change =
  | { readonly kind: 'add' | 'replace'; readonly value: unknown }
  | { readonly kind: 'remove' };

/** Returns a copy of the target with one change. */
function changed(target: unknown, [step, ...rest]: readonly string[], change: Change): unknown {
  if (step === undefined) return change.kind === 'remove' ? null : change.value;
  if (Array.isArray(target)) {
    const items: readonly unknown[] = target;
    const index = step === '-' ? items.length : Number(step);
    const isAdd = rest.length === 0 && change.kind === 'add';
    if (!Number.isInteger(index) || index < 0 || index >= items.length + (isAdd ? 1 : 0)) {
      throw unprocessable(`there is no item ${step} in the list`);
    }
    if (rest.length > 0) return items.with(index, changed(items[index], rest, change));
    if (change.kind === 'replace') return items.with(index, change.value);
    if (change.kind === 'add') return items.toSpliced(index, 0, change.value);
    return items.toSpliced(index, 1);
  }
  if (!isObject(target)) throw unprocessable(`there is nothing that could hold ${step}`);
  if (rest.length > 0) return { ...target, [step]: changed(target[step], rest, change) };
  if (change.kind === 'add') return { ...target, [step]: change.value };
  if (!(step in target)) throw unprocessable(`there is no ${step}`);
  if (change.kind === 'replace') return { ...target, [step]: change.value };
  return Object.fromEntries(Object.entries(target).filter(([field]) => field !== step));
}

function valueAt(target: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, step) => {
    if (Array.isArray(value)) return (value as readonly unknown[])[Number(step)];
    return isObject(value) ? value[step] : undefined;
  }, target);
}

function pointer(path: string): readonly string[] {
  if (path === '') return [];
  if (!path.startsWith('/')) throw badRequest(`'${path}' is not a JSON pointer`);
  return path
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function unprocessable(message: string): ApiFailure {
  return new ApiFailure(
    422,
    'Invalid',
    `the server rejected our request due to an error in our request: ${message}`,
  );
}
