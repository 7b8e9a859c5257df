import type { CnView } from "../../../src/contract/cn.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { resolveNode } from "../node-name.ts";

export function disable(): AnyCommand {
  return command("disable", "Disable a compute node; its API key stays valid", "cn-17")
    .argument("<node>", "UUID, unique UUID prefix or hostname")
    .action(withIo(async (io, name) => {
      const node = await io.post<CnView>(`/v1/cns/${await resolveNode(io, name)}/disable`);
      io.print(node, `Disabled CN ${plainText(node.server_uuid)} (state=${plainText(node.state)})`);
    }));
}
