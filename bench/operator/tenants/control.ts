/**
 * How the bench speaks with the process of the tenants: HTTP on a Unix socket, since that process is in another network.
 */
import type { Requests } from '../request-counts.ts';

/** What there is to ask. */
export interface Questions {
  /** Requests to all tenants so far. */
  counts: { readonly question: undefined; readonly answer: Requests };
  /** The text at an http URL in the network of the tenants. */
  page: { readonly question: { readonly url: string }; readonly answer: string };
  /** Deletes an object of a tenant and waits for it; milliseconds until it was there again. */
  repair: {
    readonly question: { readonly tenant: string; readonly what: 'slice' | 'daemonSet' };
    readonly answer: number;
  };
  /** Dials the edge until it leads to this tenant; when that was, in milliseconds since 1970. */
  served: {
    readonly question: {
      readonly tenant: string;
      readonly edge: { readonly address: string; readonly port: number };
    };
    readonly answer: number;
  };
}

/** Asks. @throws with the words of the other side. */
export async function ask<Name extends keyof Questions>(
  socket: string,
  name: Name,
  question: Questions[Name]['question'],
): Promise<Questions[Name]['answer']> {
  const response = await fetch(`http://tenants/${name}`, {
    unix: socket,
    method: 'POST',
    timeout: false,
    body: JSON.stringify(question ?? {}),
  });
  if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
  return (await response.json()) as Questions[Name]['answer'];
}

/** Answers, until the process ends. */
export function answer(
  socket: string,
  answers: {
    readonly [Name in keyof Questions]: (
      question: Questions[Name]['question'],
    ) => Questions[Name]['answer'] | Promise<Questions[Name]['answer']>;
  },
): void {
  Bun.serve({
    unix: socket,
    async fetch(request) {
      const name = new URL(request.url).pathname.slice(1);
      const find = (answers as Readonly<Record<string, (question: unknown) => unknown>>)[name];
      if (find === undefined) return new Response(`no question '${name}'`, { status: 404 });
      try {
        return Response.json(await find(await request.json()));
      } catch (error) {
        return new Response(String(error), { status: 500 });
      }
    },
  });
}
