import type { CnView } from "../../../src/contract/cn.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { NODE_ARGUMENT, resolveNode } from "../node-name.ts";

export function enable(): AnyCommand {
  return command("enable", "Return a disabled compute node to service with the API key that it has", "cn-17")
    .argument(...NODE_ARGUMENT)
    .action(withIo(async (io, name) => {
      const node = await io.post<CnView>(`/v1/cns/${await resolveNode(io, name)}/enable`);
      io.print(node, `Enabled CN ${plainText(node.server_uuid)} (state=${plainText(node.state)})`);
    }));
}
