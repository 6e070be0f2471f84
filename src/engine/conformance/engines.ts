/** For tests only: all engines. A new engine is added here and must pass the whole suite. */
import { BunEngine } from '../bun/bun-engine.ts';
import type { Engine, EngineOptions } from '../engine.ts';
import { EpollEngine } from '../epoll/epoll-engine.ts';

/** Constructors by engine name. */
export const ENGINES: ReadonlyMap<string, (options: EngineOptions) => Engine> = new Map([
  ['bun', (options: EngineOptions): Engine => new BunEngine(options)],
  ['epoll', (options: EngineOptions): Engine => new EpollEngine(options)],
]);

/** Creates an engine by its name. @throws RangeError if no engine has that name. */
export function makeEngine(name: string, options: EngineOptions): Engine {
  const make = ENGINES.get(name);
  if (make === undefined) throw new RangeError(`no engine is called '${name}'`);
  return make(options);
}
