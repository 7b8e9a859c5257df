import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { saveScreenshot, SCREENSHOT_SUMMARY, TO_OPTION } from "../../internal/screenshot.ts";
import { INSTANCE_ARGUMENT, instancePath } from "./instance.ts";

export function screenshot(): AnyCommand {
  return command("screenshot", SCREENSHOT_SUMMARY, "web1 --to web1.png")
    .argument(...INSTANCE_ARGUMENT)
    .option(...TO_OPTION)
    .action(withIo(async (io, name, { to }) => saveScreenshot(io, { path: await instancePath(io, name), to })));
}
