// Shows the approval of a registered node as an operation, so that `operation list` shows when the node joined.
import { saga, write } from "../engine/saga.ts";

export type NodeJoinParams = { readonly server_uuid: string; readonly hostname: string };

export const nodeJoin = saga<NodeJoinParams>("node-join")
  .step("joined", { do: (c) => write({ server_uuid: c.params.server_uuid, joined_at: c.now.toISOString() }) });
