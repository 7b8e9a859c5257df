// Connects the consoles of this process to the database and the engine. After a commit that changes an instance, a hint
// (src/db/hints.ts) names the instance, and this process checks its consoles at once.
import { createCredentialReferences } from "../auth/credential-reference.ts";
import { CONSOLES_EACH_MAX, CONSOLES_MAX } from "../contract/limits.ts";
import type { Hints } from "../db/hints.ts";
import type { Db } from "../db/pool.ts";
import { createShares } from "../http/shares.ts";
import { checkConsoles } from "../services/console-check.ts";
import { createConsoleRelay } from "../services/console-relay.ts";

type ConsolePorts = {
  readonly db: Db;
  readonly identity_issuer: string | null;
  readonly hints: Pick<Hints, "onHint">;
  /** How long a console waits for its node. */
  readonly dial_ms: number;
  readonly report: (message: string, error: unknown) => void;
};

export function createConsoles({ db, identity_issuer, hints, report, dial_ms }: ConsolePorts) {
  const referenced = createCredentialReferences({ db, identity_issuer });
  const consoles = createConsoleRelay({
    check: (all) => checkConsoles({ kysely: db.kysely, referenced }, all),
    now_ms: () => performance.now(),
    failed: report,
    times: { dial_ms },
  });
  hints.onHint((hint) => {
    const ids = hint === "all" ? [] : hint.filter(({ kind }) => kind === "instance").map(({ id }) => id);
    if (hint === "all") consoles.nudge(() => true);
    else if (ids.length > 0) consoles.nudge((id) => ids.includes(id));
  });
  const consoleShares = createShares({ total_max: CONSOLES_MAX, each_max: CONSOLES_EACH_MAX });
  return {
    deps: { consoles, consoleShares, referenced },
    release: () => consoles.close("the control plane restarts. Open the console again"),
  };
}
