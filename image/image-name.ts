/** Matches a host (with a dot, a port or `localhost`, unlike a path), a path in lower case, and a tag. */
const NAME =
  /^[a-zA-Z0-9.-]+(:\d+)?(\/[a-z0-9]+((\.|_{1,2}|-+)[a-z0-9]+)*)+:[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;

/**
 * Returns why this is not a valid name for Snicket's image; undefined if it is valid. Host and tag are required:
 * containerd uses a name literally, but kubelet adds `docker.io/library/` and `:latest` to a short name.
 */
export function imageNameProblem(name: string): string | undefined {
  const [host = ''] = name.split('/');
  const hasHost = name.includes('/') && (/[.:]/.test(host) || host === 'localhost');
  if (hasHost && NAME.test(name)) return undefined;
  return `'${name}' is not an image name with host, path and tag; write one such as registry.example.com/snicket:0.1.0`;
}
