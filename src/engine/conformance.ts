/**
 * For tests only: the conformance suite for the contract in `engine.ts`, on real sockets. Every engine must pass it.
 */
import { routeWithoutBytesSuite } from './conformance/suites/route-without-bytes-suite.ts';
import { bufferSuite } from './conformance/suites/buffer-suite.ts';
import { limitsSuite } from './conformance/suites/limits-suite.ts';
import { openingSuite } from './conformance/suites/opening-suite.ts';
import { smallReadsSuite } from './conformance/suites/small-reads-suite.ts';
import { processSuite } from './conformance/suites/process-suite.ts';
import { relaySuite } from './conformance/suites/relay-suite.ts';
import { stormSuite } from './conformance/suites/storm-suite.ts';

/** Registers the whole suite for one engine. */
export function conformance(engine: string): void {
  openingSuite(engine);
  routeWithoutBytesSuite(engine);
  relaySuite(engine);
  bufferSuite(engine);
  smallReadsSuite(engine);
  limitsSuite(engine);
  stormSuite(engine);
  processSuite(engine);
}
