// Defines the error for a failure that the operator of a BMC can act on.

export class BmcFault extends Error {
  constructor(
    message: string,
    readonly status: number | null = null,
    /** The MessageIds of the answer. */
    readonly ids: readonly string[] = [],
  ) {
    super(message);
  }
}
