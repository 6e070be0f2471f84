/**
 * A small control plane for one tenant: its own CA, and an API server with real TLS that works with kubectl. It uses
 * the in-memory API server of Snicket's tests, and adds users, permissions and tables. It has no scheduler and no
 * nodes.
 */
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { RESOURCES, resourceOf, type Resource } from '../../src/kube/resource.ts';
import { parseApiCall, type ApiCall } from '../../src/kube/testing/api-call.ts';
import { ApiCalls, FIRST_NAMESPACES } from '../../src/kube/testing/api-calls.ts';
import { ApiFailure } from '../../src/kube/store/api-failure.ts';
import {
  sendResponse,
  sendFailure,
  type ApiResponse,
} from '../../src/kube/testing/api-response.ts';
import { isObject, type JsonObject } from '../../src/kube/store/json.ts';
import { ObjectStore, type ApiObject } from '../../src/kube/store/object-store.ts';
import { ObjectWrites } from '../../src/kube/store/object-writes.ts';
import { httpResponse } from '../../src/kube/testing/http-response.ts';
import { sendWatch } from '../../src/kube/testing/watch-response.ts';
import type { Authority, Credential } from '../../world/cluster/pki.ts';
import { authorize, identityOf, type Identity } from './identity.ts';
import { tableOf, wantsTable } from './table.ts';

const SELF_SUBJECT_REVIEW: Resource = {
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  namespaced: false,
};

/** The served resources: those that Snicket and kubectl users read. */
const SERVED: readonly Resource[] = [
  RESOURCES.namespace,
  RESOURCES.node,
  RESOURCES.pod,
  RESOURCES.service,
  RESOURCES.endpoints,
  RESOURCES.secret,
  RESOURCES.configMap,
  RESOURCES.serviceAccount,
  RESOURCES.event,
  RESOURCES.endpointSlice,
  RESOURCES.lease,
  RESOURCES.daemonSet,
  SELF_SUBJECT_REVIEW,
];

const SHORT_NAMES: Readonly<Record<string, readonly string[]>> = {
  namespaces: ['ns'],
  nodes: ['no'],
  pods: ['po'],
  services: ['svc'],
  endpoints: ['ep'],
  configmaps: ['cm'],
  serviceaccounts: ['sa'],
  events: ['ev'],
  daemonsets: ['ds'],
};

/** Media type in which some kubectl commands write objects. */
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** Interval of bookmarks, as on a real API server. */
const BOOKMARK_EVERY_MS = 60_000;
/** How long dispose waits for connections to close. */
const CLOSE_MS = 500;
/** Number of past events from which a watch can start. */
const HISTORY_LIMIT = 1000;

/** Options of {@link ControlPlane.start}. */
export interface ControlPlaneOptions {
  /** CA of the users' certificates. */
  readonly authority: Authority;
  readonly serving: Credential;
  /** Users by their token. */
  readonly tokens: ReadonlyMap<string, Identity>;
  /** Initial objects, besides the namespaces that every cluster has. */
  readonly objects: readonly ApiObject[];
}

/** A running API server. `await using` stops it at the end of the scope. */
export class ControlPlane implements AsyncDisposable {
  readonly #server: Server;
  readonly #connections = new Set<TLSSocket>();
  readonly #store = new ObjectStore({ historyLimit: HISTORY_LIMIT });
  readonly #calls = new ApiCalls(this.#store, SERVED);
  readonly #tokens: ReadonlyMap<string, Identity>;

  private constructor({ authority, serving, tokens, objects }: ControlPlaneOptions) {
    this.#tokens = tokens;
    const writes = new ObjectWrites(this.#store);
    for (const object of [...FIRST_NAMESPACES, ...objects]) {
      const write = { subresource: undefined, manager: 'control-plane', dryRun: false };
      writes.create({ ...write, resource: resourceOf(object), key: object.metadata }, object);
    }
    const { certificate: cert, key } = serving;
    const ca = authority.certificate;
    const http = createHttpServer((request, response) => {
      // An error here means that the client has closed the connection.
      this.#serve(request, response).catch(() => response.destroy());
    });
    // Keeps idle connections open, as a real API server does. Otherwise a request may meet the end of its connection.
    http.keepAliveTimeout = 0;
    // TLS requests a client certificate but does not require one, because a client may send a token. identityOf
    // verifies it. node:https does not expose the certificate of a request.
    const client = { requestCert: true, rejectUnauthorized: false };
    // Not h2, because node:http answers.
    const tls = { cert, key, ca, ...client, ALPNProtocols: ['http/1.1'] };
    this.#server = createServer(tls, (socket) => {
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
      socket.on('error', () => socket.destroy()); // the client has closed the connection
      http.emit('connection', socket);
    });
  }

  /** Starts an API server on a free port of loopback. */
  static async start(options: ControlPlaneOptions): Promise<ControlPlane> {
    const controlPlane = new ControlPlane(options);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    controlPlane.#server.once('error', reject);
    controlPlane.#server.listen(0, '127.0.0.1', resolve);
    await promise;
    return controlPlane;
  }

  /** Address such as `127.0.0.1:12345`. */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    for (const connection of this.#connections) connection.destroy();
    // A connection in its TLS handshake is not tracked and would delay close(). It ends with the process.
    await Promise.race([promise, Bun.sleep(CLOSE_MS)]);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    // Every response of an API server has this header, and Snicket's probes check for it.
    response.setHeader('audit-id', crypto.randomUUID());
    const sink = httpResponse(response);
    try {
      const header = (name: string) => String(request.headers[name] ?? '');
      const url = new URL(request.url ?? '/', 'https://kubernetes');
      const identity = identityOf(request, this.#tokens);
      const call = parseApiCall(request.method ?? 'GET', url, header, SERVED);
      authorize(identity, call);
      if (call.verb === 'watch' && call.resource !== undefined) {
        const watch = { store: this.#store, call, resource: call.resource, fault: undefined };
        sendWatch(sink, { ...watch, bookmarkEveryMs: BOOKMARK_EVERY_MS });
        return;
      }
      const answer =
        call.resource === SELF_SUBJECT_REVIEW
          ? selfSubjectReview(identity)
          : this.#calls.response(jsonCall(call), body);
      await sendResponse(sink, formatted(answer, call, header('accept')), undefined);
    } catch (error) {
      if (response.headersSent) throw error;
      sendFailure(sink, error instanceof ApiFailure ? error : internalError(error));
    }
  }
}

/** Returns the response to `kubectl auth whoami`. */
function selfSubjectReview(userInfo: Identity): ApiResponse {
  const { apiVersion, kind } = SELF_SUBJECT_REVIEW;
  return { status: 201, body: { apiVersion, kind, metadata: {}, status: { userInfo } } };
}

/**
 * Returns the call.
 *
 * @throws ApiFailure if its body has an unsupported media type
 */
function jsonCall(call: ApiCall): ApiCall {
  if (call.contentType !== PROTOBUF) return call;
  const message = `unsupported media type ${PROTOBUF}: use application/json`;
  throw new ApiFailure(415, 'UnsupportedMediaType', message);
}

function internalError(error: unknown): ApiFailure {
  return new ApiFailure(500, 'InternalError', `a bug of the demo: ${String(error)}`);
}

/** Formats a response for kubectl: as a table if the client accepts one, and with short names in discovery. */
function formatted({ status, body }: ApiResponse, call: ApiCall, accept: string): ApiResponse {
  if (typeof body === 'string') return { status, body };
  const { resource, verb } = call;
  if (resource !== undefined && (verb === 'list' || verb === 'get') && wantsTable(accept)) {
    return { status, body: tableOf(resource.kind, body) };
  }
  return { status, body: body['kind'] === 'APIResourceList' ? withShortNames(body) : body };
}

function withShortNames(list: JsonObject): JsonObject {
  const resources = Array.isArray(list['resources']) ? list['resources'].filter(isObject) : [];
  const named = resources.map((resource) => ({
    ...resource,
    shortNames: SHORT_NAMES[String(resource['name'])],
  }));
  return { ...list, resources: named };
}
