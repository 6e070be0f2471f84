/**
 * For tests only: the clusters of most pages, with `tenants/blue`, and `tenants/red`, whose konnectivity does not work.
 */
import { stringify } from 'yaml';
import type { Transcript } from '../../../src/cli/testing/snicket.ts';
import { RESOURCES } from '../../../src/kube/resource.ts';
import type { OperatorLab } from '../../../src/operator/testing/operator-lab.ts';
import { PROXY } from '../../../src/tenant/proxy-names.ts';
import type { DocumentedCommand } from '../documented-commands.ts';
import { documentedFiles, yamlOf } from './documented-files.ts';
import { IS_DEFAULT, startOperatorSite } from './operator-site.ts';
import { PageTerminal } from './page-terminal.ts';
import { ServiceTenant } from './service-tenant.ts';
import { edgeSubstitutions, type DocumentedDns, type Site } from './site.ts';

/** Replaces the names on pages that describe a migration. */
const WORDS = { apezzuto: 'tenants', 'tenant-00': 'blue', 'tenant-01': 'blue' };

/** A management cluster with two tenants. */
export class TenantsSite implements Site {
  readonly #stack = new AsyncDisposableStack();
  readonly #dns: DocumentedDns;
  readonly #lab: OperatorLab;
  readonly #blue: ServiceTenant;
  #page = '';

  private constructor(
    dns: DocumentedDns,
    lab: OperatorLab,
    [blue, red]: readonly [ServiceTenant, ServiceTenant],
  ) {
    this.#dns = dns;
    this.#lab = this.#stack.use(lab);
    this.#blue = this.#stack.use(blue);
    this.#stack.use(red);
  }

  static async start(dns: DocumentedDns): Promise<TenantsSite> {
    const lab = await startOperatorSite();
    const blue = await ServiceTenant.start(lab, 'blue', true);
    return new TenantsSite(dns, lab, [blue, await ServiceTenant.start(lab, 'red', false)]);
  }

  open(page: string): PageTerminal {
    const { certificate, apiPort } = this.#blue;
    return new PageTerminal({
      server: this.#lab.management,
      substitutions: [
        ...edgeSubstitutions(this.#lab.gateway?.port),
        ['/etc/kubernetes/pki/ca.crt', 'ca.crt'],
        ['port 6443', `port ${apiPort}`],
      ],
      words: WORDS,
      files: {
        'edge.yaml': yamlOf('docs/tasks/expose.md', 'Edge'),
        'blue.yaml': this.#changedExposure(),
        'ca.crt': certificate,
        'master.key': Buffer.alloc(32, 7).toString('base64'),
        ...documentedFiles(page),
      },
    });
  }

  async run(command: DocumentedCommand, terminal: PageTerminal): Promise<Transcript> {
    const { page, words } = command;
    if (page !== this.#page) await this.#prepare(page);
    this.#page = page;
    if (words.includes('--watch')) return terminal.interrupt(words, 'Exposure tenants/red');
    const objects = ['Edge', 'Exposure'].map((kind) => yamlOf('docs/tasks/expose.md', kind));
    return terminal.run(words, words.includes('-') ? objects.join('\n---\n') : '');
  }

  /** Prepares the state of a page. Once a page has stopped the operator, it stays stopped. */
  async #prepare(page: string): Promise<void> {
    if (page !== 'docs/tasks/dns.md' && page !== 'docs/tasks/diff.md') return;
    await this.#lab.stopOperator();
    if (page === 'docs/tasks/dns.md') {
      const addresses = ['127.0.0.1', '2001:db8::10'];
      await this.#lab.applyEdge({ addresses }, 'shared', IS_DEFAULT);
      this.#dns.missing = /^tenants-blue\.konnectivity\./;
    } else {
      await this.#drift();
    }
  }

  /** Makes changes that the operator would revert. */
  async #drift(): Promise<void> {
    await this.#lab.applyEdge({}, 'shared', IS_DEFAULT);
    const [route] = this.#lab
      .tenantRoutes()
      .filter(({ spec }) => spec.host.startsWith('tenants-blue.k8s.'));
    if (route === undefined) throw new Error('tenants/blue has no TenantRoute');
    await this.#lab.user.delete(RESOURCES.tenantRoute, route.metadata);
    const slice = { namespace: 'default', name: 'kubernetes' };
    const endpoints = [{ addresses: ['192.0.2.1'] }];
    await this.#blue.drift(RESOURCES.endpointSlice, slice, { endpoints });
    const spec = { template: { spec: { nodeSelector: { gpu: 'yes' } } } };
    await this.#blue.drift(RESOURCES.daemonSet, PROXY, { spec });
  }

  /** The Exposure `tenants/blue` with a node selector. */
  #changedExposure(): string {
    const { apiVersion, kind, metadata, spec } = this.#lab.exposure('blue') as unknown as {
      readonly apiVersion: string;
      readonly kind: string;
      readonly metadata: { readonly name: string; readonly namespace: string };
      readonly spec: object;
    };
    const { name, namespace } = metadata;
    const worker = { nodeSelector: { gpu: 'yes' } };
    return stringify({
      apiVersion,
      kind,
      metadata: { name, namespace },
      spec: { ...spec, worker },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
