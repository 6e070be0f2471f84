/**
 * Checks the written paths, and the objects of the tests, against the CRDs of the providers, where these are available.
 */
import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { listAt, textAt, valueAt } from '../kube/unstructured.ts';
import type { KubeObject } from '../kube/object.ts';
import { groupOf } from '../kube/resource.ts';
import { pathText, type Preparation } from './preparation/preparation.ts';
import { providerFor } from './provider-for.ts';
import {
  capiCluster,
  changed,
  clusterDeployment,
  k0smotronCluster,
  k0smotronControlPlane,
  readyTenantControlPlane,
} from './testing/provider-objects.ts';

const FOLDER = join(import.meta.dir, '..', '..', '..', 'shared', 'crds');

const FILES: Readonly<Record<string, string>> = {
  'kamaji.clastix.io': 'kamaji.clastix.io_tenantcontrolplanes.yaml',
  'steward.butlerlabs.dev': 'steward.butlerlabs.dev_tenantcontrolplanes.yaml',
  'k0smotron.io': 'k0smotron.io_clusters.yaml',
  'controlplane.cluster.x-k8s.io': 'controlplane.cluster.x-k8s.io_k0smotroncontrolplanes.yaml',
  'cluster.x-k8s.io': 'cluster.x-k8s.io_clusters.yaml',
  'k0rdent.mirantis.com': 'k0rdent.mirantis.com_clusterdeployments.yaml',
};

const SPEC = {
  hosts: { api: 'blue.k8s.example.test', konnectivity: 'blue.konnectivity.example.test' },
  port: 443,
};

function fileOf({ apiVersion }: KubeObject): string {
  return join(FOLDER, FILES[groupOf(apiVersion)] ?? 'none');
}

const definitions = new Map<string, unknown>();

/** Returns the schema of an object's version. */
function schemaOf(object: KubeObject): unknown {
  const file = fileOf(object);
  // Some files have half a megabyte.
  if (!definitions.has(file)) definitions.set(file, parse(readFileSync(file, 'utf8')));
  const definition = definitions.get(file);
  const version = listAt(definition, 'spec', 'versions').find(
    (version) => textAt(version, 'name') === object.apiVersion.split('/')[1],
  );
  return valueAt(version, 'schema', 'openAPIV3Schema');
}

/** Returns the schema of a field; `free` if the CRD accepts anything. */
function fieldSchema(schema: unknown, path: readonly string[]): unknown {
  let at = schema;
  for (const name of path) {
    const below = valueAt(at, 'properties', name);
    if (below === undefined) {
      const isFree =
        valueAt(at, 'x-kubernetes-preserve-unknown-fields') === true ||
        valueAt(at, 'additionalProperties') !== undefined;
      return isFree ? 'free' : undefined;
    }
    at = below;
  }
  return at;
}

function preparationOf(object: KubeObject): Preparation {
  const [preparation] = providerFor(object)?.prepare([object], SPEC) ?? [];
  if (preparation === undefined) throw new Error('every object of a provider can be prepared');
  return preparation;
}

const PREPARED = [
  readyTenantControlPlane('kamaji', 'blue'),
  readyTenantControlPlane('steward', 'blue'),
  k0smotronCluster('blue'),
  changed(k0smotronCluster('blue'), { apiVersion: 'k0smotron.io/v1beta1' }),
  k0smotronControlPlane('blue'),
  clusterDeployment('blue', 'openstack-hosted-cp-1-0-40'),
].map((object) => [`${object.apiVersion} ${object.kind}`, object] as const);

/** Without the older version, in which some fields have other names. */
const WHOLE = [
  ...PREPARED.filter(([name]) => !name.startsWith('k0smotron.io/v1beta1')),
  ['cluster.x-k8s.io/v1beta2 Cluster', capiCluster('blue')] as const,
];

describe.skipIf(!existsSync(FOLDER))("the providers' definitions", () => {
  test.each(PREPARED)('have every field that Snicket writes: %s', (_, object) => {
    const schema = schemaOf(object);

    for (const desired of preparationOf(object).fields) {
      const field = fieldSchema(schema, desired.path);
      expect([pathText(desired.path), field]).not.toEqual([pathText(desired.path), undefined]);
      if (field === 'free') continue;
      const type = 'value' in desired ? typeof desired.value : 'array';
      expect(textAt(field, 'type')?.replace('integer', 'number')).toBe(type);
      // A list that the API server merges by item would need another kind of apply.
      if (type === 'array') {
        expect(textAt(field, 'x-kubernetes-list-type') ?? 'atomic').toBe('atomic');
      }
    }
  });

  test.each(WHOLE)('have every field of the objects in tests: %s', (_, object) => {
    const schema = schemaOf(object);
    const unknown: string[] = [];
    const walk = (value: unknown, at: unknown, path: string): void => {
      if (at === 'free' || at === undefined) {
        if (at === undefined) unknown.push(path);
        return;
      }
      if (Array.isArray(value)) {
        for (const item of value) walk(item, valueAt(at, 'items'), `${path}[]`);
      } else if (typeof value === 'object' && value !== null) {
        for (const [name, child] of Object.entries(value)) {
          walk(child, fieldSchema(at, [name]), `${path}.${name}`);
        }
      }
    };

    for (const part of ['spec', 'status']) {
      walk(valueAt(object, part), fieldSchema(schema, [part]), part);
    }

    expect(unknown).toEqual([]);
  });
});
