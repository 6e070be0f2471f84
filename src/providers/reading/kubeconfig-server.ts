/**
 * The server in a kubeconfig. Providers write the public address, and Snicket connects to the Service.
 */
import { isMap, isSeq, parseDocument, type Document, type YAMLMap } from 'yaml';

/** Returns the kubeconfig with this server for every cluster; undefined if it is not a kubeconfig. */
export function withServer(kubeconfig: string, server: string): string | undefined {
  const document = parsed(kubeconfig);
  const clusters = document === undefined ? [] : clustersIn(document);
  if (document === undefined || clusters.length === 0) return undefined;
  for (const cluster of clusters) {
    cluster.set('server', server);
    // The certificate contains the name of the Service. tls-server-name would override it.
    cluster.delete('tls-server-name');
  }
  try {
    return document.toString({ lineWidth: 0 });
  } catch {
    return undefined; // an undefined alias: the caller reports that it is not a kubeconfig
  }
}

/** Returns the server of the first cluster; undefined if there is none. */
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
