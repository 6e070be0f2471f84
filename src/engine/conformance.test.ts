import { describe } from 'bun:test';
import { conformance } from './conformance.ts';
import { ENGINES } from './conformance/engines.ts';

describe.each([...ENGINES.keys()])('engine %s', (engine) => conformance(engine));
