// Which of a message's signatures counts, in the words of an OpenPGP library without the library itself: one that
// verified, by one of the given keys, while that key is neither expired nor revoked.

/** One signature as the library answers it. */
export type CheckedSignature<Id> = {
  readonly keyID: Id;
  /** Rejects where the signature is bad. */
  readonly verified: Promise<unknown>;
  readonly signature: Promise<{ readonly packets: ArrayLike<{ readonly created?: Date | null }> }>;
};
/** A key that may count, as the library holds it. */
export type SigningKey<Id> = {
  getKeys(id: Id): readonly unknown[];
  /** Infinity for a key without an end, null for one that is revoked or not validly bound. */
  getExpirationTime(): Promise<Date | number | null>;
};

/**
 * The first good signature: its key and the time it was made. Others beside it are ignored.
 * @throws Error with the reason of the last one that was refused
 */
export async function goodSignature<Id, Key extends SigningKey<Id>>(
  { signatures, keys, now }: { signatures: readonly CheckedSignature<Id>[]; keys: readonly Key[]; now: Date },
): Promise<{ readonly key: Key; readonly signed_at: Date }> {
  let reason = "no signature";
  for (const { keyID, verified, signature } of signatures) {
    try {
      await verified;
      const key = keys.find((candidate) => candidate.getKeys(keyID).length > 0);
      if (key === undefined) throw new Error("by a key that does not count");
      const expires = await key.getExpirationTime();
      if (expires === null || Number(expires) <= now.getTime()) {
        throw new Error("by a key that has expired or is revoked");
      }
      const signed_at = (await signature).packets[0]?.created;
      if (signed_at === undefined || signed_at === null) throw new Error("no date in it");
      return { key, signed_at };
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
  }
  throw new Error(reason);
}
