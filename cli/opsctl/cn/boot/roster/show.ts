import type { Roster } from "../../../../../src/contract/boot.ts";
import { type AnyCommand, showCommand } from "../../../../framework.ts";
import { plainJson } from "../../../../internal/plain-text.ts";
import { withIo } from "../../../../internal/run.ts";
import { ROSTER_PATH } from "./roster.ts";

export function show(): AnyCommand {
  return showCommand("show", "Print the roster in the form that apply takes")
    .action(withIo(async (io) => {
      const roster = await io.get<Roster>(ROSTER_PATH);
      io.print(roster, plainJson(roster));
    }));
}
