import { CONSOLE_DIAL_S, CONSOLE_LOG_BYTES_MAX } from "../../../src/contract/limits.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { openConsole } from "../../internal/console.ts";
import { createConsoleText } from "../../internal/console-text.ts";
import { type TenantIo, withIo } from "../open-io.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";
import { INSTANCE } from "./instance.ts";

/** Time limit of the request, in which the node connects to the control plane and then sends the log. */
const LOG_LIMIT_MS = 4 * CONSOLE_DIAL_S * 1_000;

/** Returns the verb `instance log`, which is also the command `logs` of the program. */
export function log(
  name = "log",
  summary = "Print the last 1 MiB that an instance wrote to its serial console",
): AnyCommand {
  return command(name, summary, "web1 --follow")
    .argument("<instance>", NAME_HELP)
    .option("-f, --follow", "then print new output as it arrives, until Ctrl-C")
    .option("--raw", "print control sequences, too: they can change your terminal")
    .action(withIo(async (io, name, { follow, raw }) => {
      const path = `${INSTANCE.path}/${await resolveInstance(io, name)}`;
      const safe = raw ? (text: string) => text : createConsoleText();
      if (follow) return await followLog(io, path, safe);
      const text = await io.send<string | null>({
        method: "GET",
        path: `${path}/console-log`,
        is_text: true,
        limit_ms: LOG_LIMIT_MS,
      });
      io.environment.stdout.write(safe(text ?? ""));
    }));
}

async function followLog(io: TenantIo, path: string, safe: (text: string) => string): Promise<void> {
  const decoder = new TextDecoder();
  const wanted = { mode: "watch", history_bytes: CONSOLE_LOG_BYTES_MAX } as const;
  const { stdout } = io.environment;
  let leave = () => {};
  const opened = await openConsole(io, { path, wanted }, {
    ready: () => {},
    output: (bytes) => {
      stdout.write(safe(decoder.decode(bytes, { stream: true })));
      // The reader of the pipe has ended, as in `--follow | head`.
      if (stdout.isClosed) leave();
    },
    note: (line) => io.note(line),
  });
  leave = opened.leave;
  if (stdout.isClosed) leave();
  await opened.ended;
}
