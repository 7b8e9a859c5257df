// Claims of Idempotency-Keys that arrive together share a statement, and so one commit and one flush (idempotency.ts).
// If no statement is running, a claim begins one in the same turn of the event loop. While one is running, all further
// claims wait for the next statement. Therefore a statement serves more claims when the load grows.
import { claimKey, claimKeys, type KeyAnswer, type KeyClaim, placeOf } from "./idempotency.ts";
import { type DbClient, isTimeout } from "./pool.ts";

/** A claim and the request that waits for its answer. */
type Waiting = { readonly claim: KeyClaim; readonly answer: PromiseWithResolvers<KeyAnswer> };

/** The longest time that claims wait for a running statement. After this time, their statement begins in parallel. */
const WAIT_MAX_MS = 10;
/** The maximum number of claims in a statement. */
const CLAIMS_MAX = 128;

export function createKeyClaims(db: DbClient): (claim: KeyClaim) => Promise<KeyAnswer> {
  let waiting: Waiting[] = [];
  let running = 0;
  let isScheduled = false;
  let patience: ReturnType<typeof setTimeout> | undefined;

  async function claimAll(): Promise<void> {
    clearTimeout(patience);
    patience = undefined;
    isScheduled = false;
    const batch = takeBatch();
    // The claims that did not fit into the batch wait at most WAIT_MAX_MS, like claims that arrive now.
    if (batch.length === CLAIMS_MAX && waiting.length > 0) patience = setTimeout(claimSoon, WAIT_MAX_MS);
    running += 1;
    await answerAll(db, batch);
    running -= 1;
    if (waiting.length > 0) claimSoon();
  }

  /** Takes the next claims. A second claim of a key must wait, because a statement cannot write a row twice. */
  function takeBatch(): Waiting[] {
    const batch = new Map<string, Waiting>();
    const later: Waiting[] = [];
    for (const each of waiting) {
      const place = placeOf(each.claim);
      if (batch.size === CLAIMS_MAX || batch.has(place)) later.push(each);
      else batch.set(place, each);
    }
    waiting = later;
    return [...batch.values()];
  }

  function claimSoon(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => void claimAll());
  }

  return function claim(claim) {
    const answer = Promise.withResolvers<KeyAnswer>();
    waiting.push({ claim, answer });
    if (running === 0) claimSoon();
    else patience ??= setTimeout(claimSoon, WAIT_MAX_MS);
    return answer.promise;
  };
}

/**
 * Answers all claims. If the shared statement fails, repeats each claim alone, so that it gets only its own error. For
 * example, if a key is locked for too long, only the claim of this key fails. A repeat is safe, because a repeated
 * claim with the same message id changes nothing. After a timeout there are no repeats, and all claims fail: repeats
 * would send up to 128 statements to a database that is too slow for one.
 */
async function answerAll(db: DbClient, batch: readonly Waiting[]): Promise<void> {
  const [first, ...others] = batch;
  if (first === undefined) return;
  if (others.length === 0) return await answerOne(db, first);
  try {
    const answers = await claimKeys(db, batch.map(({ claim }) => claim));
    batch.forEach(({ answer }, index) => answer.resolve(answers[index]!));
  } catch (error) {
    if (isTimeout(error)) { for (const { answer } of batch) answer.reject(error); }
    else await Promise.all(batch.map((each) => answerOne(db, each)));
  }
}

async function answerOne(db: DbClient, { claim, answer }: Waiting): Promise<void> {
  try {
    answer.resolve(await claimKey(db, claim));
  } catch (error) {
    answer.reject(error);
  }
}
