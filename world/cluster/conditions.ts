/** What nodes and pods have in common: a name, and a status with conditions. */
export interface ObjectWithConditions {
  readonly metadata?: { readonly name?: string };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** Does it say of itself that it is Ready? */
export function isReady({ status }: ObjectWithConditions): boolean {
  return (
    status?.conditions?.some(
      (condition) => condition.type === 'Ready' && condition.status === 'True',
    ) ?? false
  );
}
