import { expect, test } from 'bun:test';
import { conflictOwners } from './conflict.ts';
import { KubeError, type StatusCause } from '../kube-error.ts';

function conflict(...causes: readonly StatusCause[]): KubeError {
  return new KubeError('Conflict', 'refused', { status: 409, causes });
}

function cause(message: string, field: string): StatusCause {
  return { reason: 'FieldManagerConflict', message, field };
}

test('groups the fields by owner', () => {
  const error = conflict(
    cause('conflict with "helm" using apps/v1 at 2026-01-02T03:04:05Z', '.spec.a'),
    cause('conflict with "argocd-controller"', '.spec.b'),
    cause('conflict with "helm" using apps/v1 at 2026-01-02T03:04:05Z', '.spec.c'),
  );

  expect(conflictOwners(error)).toEqual([
    { manager: 'helm', fields: ['.spec.a', '.spec.c'] },
    { manager: 'argocd-controller', fields: ['.spec.b'] },
  ]);
});

test('parses a manager name with quotes, and keeps one with an escape that only Go has', () => {
  const error = conflict(
    cause(String.raw`conflict with "the \"big\" one" with subresource "status"`, '.a'),
    cause(String.raw`conflict with "bell\a"`, '.b'),
  );

  expect(conflictOwners(error)).toEqual([
    { manager: 'the "big" one', fields: ['.a'] },
    { manager: String.raw`bell\a`, fields: ['.b'] },
  ]);
});

test('returns the whole message if its format is unknown', () => {
  expect(conflictOwners(conflict(cause('owned by helm', '.a')))).toEqual([
    { manager: 'owned by helm', fields: ['.a'] },
  ]);
});

test('returns no owners for any other error', () => {
  expect(conflictOwners(conflict())).toEqual([]);
  expect(conflictOwners(conflict({ reason: 'FieldValueInvalid', field: '.a' }))).toEqual([]);
  expect(conflictOwners(new KubeError('Invalid', 'no', { causes: [cause('x', '.a')] }))).toEqual(
    [],
  );
  expect(conflictOwners(new Error('no'))).toEqual([]);
});
