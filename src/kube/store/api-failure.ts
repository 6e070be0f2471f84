/**
 * Errors of API calls, with the messages of the real API server.
 */
import type { StatusCause } from '../kube-error.ts';
import { keyText } from '../object.ts';
import type { ObjectKey } from '../object.ts';
import { groupOf, type Resource } from '../resource.ts';
import type { JsonObject } from './json.ts';

interface ApiFailureOptions {
  readonly details?: JsonObject;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number | undefined;
}

/** A failed API call. Sent to the client as a Status. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly reason: string;
  readonly retryAfterSeconds: number | undefined;
  readonly #details: JsonObject;

  constructor(status: number, reason: string, message: string, options: ApiFailureOptions = {}) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.#details = {
      ...options.details,
      ...(options.causes === undefined ? {} : { causes: options.causes }),
      ...(options.retryAfterSeconds === undefined
        ? {}
        : { retryAfterSeconds: options.retryAfterSeconds }),
    };
  }

  /** Returns the Status object. */
  body(): JsonObject {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      reason: this.reason,
      details: this.#details,
      code: this.status,
    };
  }
}

/** The object does not exist. */
export function notFound(resource: Resource, name: string): ApiFailure {
  return new ApiFailure(404, 'NotFound', `${qualified(resource)} "${name}" not found`, {
    details: detailsOf(resource, name),
  });
}

/** The path does not exist. */
export function noSuchPath(): ApiFailure {
  return new ApiFailure(404, 'NotFound', 'the server could not find the requested resource');
}

/** The object already exists. */
export function alreadyExists(resource: Resource, name: string): ApiFailure {
  return new ApiFailure(409, 'AlreadyExists', `${qualified(resource)} "${name}" already exists`, {
    details: detailsOf(resource, name),
  });
}

/** The uid or resourceVersion of the object does not match. */
export function conflict(resource: Resource, key: ObjectKey, why: string): ApiFailure {
  return new ApiFailure(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(resource)} "${key.name}": ${why}`,
    { details: detailsOf(resource, key.name) },
  );
}

/** The object is invalid. */
export function invalid(
  resource: Resource,
  key: ObjectKey,
  field: string,
  why: string,
): ApiFailure {
  return new ApiFailure(
    422,
    'Invalid',
    `${resource.kind} "${keyText(key)}" is invalid: ${field}: ${why}`,
    {
      details: detailsOf(resource, key.name),
      causes: [{ reason: 'FieldValueInvalid', message: why, field }],
    },
  );
}

/** The request is malformed. */
export function badRequest(message: string): ApiFailure {
  return new ApiFailure(400, 'BadRequest', message);
}

/** The resourceVersion is too old. */
export function expired(version: string, oldest: number): ApiFailure {
  return new ApiFailure(410, 'Expired', `too old resource version: ${version} (${oldest})`);
}

function qualified({ plural, apiVersion }: Resource): string {
  const group = groupOf(apiVersion);
  return group === '' ? plural : `${plural}.${group}`;
}

function detailsOf({ plural, apiVersion }: Resource, name: string): JsonObject {
  return { name, group: groupOf(apiVersion), kind: plural };
}
