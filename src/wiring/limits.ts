// Limits the rates of routes: per client address, per account, or for the whole site.
import type { Config } from "../config.ts";
import { type Fault, fault } from "../contract/fault.ts";
import { createHash } from "node:crypto";
import { type Bucket, failuresExhausted, giveToken, type LimitAnswer, noteFailure, takeToken } from "../db/limits.ts";
import type { Db } from "../db/pool.ts";
import { addressBucket } from "../lib/net/client-address.ts";
import type { RouteDeps } from "../routes/deps.ts";

export function createLimits(db: Db, config: Config): RouteDeps["limits"] {
  const of = (what: string, per_minute: number) => (address: string) =>
    limited(takeToken(db, { bucket: `${what}:${addressBucket(address)}`, burst: per_minute, per_minute }));
  return {
    approve: of("approve", config.approvePerMinute),
    register: of("register", config.registerPerMinute),
    login: of("login", config.loginPerMinute),
    password: (username) => limited(takeToken(db, ofAccount(username, config.loginAccountPerMinute))),
    passwordRight: (username) => giveToken(db, ofAccount(username, config.loginAccountPerMinute)),
    approveFailures: () => limited(failuresExhausted(db, "cn-approval")),
    noteApproveFailure: () => noteFailure(db, "cn-approval"),
  };
}

/**
 * Returns the name of the bucket of an account. The name is a hash, because user names may be long, and because people
 * type passwords into the name field by mistake.
 */
function ofAccount(username: string, per_minute: number): Bucket {
  const name = createHash("sha256").update(username).digest("hex");
  return { bucket: `login-account:${name}`, burst: per_minute, per_minute };
}

async function limited(answer: Promise<LimitAnswer>): Promise<Fault | null> {
  const taken = await answer;
  if (taken.ok) return null;
  const { retry_after_s } = taken;
  return fault("too_many_requests", `too many attempts; try again in ${retry_after_s} s`, {
    error_code: "TooManyRequests",
    retry_after_s,
  });
}
