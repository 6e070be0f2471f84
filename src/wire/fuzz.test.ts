import { expect, test } from 'bun:test';
import { Campaign } from '../../fuzz/campaign.ts';
import { HELLO_REFUSALS, PROXY_REFUSALS } from './outcome.ts';

// A short version of `make fuzz` with a fixed seed.
const SEED = 20261115;
const INPUTS = 20_000;

test('the parsers agree with the reference parsers on inputs that cause every refusal', () => {
  const campaign = new Campaign(SEED);

  for (let input = 0; input < INPUTS; input++) expect(campaign.run(input)).toBeUndefined();

  const codes = [
    ...Object.keys(HELLO_REFUSALS).map((code) => `hello ${code}`),
    ...Object.keys(PROXY_REFUSALS).map((code) => `proxy ${code}`),
  ];
  const missed = codes.filter((code) => !campaign.counts.has(code));
  // Only ProxyHeaderStack returns this code, and it has its own tests.
  expect(missed).toEqual(['proxy proxy_headers_too_many']);
}, 240_000);
