import { describe, expect, test } from 'bun:test';
import { objectOf } from '../../operator/testing/objects.ts';
import { ChangeLines } from './change-lines.ts';
import { exposureText } from './exposure-text.ts';
import { overviewText } from './overview-text.ts';
import { problemsOf } from './problems.ts';
import { brokenPath, isHealthy, statusViewOf, type StatusView } from './status-view.ts';

const OPTIONS = { screen: { hasColors: false }, now: new Date(), hasNamespaces: true };
const SINCE = '2026-03-02T08:00:00Z';

function condition(type: string, status: string, reason = type, message = 'so', generation = 2) {
  return {
    type,
    status,
    reason,
    message,
    lastTransitionTime: SINCE,
    observedGeneration: generation,
  };
}

function viewWith(status: object | undefined, metadata: object = {}): StatusView {
  const meta = { name: 'blue', namespace: 'tenants', generation: 2, ...metadata };
  const controlPlane = {
    type: 'Object',
    objectRef: { group: 'kamaji.clastix.io', kind: 'A', name: 'a' },
  };
  const exposure = objectOf('Exposure', meta, { spec: { controlPlane }, status });
  const edge = objectOf(
    'Edge',
    { name: 'shared', annotations: { 'snicket.dev/is-default': 'true' } },
    {
      spec: { driver: 'haproxy', domain: 'example.test' },
      status: { conditions: [condition('Ready', 'True')] },
    },
  );
  return statusViewOf({ edges: [edge], exposures: [exposure] });
}

function only({ exposures }: StatusView) {
  const [exposure] = exposures;
  if (exposure === undefined) throw new Error('there is none');
  return exposure;
}

describe('an Exposure', () => {
  test('that the operator has not observed has its host and Edge from the spec', () => {
    const view = viewWith(undefined);

    expect(only(view)).toMatchObject({
      host: 'tenants-blue.k8s.example.test',
      edge: 'shared',
      ready: 'Unknown',
      reason: 'NotObserved',
    });
    expect(isHealthy(view)).toBe(false);
  });

  test('is not ready if the status is for an older generation', () => {
    const view = viewWith({ conditions: [condition('Ready', 'True', 'Ready', 'so', 1)] });

    expect(only(view)).toMatchObject({ ready: 'Unknown', reason: 'NotObserved' });
  });

  test('that is being deleted is not ready, and has the reason of the cleanup', () => {
    const leaving = { deletionTimestamp: SINCE };
    const waits = condition('Ready', 'False', 'CleaningUp', 'the tenant does not answer', 1);

    expect(only(viewWith({ conditions: [condition('Ready', 'True')] }, leaving))).toMatchObject({
      ready: 'False',
      reason: 'CleaningUp',
      message: 'it is being deleted',
    });
    expect(only(viewWith({ conditions: [waits] }, leaving))).toMatchObject({
      ready: 'False',
      reason: 'CleaningUp',
      message: 'the tenant does not answer',
    });
  });

  test('that is being deleted reports that first, and then its earlier problems', () => {
    const silent = condition('WorkersReady', 'False', 'TenantUnreachable', 'no answer');
    const ready = condition('Ready', 'False', 'TenantUnreachable', 'no answer');

    const exposure = only(viewWith({ conditions: [silent, ready] }, { deletionTimestamp: SINCE }));

    expect(exposure).toMatchObject({ ready: 'False', reason: 'CleaningUp' });
    expect(problemsOf(exposure).map(({ code }) => code)).toEqual([
      'CleaningUp',
      'TenantUnreachable',
    ]);
  });

  test('whose status cannot be parsed counts as not reconciled', () => {
    expect(only(viewWith({ conditions: 'all well' }))).toMatchObject({ ready: 'Unknown' });
  });

  test('is healthy if it is Ready', () => {
    expect(isHealthy(viewWith({ conditions: [condition('Ready', 'True')] }))).toBe(true);
  });

  test.each(['Reachable', 'KonnectivityReady'])('is not healthy while %s is False', (type) => {
    const broken = condition(type, 'False', 'EdgeUnreachable', 'silent');
    const view = viewWith({ conditions: [condition('Ready', 'True'), broken] });

    expect(brokenPath(only(view))).toMatchObject({ type, reason: 'EdgeUnreachable' });
    expect(isHealthy(view)).toBe(false);
  });

  test('is healthy before the first probe', () => {
    const unknown = condition('Reachable', 'Unknown', 'NotProbed', 'Not probed yet.');

    expect(isHealthy(viewWith({ conditions: [condition('Ready', 'True'), unknown] }))).toBe(true);
  });
});

describe('an Edge that is being deleted', () => {
  const message = 'Edge shared is being deleted. It keeps serving: tenants/blue.';
  const viewOf = (generation: number) => {
    const status = {
      conditions: [
        condition('Accepted', 'False', 'EdgeTerminating', message, generation),
        condition('Ready', 'True', 'Ready', 'so', generation),
      ],
    };
    const metadata = { name: 'shared', generation: 2, deletionTimestamp: SINCE };
    const edge = objectOf('Edge', metadata, { spec: { driver: 'snicket' }, status });
    return statusViewOf({ edges: [edge], exposures: [] });
  };

  test('is Ready while it serves Exposures, and the text lists them', () => {
    const view = viewOf(2);

    expect(view.edges).toMatchObject([{ ready: 'True', reason: 'Ready' }]);
    const text = overviewText(view, OPTIONS);
    expect(text).toMatch(/^shared +snicket .* True +EdgeTerminating$/m);
    expect(text).toEndWith(`EdgeTerminating (Edge shared)\n  ${message}\n`);
    expect(new ChangeLines().next(view)).toEqual([
      `Edge shared: Ready=True, Accepted=False: EdgeTerminating: ${message}`,
    ]);
  });

  test('is a warning of its Exposures', () => {
    const [edge] = viewOf(2).edges ?? [];

    const exposure = only(viewWith({ conditions: [condition('Ready', 'True')] }));
    expect(problemsOf(exposure, edge)).toMatchObject([
      { isWarning: true, about: ['Edge shared'], code: 'EdgeTerminating', message },
    ]);
  });

  test('is not observed until the operator reports the deletion', () => {
    expect(viewOf(1).edges).toMatchObject([{ ready: 'Unknown', reason: 'NotObserved' }]);
  });
});

describe('problems', () => {
  test('with the same cause are one problem', () => {
    const waits = 'Waiting for condition Accepted';
    const view = viewWith({
      conditions: [
        condition('Accepted', 'False', 'HostConflict', 'x is held'),
        condition('Prepared', 'Unknown', 'WaitingForCondition', waits),
        condition('Routed', 'Unknown', 'WaitingForCondition', waits),
        condition('Ready', 'False', 'HostConflict', 'x is held'),
      ],
    });

    expect(problemsOf(only(view))).toMatchObject([
      { code: 'HostConflict', about: ['Accepted', 'Ready'] },
      { code: 'WaitingForCondition', about: ['Prepared', 'Routed'] },
    ]);
  });

  test('of a hop that passes with an action are warnings', () => {
    const hop = { name: 'certificate', state: 'Pass', reason: 'CertificateEnds', at: SINCE };
    const view = viewWith({
      conditions: [condition('Ready', 'True')],
      hops: [{ ...hop, message: 'it ends soon', action: 'renew it' }],
    });

    expect(overviewText(view, OPTIONS)).toMatch(/^tenants\/blue .* CertificateEnds +-$/m);
    expect(exposureText(only(view), view, OPTIONS)).toMatch(
      /^certificate +Warn +CertificateEnds /m,
    );
    expect(problemsOf(only(view))).toEqual([
      {
        isWarning: true,
        about: ['hop certificate'],
        code: 'CertificateEnds',
        message: 'it ends soon',
        action: 'renew it',
      },
    ]);
  });

  test('of the Edge come first', () => {
    const view = viewWith({ conditions: [condition('Ready', 'True')] });
    const [edge] = view.edges ?? [];

    const problems = problemsOf(
      only(view),
      edge && { ...edge, ready: 'False', reason: 'AddressUnknown', message: 'nobody knows' },
    );

    expect(problems).toMatchObject([{ about: ['Edge shared'], code: 'AddressUnknown' }]);
  });
});
