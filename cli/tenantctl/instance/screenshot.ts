import { type AnyCommand, command } from "../../framework.ts";
import { saveScreenshot, SCREENSHOT_SUMMARY, TO_OPTION } from "../../internal/screenshot.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";
import { INSTANCE } from "./instance.ts";

export function screenshot(): AnyCommand {
  return command("screenshot", SCREENSHOT_SUMMARY, "web1 --to web1.png")
    .argument("<instance>", NAME_HELP)
    .option(...TO_OPTION)
    .action(withIo(async (io, name, { to }) => {
      await saveScreenshot(io, { path: `${INSTANCE.path}/${await resolveInstance(io, name)}`, to });
    }));
}
