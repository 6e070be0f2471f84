/** Matches a host (with a dot, a port or `localhost`, unlike a path), a path in lower case, and a tag. */
const NAME =
  /^[a-zA-Z0-9.-]+(:\d+)?(\/[a-z0-9]+((\.|_{1,2}|-+)[a-z0-9]+)*)+:[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;

/**
 * Returns why this cannot be the name of Snicket's image; undefined if it can. Host and tag are required: containerd
 * takes a name literally, while kubelet adds `docker.io/library/` and `:latest` to a short one.
 */
export function imageNameFault(name: string): string | undefined {
  const [host = ''] = name.split('/');
  const hasHost = name.includes('/') && (/[.:]/.test(host) || host === 'localhost');
  if (hasHost && NAME.test(name)) return undefined;
  return `'${name}' is no image name with host, path and tag; write one such as registry.example.com/snicket:0.1.0`;
}
