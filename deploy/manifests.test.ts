import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isSeq, parse, parseAllDocuments, type Document } from 'yaml';
import { IMAGE_NAME, USER_ID } from '../image/snicket-image.ts';
import { parseDuration } from '../src/text/duration.ts';

// Checks that an API server does not make. e2e/image.test.ts applies these files to an API server.

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

const RENEWAL = 'optional/renew-secrets.yaml';
const documents = ['namespace.yaml', 'operator.yaml', 'gateway.yaml', RENEWAL].flatMap(read);
const roles = documents.filter(({ contents }) => kindOf(contents).endsWith('Role'));
const deployments = documents.filter(({ contents }) => kindOf(contents) === 'Deployment');
const guide = readFileSync(join(import.meta.dir, '../docs/tasks/permissions.md'), 'utf8');

test('kustomization.yaml has every manifest that is not optional', () => {
  const { resources } = parse(text('kustomization.yaml')) as { resources: string[] };

  const files = readdirSync(import.meta.dir, { recursive: true, encoding: 'utf8' });
  const manifests = files.filter(
    (name) =>
      name.endsWith('.yaml') && name !== 'kustomization.yaml' && !name.startsWith('optional/'),
  );
  expect(resources.toSorted()).toEqual(manifests.toSorted());
});

describe.each(roles.map((role) => [`${kindOf(role.contents)} ${nameOf(role)}`, role] as const))(
  '%s',
  (_, role) => {
    test('gives a reason for each of its rules', () => {
      const rules = role.get('rules');
      if (!isSeq(rules)) throw new Error('no rules');

      const unexplained = rules.items.filter((rule, place) => {
        const reason = isMap(rule) ? rule.commentBefore : undefined;
        // The parser attaches the comment before the first item to the list.
        return !(place === 0 ? rules.commentBefore : reason)?.trim();
      });

      expect(unexplained.map(String)).toEqual([]);
    });

    test('has no wildcard, and no verb that allows privilege escalation', () => {
      for (const { apiGroups, resources, verbs } of rulesOf(role)) {
        const words = [...apiGroups, ...resources, ...verbs];
        expect(words.filter((word) => /\*|^(bind|escalate|impersonate)$/.test(word))).toEqual([]);
      }
    });

    test('has each of its resources in docs/tasks/permissions.md', () => {
      for (const resource of rulesOf(role).flatMap(({ resources }) => resources)) {
        expect(guide).toContain(resource);
      }
    });
  },
);

test('the gateway may only read TenantRoutes and EndpointSlices', () => {
  const rights = roles.filter((role) => nameOf(role) === 'snicket-gateway').flatMap(rulesOf);

  expect(rights).toEqual([
    { apiGroups: ['snicket.dev'], resources: ['tenantroutes'], verbs: ['get', 'list', 'watch'] },
    {
      apiGroups: ['discovery.k8s.io'],
      resources: ['endpointslices'],
      verbs: ['get', 'list', 'watch'],
    },
  ]);
});

test('the operator gets Secrets by name, and creates Secrets only in its own namespace', () => {
  const [everywhere, own] = ['ClusterRole', 'Role'].map((kind) =>
    roles
      .filter((role) => nameOf(role) === 'snicket-operator' && kindOf(role.contents) === kind)
      .flatMap(rulesOf)
      .filter(({ resources }) => resources.includes('secrets')),
  );

  expect(everywhere?.flatMap(({ verbs }) => verbs)).toEqual(['get']);
  expect(own).toEqual([
    { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
    {
      apiGroups: [''],
      resources: ['secrets'],
      resourceNames: ['snicket-gateway-keys'],
      verbs: ['get'],
    },
  ]);
});

test('the operator may delete Secrets only where a user binds the optional role', () => {
  const rights = roles
    .filter((role) => nameOf(role) === 'snicket-renew-secrets')
    .flatMap((role) => [...rulesOf(role)]);

  expect(rights).toEqual([{ apiGroups: [''], resources: ['secrets'], verbs: ['delete'] }]);
  expect(read(RENEWAL).map(({ contents }) => kindOf(contents))).toEqual(['ClusterRole']);
  expect(guide).toContain(`deploy/${RENEWAL}`);
});

describe.each(deployments.map((document) => [nameOf(document), document] as const))(
  'the pods of %s',
  (_, document) => {
    const pod = document.toJS().spec.template.spec;
    const [container] = pod.containers;

    test("run Snicket's image as its user, with minimal privileges", () => {
      expect(container.image).toBe(IMAGE_NAME);
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: USER_ID,
        runAsGroup: USER_ID,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    });

    test('have a command and flags that the program accepts', () => {
      const [role, ...flags] = container.args as [string, ...string[]];
      const main = join(import.meta.dir, '../src/main.ts');

      const help = Bun.spawnSync([process.execPath, main, role, '--help']).stdout.toString();

      expect(help).toStartWith(`Usage: snicket ${role} `);
      for (const flag of flags) expect(help).toContain(` ${flag.split('=')[0]} `);
    });

    test('have probes and resource requests', () => {
      expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'http' });
      expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
      expect(container.resources).toMatchObject({
        requests: { cpu: expect.any(String), memory: expect.any(String) },
        limits: { memory: expect.any(String) },
      });
    });
  },
);

test('the operator uses its own image for the proxies', () => {
  const [{ env }] = documentNamed('Deployment', 'snicket-operator').spec.template.spec.containers;

  expect(env).toContainEqual({ name: 'SNICKET_IMAGE', value: IMAGE_NAME });
});

describe('a gateway', () => {
  const { template } = documentNamed('Deployment', 'snicket-gateway').spec;
  const [{ args, ports, volumeMounts }] = template.spec.containers;
  const value = (flag: string): string =>
    args.find((word: string) => word.startsWith(`${flag}=`))?.slice(flag.length + 1);

  test('has a termination grace period that is long enough', () => {
    const leavingSeconds =
      (parseDuration(value('--grace')) + parseDuration(value('--drain'))) / 1000;

    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(leavingSeconds + 10);
  });

  test('listens on the ports of its Service and its probes', () => {
    const { spec } = documentNamed('Service', 'snicket-gateway');

    expect(spec.ports).toEqual([{ name: 'tls', port: 443, targetPort: 'tls' }]);
    expect(ports).toEqual([
      { name: 'tls', containerPort: Number(value('--listen').slice(1)) },
      { name: 'http', containerPort: Number(value('--http').slice(1)) },
    ]);
    expect(spec.selector).toEqual(
      documentNamed('Deployment', 'snicket-gateway').spec.selector.matchLabels,
    );
  });

  test('has its files in volumes', () => {
    const folders = volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);

    expect(folders).toContain(join(value('--key-file'), '..'));
    expect(folders).toContain(join(value('--state'), '..'));
    expect(template.spec.volumes[0].secret.secretName).toBe('snicket-gateway-keys');
  });
});

function text(name: string): string {
  return readFileSync(join(import.meta.dir, name), 'utf8');
}

function read(name: string): Document[] {
  const found = parseAllDocuments(text(name));
  if (!Array.isArray(found)) throw new Error(`${name} is empty`);
  return found;
}

function kindOf(contents: unknown): string {
  return isMap(contents) ? String(contents.get('kind')) : '';
}

function nameOf(document: Document): string {
  return String(document.getIn(['metadata', 'name']));
}

function rulesOf(role: Document): Rule[] {
  return role.toJS().rules;
}

function documentNamed(kind: string, name: string) {
  const found = documents.find((document) => {
    return kindOf(document.contents) === kind && nameOf(document) === name;
  });
  return found!.toJS();
}
