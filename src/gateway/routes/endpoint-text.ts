/**
 * Validates endpoints in the notation of routes: `10.0.0.5:6443`, `[fd00::5]:6443`. Engines do not check them again.
 */
import { isIPv4, isIPv6 } from '../../wire/ip-address.ts';

/** Whether the text is an IP address and a port that an engine can dial. */
export function isEndpoint(text: string): boolean {
  const colon = text.lastIndexOf(':');
  const port = text.slice(colon + 1);
  if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535) return false;
  if (!text.startsWith('[')) return isIPv4(text.slice(0, colon));
  return text[colon - 1] === ']' && isIPv6(text.slice(1, colon - 1));
}
