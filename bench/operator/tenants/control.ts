/**
 * Control interface to the process of the tenants: HTTP on a Unix socket, because that process is in another network.
 */
import type { Requests } from '../request-counts.ts';

/** The supported requests. */
export interface ControlCalls {
  /** Returns the requests to all tenants so far. */
  counts: { readonly question: undefined; readonly answer: Requests };
  /** Returns the text at an HTTP URL in the network of the tenants. */
  page: { readonly question: { readonly url: string }; readonly answer: string };
  /** Deletes an object of a tenant. Returns the milliseconds until it is restored. */
  repair: {
    readonly question: { readonly tenant: string; readonly object: 'slice' | 'daemonSet' };
    readonly answer: number;
  };
  /** Dials the edge until it routes to this tenant. Returns the time in milliseconds since 1970. */
  served: {
    readonly question: {
      readonly tenant: string;
      readonly edge: { readonly address: string; readonly port: number };
    };
    readonly answer: number;
  };
}

/** Sends a request. @throws with the message of the other side. */
export async function call<Name extends keyof ControlCalls>(
  socket: string,
  name: Name,
  question: ControlCalls[Name]['question'],
): Promise<ControlCalls[Name]['answer']> {
  const response = await fetch(`http://tenants/${name}`, {
    unix: socket,
    method: 'POST',
    timeout: false,
    body: JSON.stringify(question ?? {}),
  });
  if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
  return (await response.json()) as ControlCalls[Name]['answer'];
}

/** Serves requests until the process ends. */
export function serveControl(
  socket: string,
  answers: {
    readonly [Name in keyof ControlCalls]: (
      question: ControlCalls[Name]['question'],
    ) => ControlCalls[Name]['answer'] | Promise<ControlCalls[Name]['answer']>;
  },
): void {
  Bun.serve({
    unix: socket,
    async fetch(request) {
      const name = new URL(request.url).pathname.slice(1);
      const handler = (answers as Readonly<Record<string, (question: unknown) => unknown>>)[name];
      if (handler === undefined) return new Response(`no call '${name}'`, { status: 404 });
      try {
        return Response.json(await handler(await request.json()));
      } catch (error) {
        return new Response(String(error), { status: 500 });
      }
    },
  });
}
