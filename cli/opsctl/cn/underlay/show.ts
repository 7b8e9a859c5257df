import type { CnView } from "../../../../src/contract/cn.ts";
import { type AnyCommand, command } from "../../../framework.ts";
import { withIo } from "../../../internal/run.ts";
import { resolveNode } from "../../node-name.ts";
import { underlayText } from "./set.ts";

export function show(): AnyCommand {
  return command("show", "Show the underlay address and MTU of a node", "cn-17")
    .argument("<node>", "UUID, unique UUID prefix or hostname")
    .action(withIo(async (io, name) => {
      const node = await io.get<CnView>(`/v1/system/cns/${await resolveNode(io, name)}`);
      io.print(node, underlayText(node));
    }));
}
