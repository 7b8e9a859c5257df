// Finds a good signature of a message: one that verifies with one of the given keys. The primary key and the key that
// signed must be valid now, that is, not expired and not revoked. The library checks the keys only for the time of the
// signature. The types describe the results of an OpenPGP library, so that this file need not import the library.

/** One signature in the library's result. */
export type CheckedSignature<Id> = {
  readonly keyID: Id;
  /** Rejects when the signature is bad. */
  readonly verified: Promise<unknown>;
  readonly signature: Promise<{ readonly packets: ArrayLike<{ readonly created?: Date | null }> }>;
};
/** A trusted key in the library's form. */
export type SigningKey<Id> = {
  getKeys(id: Id): readonly unknown[];
  /** Rejects if the primary key or the key with this id is expired, revoked or not valid for signatures at `date`. */
  getSigningKey(id: Id, date: Date): Promise<unknown>;
};

/**
 * Returns the key and the time of the first good signature, and ignores the other signatures.
 * @throws Error if no signature is good, with the reason why the last signature was rejected
 */
export async function goodSignature<Id, Key extends SigningKey<Id>>(
  { signatures, keys, now }: { signatures: readonly CheckedSignature<Id>[]; keys: readonly Key[]; now: Date },
): Promise<{ readonly key: Key; readonly signed_at: Date }> {
  let reason = "there is no signature";
  for (const { keyID, verified, signature } of signatures) {
    try {
      await verified;
      const key = keys.find((candidate) => candidate.getKeys(keyID).length > 0);
      if (key === undefined) throw new Error("the signature is by a key that is not trusted");
      await key.getSigningKey(keyID, now).catch((error: Error) => {
        throw new Error(`the signature is by a key that has expired or is revoked (${error.message})`);
      });
      const signed_at = (await signature).packets[0]?.created;
      if (signed_at === undefined || signed_at === null) throw new Error("the signature has no date");
      return { key, signed_at };
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
  }
  throw new Error(reason);
}
