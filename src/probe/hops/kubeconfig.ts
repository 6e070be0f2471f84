/**
 * kubeconfig: the kubeconfig that the provider publishes points to the edge.
 */
import { parseDocument } from 'yaml';
import * as z from 'zod';
import { hopResult, type HopResult } from '../hop.ts';

/** The fields of a kubeconfig that are checked, without its credentials. */
const Kubeconfig = z.object({
  'current-context': z.string(),
  contexts: z.array(z.object({ name: z.string(), context: z.object({ cluster: z.string() }) })),
  clusters: z.array(z.object({ name: z.string(), cluster: z.object({ server: z.string() }) })),
});

/** A published kubeconfig: its text, or only its server, `https://host:port`. */
export type PublishedKubeconfig = { readonly text: string } | { readonly server: string };

/** Returns the result for a kubeconfig. Messages contain only names and the server's host and port. */
export function judgeKubeconfig(
  kubeconfig: PublishedKubeconfig,
  host: string,
  port: number,
): HopResult {
  const target = `https://${host}:${port}`;
  const server = 'text' in kubeconfig ? serverIn(kubeconfig.text) : serverOf(kubeconfig.server);
  if ('fault' in server) return hopResult('kubeconfig', 'KubeconfigInvalid', target, server.fault);
  const endpoint = `${host}:${port}`;
  if (server.host !== host.toLowerCase() || server.port !== port) {
    const message = `The kubeconfig points to ${server.host}:${server.port}, not to ${endpoint}.`;
    return hopResult('kubeconfig', 'KubeconfigMismatch', target, message, { endpoint });
  }
  return hopResult('kubeconfig', 'Passed', target, `The kubeconfig points to ${endpoint}.`);
}

type Server = { readonly host: string; readonly port: number } | { readonly fault: string };

/** Returns the server of the current context, as kubectl does. */
function serverIn(text: string): Server {
  const document = parseDocument(text, { logLevel: 'silent', prettyErrors: false });
  const [fault] = document.errors;
  // Not the parser's message: it may quote the text, which contains keys.
  if (fault !== undefined) return { fault: `The kubeconfig is not valid YAML (${fault.code}).` };
  const parsed = Kubeconfig.safeParse(valuesOf(document));
  if (!parsed.success) {
    const where = parsed.error.issues[0]?.path.join('.');
    return { fault: `The kubeconfig is invalid at ${where || 'its top level'}.` };
  }
  const { 'current-context': current, contexts, clusters } = parsed.data;
  const context = contexts.find(({ name }) => name === current);
  if (context === undefined) return { fault: `The kubeconfig has no context '${current}'.` };
  const named = context.context.cluster;
  const cluster = clusters.find(({ name }) => name === named);
  if (cluster === undefined) return { fault: `The kubeconfig has no cluster '${named}'.` };
  return serverOf(cluster.cluster.server, ` of cluster '${named}'`);
}

function serverOf(text: string, where = ''): Server {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'https:') {
    return { fault: `The server${where} in the kubeconfig is not an https URL.` };
  }
  return { host: url.hostname, port: url.port === '' ? 443 : Number(url.port) };
}

/** Returns the parsed values. Undefined for invalid aliases, or for aliases that would exhaust the memory. */
function valuesOf(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS();
  } catch (error) {
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
}
