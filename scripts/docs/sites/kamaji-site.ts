/** For tests only: the clusters of the quick start, with two TenantControlPlanes of Kamaji. */
import type { Transcript } from '../../../src/cli/testing/snicket.ts';
import { RESOURCES } from '../../../src/kube/resource.ts';
import type { OperatorLab } from '../../../src/operator/testing/operator-lab.ts';
import { addKamaji } from '../../../src/operator/testing/provided-lab.ts';
import type { DocumentedCommand } from '../documented-commands.ts';
import { startOperatorSite } from './operator-site.ts';
import { PageTerminal } from './page-terminal.ts';
import { edgeSubstitutions, type Site } from './site.ts';

/** A management cluster with the TenantControlPlanes `tenants/blue` and `tenants/red`, without konnectivity. */
export class KamajiSite implements Site {
  readonly #lab: OperatorLab;

  private constructor(lab: OperatorLab) {
    this.#lab = lab;
  }

  static async start(): Promise<KamajiSite> {
    const lab = await startOperatorSite();
    for (const name of ['blue', 'red']) {
      const tenant = await addKamaji(lab, name, { 'spec.addons.konnectivity': undefined });
      await tenant.controllers.addNode('worker-1', ['10.0.0.1']);
    }
    await lab.until('the Edge is Ready', () =>
      JSON.stringify(lab.management.read(RESOURCES.edge, { name: 'shared' })).includes(
        '"type":"Ready","status":"True"',
      ),
    );
    return new KamajiSite(lab);
  }

  open(): PageTerminal {
    return new PageTerminal({
      server: this.#lab.management,
      substitutions: edgeSubstitutions(this.#lab.gateway?.port),
    });
  }

  async run({ words }: DocumentedCommand, terminal: PageTerminal): Promise<Transcript> {
    if (words[0] !== 'expose') return terminal.run(words);
    if (!words.includes('--wait')) {
      await this.#addWhite();
      return terminal.run(words);
    }
    if (this.#lab.exposure('blue') !== undefined) await this.#lab.untilGone('blue');
    const exposed = await terminal.answer(words, [
      ['Number [1]: ', '1'],
      ['Create it? [Y/n] ', ''],
    ]);
    await this.#recreateKubeconfig();
    return exposed;
  }

  /** Adds the Service and the Secrets of a control plane without a provider. */
  async #addWhite(): Promise<void> {
    if (!this.#lab.tenants.some(({ name }) => name === 'white')) await this.#lab.addTenant('white');
  }

  /** Writes the kubeconfig of `blue` with the host of the edge, as Kamaji does when its Secret is deleted. */
  async #recreateKubeconfig(): Promise<void> {
    const [blue] = this.#lab.tenants;
    if (blue === undefined) throw new Error('there is no tenant');
    const server = `https://${blue.apiHost}:${this.#lab.gateway?.port}`;
    const kubeconfig = blue.kubeconfig.replace(`https://localhost:${blue.port}`, server);
    await this.#lab.changeSecret('blue-admin-kubeconfig', { 'admin.conf': kubeconfig });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lab[Symbol.asyncDispose]();
  }
}
