import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { withField } from '../preparation/field-path.ts';
import type { PreparationSpec } from '../preparation/preparation.ts';
import type { PreparationPlan } from '../preparation/plan-preparation.ts';
import { planProvided } from '../plan-provided.ts';
import {
  changed,
  k0smotronCluster,
  k0smotronControlPlane,
  ownerFor,
} from '../testing/provider-objects.ts';
import { isPublicEndpoint, NO_OWN_PROXY, publicEndpoint } from './patches.ts';

function specFor(host: string): PreparationSpec {
  const hosts = {
    api: `${host}.k8s.example.test`,
    konnectivity: `${host}.konnectivity.example.test`,
  };
  return { hosts, port: 443 };
}

const KINDS = [
  ['a Cluster of k0smotron', 'k0smotron', k0smotronCluster],
  ['a K0smotronControlPlane', 'capi-k0smotron', k0smotronControlPlane],
] as const;

describe.each(KINDS)('%s', (_, provider, make) => {
  const plan = (object: KubeObject, spec: PreparationSpec): PreparationPlan =>
    planProvided({ provider, objects: [object] }, spec, ownerFor('red'))[0]!;
  /** Returns the object with the fields of the plan, as if a user had written them: there is no record. */
  const pasted = (object: KubeObject, spec: PreparationSpec): KubeObject =>
    plan(object, spec).fields.reduce(
      (next, { path, wanted }) => withField(next, path, wanted),
      object,
    );

  test('prepared by the user has no previous addresses after a change of the hosts', () => {
    const ownPatch = { target: { kind: 'ConfigMap', component: 'x' }, patch: { type: 'merge' } };
    const before = pasted(changed(make('red'), { 'spec.patches': [ownPatch] }), specFor('old'));
    expect(JSON.stringify(before)).toContain('old.k8s.example.test');

    const after = pasted(before, specFor('new'));

    expect(JSON.stringify(after)).not.toContain('old.');
    expect(plan(after, specFor('new')).differing).toEqual([]);
    expect(after).toMatchObject({
      spec: {
        externalAddress: 'new.k8s.example.test',
        patches: [ownPatch, NO_OWN_PROXY, publicEndpoint('new.k8s.example.test', 443)],
      },
    });
  });

  test('with the endpoints of two hosts is rejected', () => {
    const patches = ['old', 'older'].map((host) => publicEndpoint(host, 443));

    const { findings } = plan(changed(make('red'), { 'spec.patches': patches }), specFor('new'));

    expect(findings.map(({ code }) => code)).toEqual(['FieldInvalid']);
  });

  test('replaces an external address that is a previous host of the Exposure', () => {
    const object = changed(make('red'), { 'spec.externalAddress': 'old.k8s.example.test' });
    const previousHosts = ['old.k8s.example.test'];

    const { fields, findings } = plan(object, { ...specFor('new'), previousHosts });

    expect(findings).toEqual([]);
    expect(fields.find(({ path }) => path.at(-1) === 'externalAddress')?.wanted).toBe(
      'new.k8s.example.test',
    );
  });

  test('keeps another external address, and reports it', () => {
    const object = changed(make('red'), { 'spec.externalAddress': '203.0.113.1' });

    const { fields, findings } = plan(object, specFor('new'));

    expect(fields.map(({ path }) => path.at(-1))).not.toContain('externalAddress');
    expect(findings).toMatchObject([
      {
        code: 'HostMismatch',
        severity: 'warning',
        message: expect.stringContaining('is 203.0.113.1 instead of new.k8s.example.test'),
        action: 'Set it to new.k8s.example.test, unless the CNI should keep using that address.',
      },
    ]);
  });
});

describe('the patch with the public endpoint', () => {
  const written = publicEndpoint('a.example.test', 8443);

  test('is recognized for any host, and with its fields in another order', () => {
    const { patch, target } = written;

    expect(isPublicEndpoint(written)).toBe(true);
    expect(isPublicEndpoint({ patch, target })).toBe(true);
  });

  test.each([
    ['for something else', { ...written, target: { kind: 'ConfigMap', component: 'other' } }],
    ['with additional content', changed(written, { 'patch.content': `${written.patch.content} ` })],
    ['without content', { target: written.target }],
    ['that is invalid', 'apiServerHost: a'],
    ['that disables the proxy', NO_OWN_PROXY],
  ])('is not recognized %s', (_, entry) => {
    expect(isPublicEndpoint(entry)).toBe(false);
  });
});
