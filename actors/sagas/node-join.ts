// The mark of a node's approval among the operations, so that `operation list` tells when each node joined and who
// let it in. Document 4, 1.4 and 3.2.
import { saga, write } from "../engine/saga.ts";

export type NodeJoinParams = { readonly server_uuid: string; readonly hostname: string };

export const nodeJoin = saga<NodeJoinParams>("node-join")
  .step("joined", { do: (c) => write({ server_uuid: c.params.server_uuid, joined_at: c.now.toISOString() }) });
