import type { CnRoleBody, CnView } from "../../../../src/contract/cn.ts";
import { CN_ROLES } from "../../../../src/contract/enums.ts";
import { type AnyCommand, command, oneOf } from "../../../framework.ts";
import { plainText } from "../../../internal/plain-text.ts";
import { withIo } from "../../../internal/run.ts";
import { resolveNode } from "../../node-name.ts";

export function set(): AnyCommand {
  return command("set", "Set the placement role of a node", "cn-17 --role tenant")
    .argument("<node>", "UUID, unique UUID prefix or hostname")
    .addOption(oneOf("--role <role>", "placement role", CN_ROLES).makeOptionMandatory())
    .action(withIo(async (io, name, { role }) => {
      const body: CnRoleBody = { role };
      const node = await io.post<CnView>(`/v1/cns/${await resolveNode(io, name)}/role`, body);
      io.print(node, `Set CN ${plainText(node.server_uuid)} role to ${plainText(node.role)}`);
    }));
}
