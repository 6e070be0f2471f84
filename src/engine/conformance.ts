/**
 * What every engine has to do, as tests: the contract of `engine.ts`, on real sockets. For tests only.
 */
import { blindSuite } from './conformance/blind-suite.ts';
import { limitsSuite } from './conformance/limits-suite.ts';
import { openingSuite } from './conformance/opening-suite.ts';
import { piecesSuite } from './conformance/pieces-suite.ts';
import { processSuite } from './conformance/process-suite.ts';
import { relaySuite } from './conformance/relay-suite.ts';
import { stormSuite } from './conformance/storm-suite.ts';

/** Registers the whole suite for one engine. */
export function conformance(engine: string): void {
  openingSuite(engine);
  blindSuite(engine);
  relaySuite(engine);
  piecesSuite(engine);
  limitsSuite(engine);
  stormSuite(engine);
  processSuite(engine);
}
