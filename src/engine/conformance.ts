/**
 * For tests only: the conformance suite for the contract in `engine.ts`, on real sockets. Every engine must pass it.
 */
import { blindSuite } from './conformance/suites/blind-suite.ts';
import { bufferSuite } from './conformance/suites/buffer-suite.ts';
import { limitsSuite } from './conformance/suites/limits-suite.ts';
import { openingSuite } from './conformance/suites/opening-suite.ts';
import { piecesSuite } from './conformance/suites/pieces-suite.ts';
import { processSuite } from './conformance/suites/process-suite.ts';
import { relaySuite } from './conformance/suites/relay-suite.ts';
import { stormSuite } from './conformance/suites/storm-suite.ts';

/** Registers the whole suite for one engine. */
export function conformance(engine: string): void {
  openingSuite(engine);
  blindSuite(engine);
  relaySuite(engine);
  bufferSuite(engine);
  piecesSuite(engine);
  limitsSuite(engine);
  stormSuite(engine);
  processSuite(engine);
}
