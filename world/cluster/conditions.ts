/** The fields that nodes and pods share: a name, and a status with conditions. */
export interface ObjectWithConditions {
  readonly metadata?: { readonly name?: string };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** Reports whether the object has the condition Ready with status True. */
export function isReady({ status }: ObjectWithConditions): boolean {
  return (
    status?.conditions?.some(
      (condition) => condition.type === 'Ready' && condition.status === 'True',
    ) ?? false
  );
}
