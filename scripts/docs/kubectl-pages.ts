/** The pages with kubectl commands: which of them run on real Kubernetes, and why the others do not. */

/**
 * Pages whose kubectl commands run in a world after those of the quick start. They leave the exposed tenant as it is.
 */
export const INSPECTION_PAGES: readonly string[] = [
  'docs/troubleshooting.md',
  'docs/reference/tenantroutes.md',
  'docs/tasks/doctor.md',
  'docs/tasks/external-cloud-provider.md',
  'docs/tasks/kubeconfig.md',
  'docs/tasks/render.md',
  'docs/tasks/install.md',
  'docs/tasks/permissions.md',
  'docs/tasks/edges/gateway-api.md',
  'docs/tasks/rollouts.md',
  'docs/tasks/rotate-gateway-keys.md',
  'docs/tasks/public-ip.md',
  // The last one restarts the operator.
  'docs/tasks/backup-and-restore.md',
];

/** Pages whose kubectl commands run on real Kubernetes: e2e/documents.test.ts. */
export const KUBECTL_PAGES: readonly string[] = [
  'docs/quick-start.md',
  ...INSPECTION_PAGES,
  'docs/tasks/uninstall.md',
];

const NO_SUCH_OBJECTS = 'the objects of its example exist in simulated clusters only';
const MIGRATIONS = 'requires the previous product: src/operator/stories/migrations.test.ts';

/** Pages with kubectl commands that do not run, with the reason. */
export const PAGES_WITHOUT_KUBECTL: Readonly<Record<string, string>> = {
  'README.md': 'has commands of the quick start and of docs/tasks/providers/README.md',
  'docs/tasks/air-gapped.md': 'requires a registry',
  'docs/tasks/completion.md': 'runs snicket as a plugin, as docs/tasks/doctor.md does',
  'docs/tasks/expose.md': 'deletes the Exposure, as the quick start does',
  'docs/tasks/konnectivity.md': 'requires an Exposure of a Service',
  'docs/tasks/load-balancer.md': 'requires a load balancer of the user',
  'docs/tasks/migrate/k0smotron-haproxy.md': MIGRATIONS,
  'docs/tasks/migrate/kamaji-ingress-addon.md': MIGRATIONS,
  'docs/tasks/migrate/steward-tcp-proxy.md': MIGRATIONS,
  'docs/tasks/providers/README.md':
    'watches until it is interrupted: e2e/providers-exposed.test.ts',
  'docs/tasks/providers/steward.md': NO_SUCH_OBJECTS,
  'docs/tasks/providers/troubleshooting.md': 'requires a provider that creates Secrets again',
  'docs/tasks/several-management-clusters.md': 'e2e/two-management-clusters.test.ts',
  'docs/tasks/upgrade.md': 'requires two releases',
};
