/**
 * The image of the proxy, where nobody names one.
 */
import manifest from '../../../package.json' with { type: 'json' };

/** That of this very version. */
export const PROXY_IMAGE = `snicket.dev/snicket:${manifest.version}`;
