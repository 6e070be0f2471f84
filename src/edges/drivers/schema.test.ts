/** Validates the objects against the CRDs of the controllers, where these are available. */
import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { driverFor } from '../driver-for.ts';
import { BLUE, edge, serving, SPECS } from '../testing/blue.ts';
import { schemaFaults, type Schema } from '../testing/schema.ts';

/** A folder with CRDs, named GROUP_PLURAL.yaml. */
const FOLDER =
  process.env.SNICKET_CRDS ?? resolve(import.meta.dir, '../../../..', 'shared', 'crds');

interface Definition {
  readonly spec: {
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
}

/** Edges that use every option of their driver. */
const FULL = {
  'nginx-inc': {
    driver: 'nginx-inc',
    ingress: { className: 'nginx-inc', annotations: { 'example.net/owner': 'platform' } },
  },
  traefik: { driver: 'traefik', traefik: { entryPoints: ['a', 'b'], ingressClassName: 'edge' } },
  'gateway-api': {
    driver: 'gateway-api',
    gatewayApi: {
      parentRefs: [
        { namespace: 'edge', name: 'shared', sectionName: 'tls', port: 443 },
        { namespace: 'edge', name: 'second' },
      ],
    },
  },
} as const;

describe.each([
  ['nginx-inc', 'v1', 'k8s.nginx.org_transportservers.yaml'],
  ['traefik', 'v1alpha1', 'traefik.io_ingressroutetcps.yaml'],
  ['gateway-api', 'v1', 'gateway.networking.k8s.io_tlsroutes.yaml'],
  ['gateway-api', 'v1alpha3', 'experimental/gateway.networking.k8s.io_tlsroutes.yaml'],
  ['gateway-api', 'v1alpha2', 'experimental/gateway.networking.k8s.io_tlsroutes.yaml'],
] as const)(
  'an object of %s is valid for the CRD of its controller: %s',
  (driver, version, file) => {
    const path = join(FOLDER, file);

    test.skipIf(!existsSync(path))(file, () => {
      const { spec } = parse(readFileSync(path, 'utf8')) as Definition;
      const schema = spec.versions.find(({ name }) => name === version)?.schema.openAPIV3Schema;
      const { requires } = driverFor(driver);
      const apiVersion = requires.find((resource) => resource.apiVersion.endsWith(`/${version}`));

      for (const desired of [SPECS[driver], FULL[driver]]) {
        const served = serving(apiVersion?.apiVersion ?? '');
        const objects = driverFor(driver).objects(BLUE, edge(desired), served);

        expect(objects).not.toBeEmpty();
        for (const object of objects) expect(schemaFaults(schema ?? {}, object)).toEqual([]);
      }
    });
  },
);

test('an invalid object is rejected', () => {
  const schema: Schema = {
    type: 'object',
    required: ['host'],
    properties: {
      host: { type: 'string', pattern: '^[a-z.]+$', maxLength: 5 },
      port: { 'x-kubernetes-int-or-string': true },
      mode: { type: 'string', enum: ['a'] },
      rules: { type: 'array', maxItems: 1, items: { type: 'integer', minimum: 1, maximum: 9 } },
    },
  };

  expect(schemaFaults(schema, { host: 'a.b', port: 'x', mode: 'a', rules: [3] })).toEqual([]);
  expect(
    schemaFaults(schema, { host: 'A.example', port: true, mode: 'b', rules: [0, 1.5], x: 1 }),
  ).toEqual([
    '.host does not match ^[a-z.]+$',
    '.host is longer than 5',
    '.port is not a number or string',
    '.mode is not one of a',
    '.rules has more than 1 items',
    '.rules[0] is less than 1',
    '.rules[1] is not an integer',
    '.x is not defined',
  ]);
  expect(schemaFaults(schema, {})).toEqual(['.host is missing']);
});
