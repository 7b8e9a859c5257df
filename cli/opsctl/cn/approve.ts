import type { CnApproval, CnView } from "../../../src/contract/cn.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { plainText } from "../../kit/plain-text.ts";
import { withIo } from "../../kit/run.ts";

export function approve(): AnyCommand {
  return command("approve", "Approve a node by the claim code on its console")
    .argument("<code...>", "claim code; case, spaces and hyphens do not matter")
    .action(withIo(async (io, words) => {
      const body: CnApproval = { code: claimCodeOf(words) };
      const node = await io.post<CnView>("/v1/cn-approvals", body);
      const key = plainText(node.bound_api_key_id ?? "(none)");
      io.print(node, `Approved CN ${plainText(node.server_uuid)}; bound api key id ${key}`);
    }));
}

/** Document 2, Claim code: whitespace and hyphens go, letters become upper case. The server judges the rest. */
function claimCodeOf(words: readonly string[]): string {
  return words.join("").replace(/[\s-]+/g, "").toUpperCase();
}
