import type { AutoApproveBody, AutoApproveWindow } from "../../../../src/contract/cn.ts";
import { type AnyCommand, command, wholeNumber } from "../../../framework.ts";
import { withIo } from "../../../internal/run.ts";
import { secondsOf } from "../../../internal/time-text.ts";
import { WINDOW_PATH, windowText } from "./window.ts";

export function open(): AnyCommand {
  return command("open", "Open an auto-approve window; an earlier window ends", "--duration-secs 3600 --count 40")
    .requiredOption(
      "--duration-secs <seconds>",
      "seconds, or a duration such as 30m; the server limits it to 24 hours",
      secondsOf(1),
    )
    .option("--count <number>", "number of nodes, unlimited by default", wholeNumber(1))
    .action(withIo(async (io, { durationSecs, count }) => {
      const body: AutoApproveBody = { duration_secs: durationSecs, count };
      const window = await io.post<AutoApproveWindow>(WINDOW_PATH, body);
      io.print(window, `Auto-approve window opened:\n${windowText(window).replace(/^/gm, "  ")}`);
    }));
}
