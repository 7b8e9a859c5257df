import type { OpenConsole } from "../../../src/contract/console.ts";
import { type AnyCommand, command, listCommand } from "../../framework.ts";
import { openConsole } from "../../internal/console.ts";
import { createEscape } from "../../internal/console-escape.ts";
import { usageFailure } from "../../internal/failure.ts";
import { plainText } from "../../internal/plain-text.ts";
import { AGE_COLUMN, type Column, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { type TenantIo, withIo } from "../open-io.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";
import { INSTANCE } from "./instance.ts";
import { operateSilently } from "./operation.ts";

/** How long the console stays open after the end of piped input or the last output, whichever is later. */
const LINGER_MS = 1_000;
const HELP = "~.  close the console    ~~  type ~    ~?  this help    (~ counts only at the beginning of a line)";

/** Returns the verb `instance console`, which is also the command `console` of the program. */
export function openConsoleVerb(summary = "Open the serial console of an instance"): AnyCommand {
  return command("console", summary, "web1")
    .argument("<instance>", NAME_HELP)
    .option("--watch", "only watch: type nothing")
    .option("--take-over", "type in place of the user who types now; the console of that user then only watches")
    .option("--reset", "press the reset button when the console is open, for example to reach the boot menu")
    .addHelpText("after", "\nPress Enter, then ~. to close the console.")
    .action(withIo(async (io, name, { watch, takeOver, reset }) => {
      if (watch && takeOver) throw usageFailure("--watch and --take-over exclude each other");
      const path = `${INSTANCE.path}/${await resolveInstance(io, name)}`;
      const mode = watch ? "watch" : "write";
      await attach(io, { name, path, mode, take_over: takeOver === true, resets: reset === true });
    }));
}

const COLUMNS: readonly Column<OpenConsole>[] = [
  ["USER", ({ username }) => username],
  ["MODE", ({ mode }) => mode],
  ["AGE", ({ since }) => since, AGE_COLUMN],
  ["SESSION", ({ session_id }) => session_id, ID_COLUMN],
  ["SINCE", ({ since }) => since, WIDE_COLUMN],
];

export function consoles(): AnyCommand {
  return listCommand("consoles", "List the open serial consoles of an instance, with their users", "web1")
    .argument("<instance>", NAME_HELP)
    .action(withIo(async (io, name) => {
      const path = `${INSTANCE.path}/${await resolveInstance(io, name)}/consoles`;
      const answer = await io.get<{ items: OpenConsole[] }>(path);
      io.table(answer, answer.items, COLUMNS, "(no open consoles)");
    }));
}

type Attached = {
  readonly name: string;
  readonly path: string;
  readonly mode: "write" | "watch";
  readonly take_over: boolean;
  /** Whether the instance is reset when the console is open. */
  readonly resets: boolean;
};

/** Connects the standard input and output, a terminal or pipes, with the console. */
async function attach(io: TenantIo, { name, path, mode, take_over, resets }: Attached): Promise<void> {
  const { environment } = io;
  const keyboard = await environment.keyboard();
  const ready = Promise.withResolvers<void>();
  // A terminal in raw mode does not return the cursor at a line break.
  const say = (line: string) => environment.stderr.write(`\r\n${plainText(line)}\r\n`);
  let output_at_ms = environment.monotonicMs();
  const opened = await openConsole(io, { path, wanted: { mode, take_over } }, {
    ready: (writer) => {
      const state = writer ? "Connected to" : "Watching";
      if (keyboard.isTTY) say(`${state} ${name}. Press Enter, then ~. to leave, ~? for help.`);
      ready.resolve();
    },
    output: (bytes) => {
      output_at_ms = environment.monotonicMs();
      environment.stdout.writeBytes(bytes);
    },
    note: say,
  });
  const escape = createEscape();
  let typing: Promise<void> = Promise.resolve();
  const typed = (bytes: Uint8Array) => typing = type(bytes);
  async function type(bytes: Uint8Array): Promise<void> {
    await Promise.race([ready.promise, opened.ended]);
    const { bytes: rest, action } = keyboard.isTTY ? escape(bytes) : { bytes, action: null };
    if (action === "help") say(HELP);
    if (mode === "write") await opened.type(rest);
    if (action === "leave") opened.leave();
  }
  const left = new AbortController();
  const resetting = resets ? reset() : Promise.resolve();
  const stop = keyboard.readRaw(typed, () => void linger().catch(() => opened.leave()));
  /** Gives the guest time to answer piped input. */
  async function linger(): Promise<void> {
    await Promise.race([ready.promise, opened.ended]);
    await typing;
    await resetting;
    output_at_ms = environment.monotonicMs();
    while (environment.monotonicMs() - output_at_ms < LINGER_MS) {
      await environment.sleepMs(LINGER_MS, environment.signal);
    }
    opened.leave();
  }
  /**
   * Resets the instance while the console is open, so that the console shows the output from the first moment. Shows no
   * status line, because the line would mix with this output.
   */
  async function reset(): Promise<void> {
    await Promise.race([ready.promise, opened.ended]);
    const signal = AbortSignal.any([environment.signal, left.signal]);
    await operateSilently(io, { method: "POST", path: `${path}/reset` }, signal);
    output_at_ms = environment.monotonicMs();
  }
  try {
    // The user may close the console before the reset ends.
    await Promise.race([resetting, opened.ended]).catch((error) => (opened.leave(), Promise.reject(error)));
    await opened.ended;
  } finally {
    left.abort();
    stop();
    if (keyboard.isTTY) say("The console is closed.");
  }
}
