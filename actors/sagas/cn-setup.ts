// Shows the setup of a bare machine as an operation, from the approval to the node's report. The actor of the node does
// the work and has the deadline. If the operation is abandoned, the node returns to awaiting_setup.
import { withActor } from "../engine/effects.ts";
import { saga, wait, write } from "../engine/saga.ts";
import { SETUP_LIMIT_MS } from "../../src/contract/limits.ts";
import { CN_SETUP } from "../cn/setup.ts";

export type CnSetupParams = { readonly server_uuid: string; readonly epoch: number };

/** The operation waits this much longer than the deadline of the node, so normally the node ends the setup first. */
const GRACE_MS = 5 * 60_000;

/** The first step commits with the approval (cn/setup.ts), so its `do` never runs. */
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
