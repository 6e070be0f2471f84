/**
 * The server in a kubeconfig: providers write the one that everybody uses, and Snicket goes by the Service.
 */
import { isMap, isSeq, parseDocument, type Document, type YAMLMap } from 'yaml';

/** The kubeconfig with this server for every cluster; undefined if it is none. */
export function withServer(kubeconfig: string, server: string): string | undefined {
  const document = parsed(kubeconfig);
  const clusters = document === undefined ? [] : clustersIn(document);
  if (document === undefined || clusters.length === 0) return undefined;
  for (const cluster of clusters) {
    cluster.set('server', server);
    // The name of the Service is in the certificate; another one would be asked for in its place.
    cluster.delete('tls-server-name');
  }
  try {
    return document.toString({ lineWidth: 0 });
  } catch {
    return undefined; // an alias of nothing: the caller says that it is no kubeconfig
  }
}

/** The server of its first cluster; undefined if there is none. */
export function serverIn(kubeconfig: string): string | undefined {
  const document = parsed(kubeconfig);
  const server = document === undefined ? undefined : clustersIn(document)[0]?.get('server');
  return typeof server === 'string' ? server : undefined;
}

function parsed(text: string): Document | undefined {
  const document = parseDocument(text, { compat: 'yaml-1.1' });
  return document.errors.length > 0 || !isMap(document.contents) ? undefined : document;
}

function clustersIn(document: Document): readonly YAMLMap[] {
  const clusters = document.get('clusters');
  if (!isSeq(clusters)) return [];
  return clusters.items.flatMap((item) => {
    const cluster = isMap(item) ? item.get('cluster') : undefined;
    return isMap(cluster) ? [cluster] : [];
  });
}
