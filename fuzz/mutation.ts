/** Mutations of bytes. */
import type { Random } from './random.ts';

/** Values that parsers often get wrong. */
const BOUNDARY_VALUES = [0, 1, 2, 3, 4, 16, 22, 0x7f, 0x80, 0xe0, 0xff];

type Mutation = (bytes: Buffer, random: Random, pool: readonly Buffer[]) => Buffer;

const flipBit: Mutation = (bytes, random) => {
  const at = random.below(bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
  return bytes;
};

const setByte: Mutation = (bytes, random) => {
  bytes[random.below(bytes.length)] = random.pick(BOUNDARY_VALUES);
  return bytes;
};

/** Changes a two-byte number slightly. Most lengths have two bytes. */
const shiftNumber: Mutation = (bytes, random) => {
  if (bytes.length < 2) return bytes;
  const at = random.below(bytes.length - 1);
  bytes.writeUInt16BE((bytes.readUInt16BE(at) + random.below(9) - 4) & 0xffff, at);
  return bytes;
};

const truncate: Mutation = (bytes, random) => bytes.subarray(0, random.below(bytes.length) + 1);

const remove: Mutation = (bytes, random) => {
  const start = random.below(bytes.length);
  const end = Math.min(bytes.length, start + 1 + random.below(8));
  return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
};

const insert: Mutation = (bytes, random) => {
  const at = random.below(bytes.length + 1);
  const inserted = random.bytes(1 + random.below(8));
  return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at)]);
};

const repeat: Mutation = (bytes, random) => {
  const start = random.below(bytes.length);
  const end = Math.min(bytes.length, start + 1 + random.below(40));
  return Buffer.concat([bytes.subarray(0, end), bytes.subarray(start)]);
};

const splice: Mutation = (bytes, random, pool) => {
  const other = random.pick(pool);
  const from = random.below(other.length);
  return Buffer.concat([bytes.subarray(0, random.below(bytes.length + 1)), other.subarray(from)]);
};

const MUTATIONS = [flipBit, setByte, shiftNumber, truncate, remove, insert, repeat, splice];

/** Returns a copy of these bytes with one to three mutations. `pool` has bytes to splice them with. */
export function mutated(bytes: Buffer, random: Random, pool: readonly Buffer[]): Buffer {
  let result: Buffer = Buffer.from(bytes);
  for (let times = 1 + random.below(3); times > 0 && result.length > 0; times--) {
    result = random.pick(MUTATIONS)(result, random, pool);
  }
  return result;
}
