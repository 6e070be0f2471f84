/** The commands and examples in the documents work on real Kubernetes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { normalized } from '../scripts/docs/documented-output.ts';
import { INSPECTION_PAGES } from '../scripts/docs/kubectl-pages.ts';
import { parsePage, type CodeBlock } from '../scripts/docs/pages.ts';
import type { KubeObject } from '../src/kube/object.ts';
import { smallDefinitions } from '../src/providers/testing/definitions.ts';
import type { Cluster } from '../world/cluster/cluster.ts';
import { run } from '../world/machine/command.ts';
import { program } from '../world/parts/parts.ts';
import { silentProgress, terminalProgress } from '../world/parts/progress.ts';
import { installDefinitions, parseDefinition } from '../world/providers/definitions.ts';
import { repository } from '../world/repository.ts';
import { API_PORT, KONNECTIVITY_PORT } from '../world/spec.ts';
import { waitFor } from '../world/wait.ts';
import { World, type NetworkHost } from '../world/world.ts';
import {
  EDGE_ADDRESS,
  simulateLoadBalancer,
  pointToEdge,
  restartAgents,
} from './installed-snicket.ts';
import { createWithProvider } from './simulated-provider.ts';
import { snicketImage } from './snicket-image.ts';

function blocksOf(path: string): readonly CodeBlock[] {
  return parsePage(path, readFileSync(join(repository, path), 'utf8')).blocks;
}

describe('docs/world.md', () => {
  const blocks = blocksOf('docs/world.md');

  test('its example of a test runs', async () => {
    const example = blocks.find(({ language }) => language === 'ts')?.text;
    // Beside e2e/, so that the example's relative imports resolve.
    const script = join(repository, 'build', 'example.ts');
    mkdirSync(join(script, '..'), { recursive: true });
    writeFileSync(script, `${example}\nconsole.log('done');\n`);

    const { stdout } = await run([process.execPath, script], { timeoutMs: 300_000 });

    expect(stdout).toBe('done\n');
  });

  test('its commands install Snicket in a world', async () => {
    const first = blocks.findIndex(({ text }) => text.startsWith('make image\n'));
    const scripts = blocks.slice(first).filter(({ language }) => language === 'sh');
    const up = await run([join(repository, 'world', 'world'), 'up', '--tenants=a', '--keep'], {
      timeoutMs: 300_000,
    });
    const [, id = ''] = /^World (\w+) is up/m.exec(up.stdout) ?? [];
    try {
      const archive = await snicketImage(silentProgress);
      const commands = scripts
        .map(({ text }) => `${text}\n`)
        .join('')
        .replaceAll(/^make .*\n/gm, '') // the test has run these already
        .replaceAll('dist/snicket-image.tar', archive)
        // Repeats it as a user would: konnectivity agents reconnect with a back-off.
        .replace(/^ *world.* snicket doctor -A$/m, "timeout 100 sh -c 'until $&; do sleep 1; done'")
        .replaceAll(/world\/world (kubectl|exec|image load|dns set)/g, `$& --world=${id}`)
        .replaceAll('world/world', join(repository, 'world', 'world'))
        .replaceAll('-k deploy', `-k ${join(repository, 'deploy')}`)
        .replaceAll('a.yaml', join(repository, 'build', 'a.yaml'));

      const { stdout } = await run(['sh', '-euc', commands], { timeoutMs: 300_000 });

      expect(stdout).toContain('"gitVersion": "v1.36');
      expect(stdout).toContain('1 Exposure: 0 Fail, 0 Warn, 8 Pass, 1 Skip');
    } finally {
      await run([join(repository, 'world', 'world'), 'down', id]);
    }
  });
});

describe('docs/quick-start.md', () => {
  const blocks = blocksOf('docs/quick-start.md');
  /** A machine in the network of the world, with the programs and the folder of the user. */
  let laptop: NetworkHost;
  let folder: string;
  let world: World;

  beforeAll(async () => {
    const progress = terminalProgress();
    // The certificate of this tenant has the hosts that Snicket derives from namespace and name.
    // Kamaji also adds the name of its Service.
    const blue = { certificateNames: ['blue.tenants.svc'] };
    world = await World.start({ tenants: { 'tenants-blue': blue } }, { progress });
    laptop = await world.addHost('laptop');
    await createControlPlane(world);
    await world.importImage(await snicketImage(progress));
    folder = mkdtempSync(join(tmpdir(), 'quick-start-'));
    symlinkSync(join(repository, 'deploy'), join(folder, 'deploy'));
    for (const name of ['snicket', 'kubectl-snicket']) {
      symlinkSync(join(repository, 'snicket'), join(folder, name));
    }
    symlinkSync(program('kubectl'), join(folder, 'kubectl'));
  });

  afterAll(async () => {
    await world?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true });
  });

  /** Runs a script of the page. */
  async function shell(script: string): Promise<string> {
    const actual = script
      .replaceAll('example.com', world.plan.domain)
      .replaceAll('203.0.113.10', EDGE_ADDRESS);
    const { stdout } = await laptop.host.exec(
      ['sh', '-euc', `exec 2>&1; cd ${folder}; ${actual}`],
      {
        env: {
          PATH: `${folder}:${process.env['PATH']}`,
          HOME: folder,
          KUBECONFIG: world.management.controlPlane.kubeconfig,
        },
        timeoutMs: 300_000,
      },
    );
    return stdout;
  }

  const isCleanup = ({ text }: CodeBlock) => text.startsWith('kubectl delete exposure ');

  test('its commands work in their order, with the documented output', async () => {
    const tenant = world.tenant('tenants-blue');
    const steps = blocks.filter(
      (block) => /^(?:sh|text|yaml)$/.test(block.language) && !isCleanup(block),
    );
    // The world has no registry: its nodes import the image.
    expect(steps[0]?.text).toStartWith('make build image\n');
    let output = '';
    for (const { language, text } of steps.slice(2)) {
      if (language === 'yaml') {
        writeFileSync(join(folder, 'edge.yaml'), text.replace('example.com', world.plan.domain));
      } else if (language === 'text') {
        expectSameRows(output, text);
      } else {
        for (const command of text.split('\n')) output = await runStep(command, tenant);
      }
    }
  });

  /** Runs a command of the page, and does what the text around it asks the user to do. */
  async function runStep(command: string, tenant: Cluster): Promise<string> {
    if (command === 'snicket status') {
      // The operator needs a moment to observe the Edge.
      const ready = async () => shell(command).catch(() => undefined);
      const output = await waitFor('the Edge is Ready', ready, { deadlineMs: 60_000 });
      pointToEdge(world, tenant);
      return output ?? '';
    }
    if (command.startsWith('snicket expose ')) {
      const output = await shell(exposeCommand());
      await restartAgents(tenant);
      await tenant.kubectl('run', 'hello', '--image=snicket.test/tools:1');
      await tenant.kubectl('wait', '--for=condition=Ready', '--timeout=100s', 'pod/hello');
      return output;
    }
    const output = await shell(command);
    if (command.endsWith('deployment/snicket-gateway'))
      await simulateLoadBalancer(world.management);
    if (command.includes('exec hello')) expect(output).toContain('"gitVersion": "v1.36');
    return output;
  }

  /** Runs the kubectl commands of a page. */
  async function runKubectlCommands(page: string): Promise<void> {
    const commands = blocksOf(page)
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text }) => text.replaceAll(/\\\n */g, '').split('\n'))
      .filter((line) => line.startsWith('kubectl '));
    for (const command of commands) await shell(command);
    expect(commands).not.toEqual([]);
  }

  test.each(INSPECTION_PAGES)('the kubectl commands of %s work afterwards', runKubectlCommands);

  test('its last command removes everything from the tenant', async () => {
    await shell(blocks.find(isCleanup)?.text ?? '');

    const tenant = world.tenant('tenants-blue');
    expect(await world.management.get('exposure', 'blue', 'tenants')).toBeUndefined();
    expect(await tenant.get('daemonset', 'snicket-proxy', 'kube-system')).toBeUndefined();
  });

  test('the commands of docs/tasks/uninstall.md remove Snicket', async () => {
    await runKubectlCommands('docs/tasks/uninstall.md');

    expect(await world.management.get('namespace', 'snicket-system')).toBeUndefined();
  });

  /** Returns the command that the page shows for running without prompts. */
  function exposeCommand(): string {
    const page = readFileSync(join(repository, 'docs/quick-start.md'), 'utf8');
    const [, command] = /skip the prompts, run `([^`]+)`/.exec(page) ?? [];
    if (command === undefined) throw new Error('the page has no command without prompts');
    return command;
  }
});

/** Expects that each line begins with the same word as some documented line. */
function expectSameRows(output: string, documented: string): void {
  const rows = (text: string) =>
    normalized(text)
      .split('\n')
      .flatMap((line) => /^ ?(\S+)/.exec(line)?.[1] ?? []);
  const known = new Set(rows(documented));
  expect(rows(output)).not.toEqual([]);
  // The control plane on the page has no konnectivity. This one does, because kubectl exec requires it.
  expect(rows(output).filter((row) => !known.has(row) && row !== 'Konnectivity')).toEqual([]);
}

/** Creates Kamaji's TenantControlPlane `tenants/blue`. Its API server is that of a tenant in the world. */
async function createControlPlane(world: World): Promise<void> {
  const { management } = world;
  const { controlPlane, plan } = world.tenant('tenants-blue');
  const definitions = smallDefinitions().map((path) => readFileSync(path, 'utf8'));
  await installDefinitions(management, definitions.map(parseDefinition));
  const [manifest] = blocksOf('docs/tasks/providers/kamaji.md');
  const { metadata, ...object } = parse(manifest?.text ?? '') as KubeObject;
  const { name, namespace = '' } = metadata;
  await management.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await createWithProvider(
    management,
    { ...object, metadata: { name, namespace } },
    {
      certificate: controlPlane.authority.certificate,
      key: controlPlane.authority.key,
      kubeconfig: () => controlPlane.kubeconfigFor(`https://${plan.hosts.api}:443`),
    },
  );
  await management.apply({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    addressType: 'IPv4',
    metadata: {
      name: `${name}-1`,
      namespace,
      labels: { 'kubernetes.io/service-name': name },
    },
    ports: [
      { name: 'kube-apiserver', port: API_PORT, protocol: 'TCP' },
      { name: 'konnectivity-server', port: KONNECTIVITY_PORT, protocol: 'TCP' },
    ],
    endpoints: [{ addresses: [plan.address], conditions: { ready: true } }],
  });
}
