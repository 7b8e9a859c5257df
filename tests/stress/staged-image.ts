// Creates the records that a factory reset requires: the API key of a booter, and the booter's report that it has the
// image of the boot policy.
import { randomBytes } from "node:crypto";
import type { TwoEngines } from "./two-engines.ts";

export async function stageImage(two: TwoEngines, { stamp, user_id }: { stamp: string; user_id: string }) {
  const id = two.newId();
  await two.make({ kind: "api-key", id }, {
    type: "create",
    id,
    lookup: randomBytes(6).toString("hex"),
    secret_sha256: randomBytes(32).toString("hex"),
    user_id,
    description: "booter",
    scope: "booter",
    bound_to_cn: null,
    expires_at: null,
  });
  await two.make({ kind: "staging", id }, { type: "set", staged_by: id, stamps: [stamp] });
}
