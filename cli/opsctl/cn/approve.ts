import type { CnApproval, CnView } from "../../../src/contract/cn.ts";
import { CLAIM_CODE_CHARS } from "../../../src/contract/limits.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { confirm } from "../../internal/confirmation.ts";
import { YES_FLAGS } from "../../internal/delete-command.ts";
import { eachNamed } from "../../internal/each-named.ts";
import type { Io } from "../../internal/io.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { approvalText, findClaim, type ShownClaim } from "./claim.ts";

export function approve(): AnyCommand {
  return command("approve", "Approve compute nodes by the claim codes on their consoles", "4Q7-9KZ")
    .argument("<code...>", "claim code; case, spaces and hyphens do not matter")
    .option(YES_FLAGS, "do not ask for confirmation")
    .addHelpText(
      "after",
      "\nOn a terminal the command asks for confirmation. Without a terminal, as in a script, it needs --yes if the node\n" +
        "is not pending, has several claims, or has a record that differs from the claim.",
    )
    .action(withIo(async (io, words, { yes }) => {
      await eachNamed(claimCodesOf(words), (code) => approveOne(io, code, yes === true));
    }));
}

async function approveOne(io: Io, code: string, yes: boolean): Promise<void> {
  const body: CnApproval = { code };
  const found = await findClaim(io, code);
  if (found !== null) await agree(io, yes, found);
  const node = await io.post<CnView>("/v1/cn-approvals", body);
  const key = plainText(node.bound_api_key_id ?? "(none)");
  io.print(node, `Approved CN ${plainText(node.server_uuid)}; bound api key id ${key}`);
}

/**
 * Shows the claim and asks for confirmation on a terminal. A script needs --yes only if the approval may replace the
 * recorded machine by another one.
 */
async function agree(io: Io, yes: boolean, found: ShownClaim): Promise<void> {
  const warning = approvalText(found);
  const { claim, node } = found;
  const isPlain = node.state === "pending" && node.claims.length === 1 && claim.differs.length === 0;
  if (yes || (isPlain && !(await io.environment.keyboard()).isTTY)) {
    return void io.environment.stderr.write(`${warning}\n`);
  }
  await confirm(io, false, () => Promise.resolve({ warning, names: [claim.hostname, node.server_uuid] }));
}

/**
 * Returns the codes without whitespace and hyphens, in upper case. Joins consecutive words until they make a complete
 * code, so `4Q7 9KZ` is one code. Does not check the codes, because the server does.
 */
function claimCodesOf(words: readonly string[]): readonly string[] {
  const codes: string[] = [];
  for (const word of words.join(" ").replaceAll("-", "").toUpperCase().trim().split(/\s+/)) {
    const last = codes.at(-1);
    if (last === undefined || last.length >= CLAIM_CODE_CHARS) codes.push(word);
    else codes.splice(-1, 1, last + word);
  }
  return codes;
}
