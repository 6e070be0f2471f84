import { expect, test } from 'bun:test';
import type { FindingCode } from '../../api/finding-codes/catalog.ts';
import { KubeError } from '../../kube/kube-error.ts';
import { TenantNotOwned } from './ownership/owned-client.ts';
import type { TenantLink } from './link/tenant-link.ts';
import { TenantNotInitialized } from './tenant-facts.ts';
import { tenantFault } from './tenant-fault.ts';

const SERVER = 'https://tenant.test:6443';
const LINK = { client: { server: SERVER } } as Pick<TenantLink, 'client'>;
const IN_TIME = new AbortController().signal;

test.each<[FindingCode, Error]>([
  ['TenantForbidden', new KubeError('Forbidden', '403: not allowed')],
  ['TenantRejected', new KubeError('Invalid', '422: policy')],
  ['TenantUnreachable', new KubeError('Unreachable', 'connection refused')],
  ['TenantNotInitialized', new TenantNotInitialized(SERVER)],
  ['TenantOwnedElsewhere', new TenantNotOwned(SERVER)],
  ['InternalError', new TypeError('undefined is not an object')],
])('an error with the code %s', (code, error) => {
  const fault = tenantFault(LINK, error, IN_TIME);

  expect(fault.code).toBe(code);
  expect(fault.message).toContain(SERVER);
  expect(fault.message).toContain(error.message);
});

test('an error after the timeout means that the tenant does not answer', () => {
  const fault = tenantFault(LINK, new TypeError('aborted'), AbortSignal.abort());

  expect(fault.code).toBe('TenantUnreachable');
  expect(fault.message).toEndWith('timeout.');
});
