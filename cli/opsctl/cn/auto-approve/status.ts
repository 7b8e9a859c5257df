import type { AutoApproveWindow } from "../../../../src/contract/cn.ts";
import { type AnyCommand, command } from "../../../framework.ts";
import { withIo } from "../../../internal/run.ts";
import { WINDOW_PATH, windowText } from "./window.ts";

export function status(): AnyCommand {
  return command("status", "Show the open auto-approve window")
    .action(withIo(async (io) => {
      const window = await io.get<AutoApproveWindow | null>(WINDOW_PATH);
      io.print(window, window === null ? "No window open." : windowText(window));
    }));
}
