import type { Convergence } from "../../../../src/contract/boot.ts";
import { type AnyCommand, command } from "../../../framework.ts";
import { plainText } from "../../../internal/plain-text.ts";
import { withIo } from "../../../internal/run.ts";
import { ROSTER_PATH } from "./roster/roster.ts";

export function converge(): AnyCommand {
  return command("converge", "Write the roster's networking to boot records that are older than the roster")
    .action(withIo(async (io) => {
      const answer = await io.post<Convergence>(`${ROSTER_PATH}/converge`);
      io.print(answer, convergenceText(answer));
    }));
}

function convergenceText({ converged, unchanged, unknown }: Convergence): string {
  const counts = `${converged.length} rewritten, ${unchanged.length} as declared, ${unknown.length} not seen yet`;
  return [
    `Converged: ${counts}`,
    ...converged.map((mac) => `  ${plainText(mac)}  rewritten; applied at its next netboot`),
    ...unknown.map((mac) => `  ${plainText(mac)}  has no boot record yet`),
  ].join("\n");
}
