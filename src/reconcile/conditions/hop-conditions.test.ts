import { describe, expect, test } from 'bun:test';
import type { Hop } from '../../api/exposure.ts';
import type { ExposureRoutes } from '../../edges/route.ts';
import { hopResult } from '../../probe/hop.ts';
import {
  konnectivityState,
  reachableState,
  reportedHop,
  withTenantHops,
  type KnownHop,
} from './hop-conditions.ts';

function hop(name: string, state: Hop['state'], reason = `${name}${state}`): KnownHop {
  const at = '2026-11-01T00:00:00Z';
  return reportedHop({ name, state, reason, message: `Hop ${name} says.`, at });
}

const API = ['dns', 'edge', 'sni', 'certificate', 'api'];
const TARGET = { kind: 'api', host: 'a', service: 's', port: 1, portName: '' } as const;
const ROUTES: ExposureRoutes = { name: 'blue', namespace: 'tenants', api: TARGET };
const WITH_KONNECTIVITY = { ...ROUTES, konnectivity: { ...TARGET, kind: 'konnectivity' } } as const;
const plan = (routes?: ExposureRoutes) => ({ mode: 'Passthrough', routes, findings: [] }) as const;

describe('Reachable', () => {
  test('holds if every hop to the API passes, whatever the other hops report', () => {
    const hops = [...API.map((name) => hop(name, 'Pass')), hop('proxies', 'Fail')];

    expect(reachableState(hops)).toMatchObject({ status: 'True', reason: 'Reachable' });
  });

  test('is degraded where one address of several is down, and names it', () => {
    const degraded = { ...hop('edge', 'Pass', 'Degraded'), action: 'Check it.' };
    const hops = [hop('dns', 'Pass'), degraded, hop('sni', 'Pass'), hop('api', 'Pass')];

    expect(reachableState(hops)).toEqual({
      status: 'True',
      reason: 'Degraded',
      message: 'Hop edge says. Check it.',
    });
  });

  test('warns of DNS that differs from the Edge, and of a degraded edge first', () => {
    const dns = hop('dns', 'Pass', 'DnsMismatch');
    const sni = hop('sni', 'Pass', 'Degraded');

    expect(reachableState([dns, hop('api', 'Pass')])).toEqual({
      status: 'True',
      reason: 'DnsMismatch',
      message: 'Hop dns says.',
    });
    expect(reachableState([dns, sni, hop('api', 'Pass')])).toEqual({
      status: 'True',
      reason: 'Degraded',
      message: 'Hop sni says. Hop dns says.',
    });
  });

  test('names the hop that fails, with its action, and not the skipped hops', () => {
    const failed = { ...hop('edge', 'Fail', 'EdgeRefused'), action: 'Start it.' };
    const hops = [hop('dns', 'Skip'), failed, hop('sni', 'Skip'), hop('api', 'Skip')];

    expect(reachableState(hops)).toEqual({
      status: 'False',
      reason: 'EdgeRefused',
      message: 'Hop edge says. Start it.',
    });
  });

  test('names all that fail', () => {
    const hops = [hop('dns', 'Fail', 'DnsNoAnswer'), hop('certificate', 'Fail', 'TooOld')];

    expect(reachableState(hops)).toMatchObject({
      reason: 'DnsNoAnswer',
      message: 'Hop dns says. Also failing: certificate (TooOld).',
    });
  });

  test('is not known while something was skipped, or before the first probe', () => {
    expect(reachableState([hop('dns', 'Pass'), hop('api', 'Skip')]).status).toBe('Unknown');
    expect(reachableState([])).toMatchObject({ status: 'Unknown', reason: 'NotProbed' });
  });

  test('takes the results of a probe as it takes hops of a status', () => {
    const result = hopResult('api', 'ApiUnhealthy', 'x', 'api says', { host: 'x' });
    const { name, state, message, code: reason } = result;
    const reported = reportedHop({ name, state, reason, message, at: '2026-11-01T00:00:00Z' });

    expect(reachableState([result])).toMatchObject({ reason: 'ApiUnhealthy' });
    expect(reachableState([reported])).toMatchObject({ reason: 'ApiUnhealthy' });
  });
});

describe('KonnectivityReady', () => {
  test('is degraded where one address of several does not lead agents to the tenant', () => {
    const hops = [hop('konnectivity', 'Pass', 'Degraded')];

    expect(konnectivityState(plan(WITH_KONNECTIVITY), hops)).toMatchObject({
      status: 'True',
      reason: 'Degraded',
    });
  });

  test('holds where there is none', () => {
    const failed = [hop('konnectivity', 'Fail')];

    expect(konnectivityState(plan(ROUTES), failed)).toMatchObject({ reason: 'NotApplicable' });
  });

  test('fails if the spec names a port that does not exist', () => {
    expect(konnectivityState(plan(ROUTES), [], 8132)).toEqual({
      status: 'False',
      reason: 'ServiceInvalid',
      message:
        'The Service has no port 8132, which spec.controlPlane.service.konnectivityPort names.',
    });
  });

  test('is True without nodes, and says so', () => {
    const hops = [hop('konnectivity', 'Pass', 'NoNodes')];

    expect(konnectivityState(plan(WITH_KONNECTIVITY), hops)).toMatchObject({
      status: 'True',
      reason: 'NoNodes',
    });
  });

  test('is Unknown if a permission is missing, with what to do', () => {
    const forbidden = hopResult('konnectivity', 'AgentCheckForbidden', 'a', 'Forbidden.');

    expect(konnectivityState(plan(WITH_KONNECTIVITY), [forbidden])).toEqual({
      status: 'Unknown',
      reason: 'AgentCheckForbidden',
      message: `Forbidden. ${forbidden.action}`,
    });
  });

  test('is what its hop says', () => {
    const state = (...hops: readonly KnownHop[]) =>
      konnectivityState(plan(WITH_KONNECTIVITY), hops);

    expect(state().status).toBe('Unknown');
    expect(state(hop('konnectivity', 'Pass')).status).toBe('True');
    expect(state(hop('konnectivity', 'Fail'), hop('api', 'Pass')).status).toBe('False');
  });
});

describe('the hops of the tenant', () => {
  const probed = [hopResult('dns', 'Passed', 'a', 'it resolves')];

  test('come after the probed hops', () => {
    const asked = hopResult('proxies', 'NoNodes', 'b', 'no worker');

    expect(withTenantHops(probed, [asked])).toEqual([...probed, asked]);
  });

  test('say why they are not known', () => {
    expect(withTenantHops(probed, [])?.slice(1)).toMatchObject([
      { name: 'endpoints', state: 'Skip', code: 'NotObserved' },
      { name: 'proxies', state: 'Skip', code: 'NotObserved' },
    ]);
    expect(withTenantHops(undefined, [])).toBeUndefined();
  });
});
