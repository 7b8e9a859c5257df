import type { Roster } from "../../../../../src/contract/boot.ts";
import { type AnyCommand, showCommand } from "../../../../framework.ts";
import { plainJson, plainText } from "../../../../internal/plain-text.ts";
import { withIo } from "../../../../internal/run.ts";
import { versionOf } from "../policy/policy.ts";
import { ROSTER_PATH } from "./roster.ts";

export function show(): AnyCommand {
  return showCommand("show", "Print the roster in the form that apply takes")
    .action(withIo(async (io) => {
      const { body, etag } = await io.exchange({ method: "GET", path: ROSTER_PATH });
      const roster = body as Roster;
      io.print(roster, plainJson(roster));
      // An older server sends no ETag.
      const version = versionOf(etag);
      if (version !== null) {
        io.note(`Version ${plainText(version)}; opsctl cn boot roster apply takes it as --if-match`);
      }
    }));
}
