/** Runs inputs through the fast parsers of src/wire and through the reference parsers. Any difference is a finding. */
import { ClientHello } from '../src/wire/hello/client-hello.ts';
import { ProxyHeader } from '../src/wire/proxy-header.ts';
import { verifyTenantHeader } from '../src/wire/tenant-header.ts';
import { helloInput } from './hellos.ts';
import { KEYS, proxyHeaderInput, SIGNED_AT_SECONDS, SIGNED_HEADERS } from './proxy-headers.ts';
import { Random } from './random.ts';
import { referenceHello } from './reference-hello.ts';
import { referenceProxyHeader, type ReferenceProxyHeaderRead } from './reference-proxy-header.ts';

/** An input with a difference. */
export interface Finding {
  readonly input: number;
  /** The bytes that had arrived. */
  readonly bytes: Buffer;
  readonly message: string;
}

/** Bytes as they arrive, in the middle of a larger buffer. The bytes around them must not affect the result. */
interface Arrival {
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
  /** The end of the whole input, which includes bytes that have not arrived. */
  readonly wholeEnd: number;
  /** The bytes from start to end, which the reference parsers get. */
  readonly arrived: Buffer;
}

/** Many inputs reach the small limits. The last limit is exactly the length of a signed header. */
const HELLO_LIMITS = [16384, 16384, 600, 150];
const PROXY_LIMITS = [4096, 4096, 103];
const WINDOW_SECONDS = 60;

/** Runs inputs by number. The seed and the number determine an input. */
export class Campaign {
  /** Number of inputs per outcome. */
  readonly counts = new Map<string, number>();

  readonly #seed: number;
  readonly #hellos = HELLO_LIMITS.map((limitBytes) => ({
    limitBytes,
    hello: new ClientHello({ limitBytes }),
  }));
  readonly #headers = PROXY_LIMITS.map((limitBytes) => ({
    limitBytes,
    header: new ProxyHeader(limitBytes),
  }));
  /** The addresses and the name that each stamp signs. */
  readonly #signedClaims = new Map(
    SIGNED_HEADERS.map((bytes) => {
      const read = referenceProxyHeader(bytes, bytes.length);
      if (read.outcome !== 'header') throw new Error(`a signed header is ${read.outcome}`);
      return [read.stamp, claimOf(read)];
    }),
  );

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Runs one input. */
  run(input: number): Finding | undefined {
    const random = new Random(this.#seed, input);
    const isHello = !random.oneIn(3);
    const arrival = arrivalOf(isHello ? helloInput(random) : proxyHeaderInput(random), random);
    let message: string | undefined;
    try {
      message = isHello ? this.#checkHello(arrival, random) : this.#checkHeader(arrival, random);
    } catch (error) {
      message = `threw ${error instanceof Error ? error.stack : String(error)}`;
    }
    return message === undefined
      ? undefined
      : { input, bytes: Buffer.from(arrival.arrived), message };
  }

  #checkHello(arrival: Arrival, random: Random): string | undefined {
    const { hello, limitBytes } = random.pick(this.#hellos);
    const outcome = hello.read(arrival.buffer, arrival.end, arrival.start);
    this.#count(`hello ${outcome}`);
    const fast = outcome === 'hello' ? describeHello(hello) : outcome;

    const reference = referenceHello(arrival.arrived, limitBytes);
    const slow = reference.outcome === 'hello' ? JSON.stringify(reference) : reference.outcome;
    if (fast !== slow) return `limit ${limitBytes}: fast ${fast}, slow ${slow}`;
    const later = hello.read(arrival.buffer, arrival.wholeEnd, arrival.start);
    return instability(outcome, later, arrival, limitBytes);
  }

  #checkHeader(arrival: Arrival, random: Random): string | undefined {
    const { header, limitBytes } = random.pick(this.#headers);
    const outcome = header.read(arrival.buffer, arrival.end, arrival.start);
    this.#count(`proxy ${outcome}`);
    const fast = outcome === 'header' ? describeHeader(header) : outcome;

    const reference = referenceProxyHeader(arrival.arrived, limitBytes);
    const slow = reference.outcome === 'header' ? JSON.stringify(reference) : reference.outcome;
    if (fast !== slow) return `limit ${limitBytes}: fast ${fast}, slow ${slow}`;
    if (reference.outcome === 'header') {
      const difference = this.#checkTenant(header, reference);
      if (difference !== undefined) return difference;
    }
    const later = header.read(arrival.buffer, arrival.wholeEnd, arrival.start);
    return instability(outcome, later, arrival, limitBytes);
  }

  /** Reports a header that is valid although its claim was not signed. */
  #checkTenant(header: ProxyHeader, read: ReferenceProxyHeaderRead): string | undefined {
    const tenantOutcome = verifyTenantHeader(header, KEYS, SIGNED_AT_SECONDS, WINDOW_SECONDS);
    this.#count(`tenant ${tenantOutcome}`);
    if (tenantOutcome !== 'valid') return undefined;
    const signed = this.#signedClaims.get(read.stamp);
    const claim = claimOf(read);
    return signed === claim ? undefined : `'${claim}' is accepted, but '${signed}' was signed`;
  }

  #count(outcome: string): void {
    this.counts.set(outcome, (this.counts.get(outcome) ?? 0) + 1);
  }
}

function arrivalOf(whole: Buffer, random: Random): Arrival {
  const arrivedBytes = random.oneIn(3) ? random.below(whole.length + 1) : whole.length;
  const start = random.below(4);
  return {
    buffer: Buffer.concat([random.bytes(start), whole, random.bytes(8)]),
    start,
    end: start + arrivedBytes,
    wholeEnd: start + whole.length,
    arrived: whole.subarray(0, arrivedBytes),
  };
}

/** Checks that a parser decides at the limit at the latest, and does not change its decision. */
function instability(
  outcome: string,
  later: string,
  { arrived }: Arrival,
  limitBytes: number,
): string | undefined {
  if (outcome === 'incomplete') {
    return arrived.length < limitBytes ? undefined : `undecided at the limit of ${limitBytes}`;
  }
  return later === outcome
    ? undefined
    : `limit ${limitBytes}: first ${outcome}, with more bytes ${later}`;
}

function claimOf({ addresses, authority }: ReferenceProxyHeaderRead): string {
  return `${addresses} ${authority}`;
}

function describeHello(hello: ClientHello): string {
  return JSON.stringify({
    outcome: 'hello',
    serverName: hello.serverName,
    alpn: hello.alpnProtocols(),
    versions: hello.supportedVersions(),
  });
}

function describeHeader(header: ProxyHeader): string {
  const { bytes, start, end, isLocal, stampStart, stampEnd } = header;
  return JSON.stringify({
    outcome: 'header',
    lengthBytes: end - start,
    isLocal,
    addresses: describeAddresses(header),
    authority: header.authority(),
    stamp: stampStart < 0 ? undefined : bytes.subarray(stampStart, stampEnd).join('.'),
  });
}

/** Compares the bytes of the addresses. address-pair.test.ts tests their text. */
function describeAddresses({ bytes, start, family }: ProxyHeader): string | undefined {
  if (family === undefined) return undefined;
  const size = family === 'ipv4' ? 4 : 16;
  const destination = start + 16 + size;
  const ports = destination + size;
  return [
    bytes.subarray(start + 16, destination).join('.'),
    bytes.subarray(destination, ports).join('.'),
    bytes.readUInt16BE(ports),
    bytes.readUInt16BE(ports + 2),
  ].join(' ');
}
