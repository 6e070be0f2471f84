/**
 * A simulated tenant: the objects of a small cluster behind its own TLS listener. The code of the test API server
 * answers the requests; its contract tests also run against a real API server.
 *
 * It uses Bun.serve, because a thousand tenants share a process. Bun.serve sends the response header with the first
 * byte of the body, so a watch begins with a bookmark.
 */
import type { ObjectKey } from '../../../src/kube/object.ts';
import { RESOURCES, type Resource } from '../../../src/kube/resource.ts';
import { parseApiCall, selectorOf, type ApiCall } from '../../../src/kube/testing/api-call.ts';
import { ApiCalls, FIRST_NAMESPACES } from '../../../src/kube/testing/api-calls.ts';
import { ApiFailure } from '../../../src/kube/store/api-failure.ts';
import { ObjectStore, type ApiObject } from '../../../src/kube/store/object-store.ts';
import { ObjectWrites } from '../../../src/kube/store/object-writes.ts';
import { openWatch } from '../../../src/kube/testing/watch.ts';
import { writeKubeconfig } from '../../../src/pki/kubeconfig.ts';
import { Authority } from '../../../world/cluster/pki.ts';
import type { TenantPlan } from '../plan.ts';
import type { RequestCounts } from '../request-counts.ts';
import { runDaemonSets } from './daemon-sets.ts';

/** The credentials for exposing a tenant: PEM, and the text of a kubeconfig. */
export interface TenantAccess {
  readonly caCertificate: string;
  readonly caKey: string;
  readonly kubeconfig: string;
}

const KINDS = Object.values(RESOURCES);
/** A header by which clients recognize an API server. */
const HEADERS = { 'audit-id': crypto.randomUUID() };
/** Interval of bookmarks in kube-apiserver. */
const BOOKMARK_MS = 60_000;
/** More than the changes in a tenant between two watches. */
const HISTORY_LIMIT = 200;

const KUBERNETES_SERVICE: ApiObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'kubernetes', namespace: 'default' },
  spec: {
    clusterIP: '10.96.0.1',
    clusterIPs: ['10.96.0.1'],
    ports: [{ name: 'https', port: 443 }],
  },
};

/** A running tenant. */
export class Tenant {
  readonly plan: TenantPlan;
  readonly access: TenantAccess;
  readonly #store = new ObjectStore({ historyLimit: HISTORY_LIMIT });
  readonly #writes = new ObjectWrites(this.#store);
  readonly #calls = new ApiCalls(this.#store, KINDS);
  readonly #counts: RequestCounts;

  private constructor(plan: TenantPlan, access: TenantAccess, counts: RequestCounts) {
    this.plan = plan;
    this.access = access;
    this.#counts = counts;
    for (const object of [...FIRST_NAMESPACES, KUBERNETES_SERVICE]) this.#seed(object);
    runDaemonSets(this.#store, this.#writes);
  }

  /** Creates the certificates and listens on the tenant's address. */
  static async start(plan: TenantPlan, counts: RequestCounts): Promise<Tenant> {
    const authority = await Authority.create(`${plan.name}-ca`);
    const names = ['kubernetes', 'kubernetes.default.svc', plan.apiHost, plan.address];
    const [server, admin] = await Promise.all([
      authority.issue({ commonName: 'kube-apiserver', names }),
      authority.issue({ commonName: 'admin', organization: 'system:masters' }),
    ]);
    const kubeconfig = writeKubeconfig({
      server: `https://${plan.apiHost}:${plan.port}`,
      ca: authority.certificate,
      credentials: admin,
      names: { cluster: plan.name, user: 'admin' },
    });
    const access = {
      caCertificate: authority.certificate,
      caKey: authority.key,
      kubeconfig,
    };
    const tenant = new Tenant(plan, access, counts);
    Bun.serve({
      hostname: plan.address,
      port: plan.port,
      idleTimeout: 0,
      // As in a real API server.
      http2: true,
      tls: {
        cert: server.certificate,
        key: server.key,
        ca: authority.certificate,
        // Requests optional client certificates as a real API server does, because that has a cost for clients.
        requestCert: true,
        rejectUnauthorized: false,
      },
      fetch: async (request) => tenant.#serve(request),
    });
    return tenant;
  }

  /** Deletes an object, as a user could by mistake, and returns the milliseconds until it is restored. */
  async deleteAndAwait(resource: Resource, key: ObjectKey, deadlineMs: number): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const begin = performance.now();
    const stop = this.#store.listen(({ plural, after }) => {
      if (plural !== resource.plural || after?.metadata.name !== key.name) return;
      resolve(performance.now() - begin);
    });
    const timer = setTimeout(
      () => reject(new Error(`${resource.kind} ${key.name} is not back after ${deadlineMs} ms`)),
      deadlineMs,
    );
    this.#store.remove(resource, key);
    return promise.finally(() => {
      stop();
      clearTimeout(timer);
    });
  }

  #seed(object: ApiObject): void {
    const resource = KINDS.find(({ kind }) => kind === object.kind);
    if (resource === undefined) throw new TypeError(`no kind ${object.kind}`);
    const { name, namespace } = object.metadata;
    const call = { subresource: undefined, manager: 'kube-apiserver', dryRun: false };
    this.#writes.create({ ...call, resource, key: { name, namespace } }, object);
  }

  async #serve(request: Request): Promise<Response> {
    try {
      const header = (name: string) => request.headers.get(name) ?? '';
      const call = parseApiCall(request.method, new URL(request.url), header, KINDS);
      this.#counts.add(call.verb, call.resource?.plural ?? call.path);
      if (call.verb === 'watch' && call.resource !== undefined) return this.#watch(call);
      const { status, body } = this.#calls.response(call, await request.text());
      return typeof body === 'string'
        ? new Response(body, { status, headers: HEADERS })
        : Response.json(body, { status, headers: HEADERS });
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      return Response.json(error.body(), { status: error.status, headers: HEADERS });
    }
  }

  #watch(call: ApiCall): Response {
    const { resource, query } = call;
    if (resource === undefined) throw new TypeError('a watch requires a resource');
    const store = this.#store;
    let stop = () => {};
    const body = new ReadableStream<string>({
      start(controller) {
        const { apiVersion, kind } = resource;
        const metadata = { resourceVersion: query.get('resourceVersion') };
        const first = { type: 'BOOKMARK', object: { apiVersion, kind, metadata } };
        controller.enqueue(`${JSON.stringify(first)}\n`);
        stop = openWatch({
          store,
          resource,
          selected: selectorOf(call),
          bookmarkEveryMs: BOOKMARK_MS,
          resourceVersion: query.get('resourceVersion') ?? '',
          timeoutMs: Number(query.get('timeoutSeconds') ?? 0) * 1000,
          send: (line) => controller.enqueue(line),
          end: () => controller.close(),
        });
      },
      cancel: () => stop(),
    });
    return new Response(body, { headers: { ...HEADERS, 'content-type': 'application/json' } });
  }
}
