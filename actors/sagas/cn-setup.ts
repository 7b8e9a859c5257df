// The setup of a bare machine, from approval to its report. The node's record does the work and holds the deadline; the
// operation makes it visible, and abandoning it takes the node back.
import { withActor } from "../engine/effects.ts";
import { saga, wait, write } from "../engine/saga.ts";
import { SETUP_LIMIT_MS } from "../../src/contract/limits.ts";
import { CN_SETUP } from "../cn/setup.ts";

export type CnSetupParams = { readonly server_uuid: string; readonly epoch: number };

/** The node's own deadline comes first; this one only ends an operation whose node has vanished from the records. */
const GRACE_MS = 5 * 60_000;

/** The first step commits with the approval (cn/setup.ts); what is written of it here is how it is undone. */
export const cnSetup = saga<CnSetupParams>(CN_SETUP.saga)
  .step(CN_SETUP.approved, {
    do: (c) => write({ epoch: c.params.epoch }),
    undo: (c) =>
      write(
        null,
        withActor({ kind: "cn", id: c.params.server_uuid }, {
          type: "revert_setup",
          epoch: c.params.epoch,
          reason: "setup abandoned by an operator",
        }),
      ),
  })
  .step(CN_SETUP.step, { kind: "wait", do: () => wait(SETUP_LIMIT_MS + GRACE_MS) });
