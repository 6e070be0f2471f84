/** Hundreds of connections at once. This test finds lost epoll edges. */
import { expect, test } from 'bun:test';
import { Lab } from '../lab.ts';
import { until } from '../../../net/testing/peer.ts';
import { Storm } from '../storm.ts';

const CONNECTIONS = 300;

/** Registers the test for one engine. */
export function stormSuite(engine: string): void {
  test.each([1, 2])(
    'forwards every byte of hundreds of connections with different behavior, seed %d',
    async (seed) => {
      const storm = new Storm(CONNECTIONS, seed);
      using lab = new Lab(engine, { onPeer: (peer) => storm.serve(peer) });

      await storm.run(async () => lab.dial());
      await until(() => lab.counters.global('open') === 0, 'no connection left');
      await until(() => lab.counters.global('abandonedDials') === 0, 'no dial left');

      expect(await storm.mismatches()).toEqual([]);
      const completed = lab.table.closedConnections.filter(
        (closed) => closed.reason === 'completed',
      );
      const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
      expect(completed).toHaveLength(storm.completed);
      expect(sum(completed.map((closed) => closed.bytesUp))).toBe(storm.bytesUp);
      expect(sum(completed.map((closed) => closed.bytesDown))).toBe(storm.bytesDown);
      expect(sum(lab.table.closedConnections.map((closed) => closed.bytesUp))).toBe(
        lab.counts().bytesUp,
      );
      expect(lab.counts()).toMatchObject({ open: 0 });
      expect(lab.counters.global('bufferedBytes')).toBe(0);
      expect(lab.counters.global('recoveredEvents')).toBe(0);
      expect(lab.faults).toEqual([]);
    },
  );
}
