// Starts QEMU so that it survives the agent, and reports why it ended. With systemd, each VM is a transient service.
// Without systemd, QEMU gets a session of its own. Then only the agent process that started QEMU knows why QEMU ended.
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import { confinedArgv, type Confinement, confinementName, unitArgv } from "./launch-argv.ts";
import { programEnvironment, runProgram } from "./run-program.ts";
import type { VmRecord } from "./vm-record.ts";

export type Supervisor = {
  readonly name: "systemd" | "session";
  /** Starts QEMU. Returns before QEMU is ready. */
  start(vm: VmRecord, confinement: Confinement, command: readonly string[]): Promise<void>;
  /** Returns how the VM's last process ended, for operators. Null if this is unknown, or a unit ended normally. */
  ending(vm_id: string): Promise<string | null>;
  /** Forgets the VM's process. Call it after the process has ended. */
  forget(vm_id: string): Promise<void>;
  /** Limits the memory of all VMs together, if the supervisor can. Null removes the limit. */
  limitMemory(bytes: number | null): Promise<void>;
};

/** Characters of QEMU's last messages that are kept to explain its end. */
const MESSAGES_CHARS_MAX = 2_000;

/** Time that a process has to end after its monitor closed. */
const EXIT_LIMIT_MS = 2_000;

/** The end of a process that this agent started. */
type Ending = { messages: string; status: string | null; readonly exited: Promise<void> };

export function sessionSupervisor(): Supervisor {
  const endings = new Map<string, Ending>();
  return {
    name: "session",
    start: async (vm, confinement, command) => {
      const [program = "", ...rest] = confinedArgv(confinement, command);
      const child = spawn(program, rest, {
        detached: true,
        stdio: ["ignore", "ignore", "pipe"],
        env: programEnvironment(),
        cwd: "/",
      });
      const exited = new Promise<void>((resolve) => {
        child.once("exit", (code, signal) => {
          ending.status = signal === null ? `status ${code}` : `signal ${signal}`;
          resolve();
        });
      });
      const ending: Ending = { messages: "", status: null, exited };
      endings.set(vm.id, ending);
      // The messages are kept in memory and not on disk, because a guest can cause many. QEMU ignores the closed pipe
      // of an agent that has ended.
      child.stderr.on("data", (chunk) => ending.messages = `${ending.messages}${chunk}`.slice(-MESSAGES_CHARS_MAX));
      // Neither the process nor its pipe keeps the agent running.
      child.unref();
      // The pipe is a socket, which has `unref`. Its type is only a readable stream.
      (child.stderr as unknown as { unref?: () => void }).unref?.();
      await new Promise<void>((resolve, reject) => {
        child.once("spawn", () => resolve());
        child.once("error", (error) => reject(new Failure(`${program}: ${error.message}`, EXIT.failure)));
      });
    },
    ending: async (vm_id) => {
      const ending = endings.get(vm_id);
      if (ending === undefined) return null;
      // The monitor's connection ends a moment before the process does.
      await Promise.race([ending.exited, sleep(EXIT_LIMIT_MS, undefined, { ref: false })]);
      const last = ending.messages.trim().split("\n").at(-1) ?? "";
      const parts = [ending.status, last].filter((part) => part !== null && part !== "");
      return parts.length === 0 ? null : parts.join(": ");
    },
    forget: (vm_id) => {
      endings.delete(vm_id);
      return Promise.resolve();
    },
    limitMemory: () => Promise.resolve(),
  };
}

export function systemdSupervisor(run: typeof runProgram = runProgram): Supervisor {
  const unitOf = (vm_id: string) => `${confinementName(vm_id)}.service`;
  return {
    name: "systemd",
    start: async (vm, confinement, command) => {
      // A failed unit occupies its name until the unit is reset.
      await run(["systemctl", "reset-failed", unitOf(vm.id)]).catch(() => {});
      await run(unitArgv({ ...vm, vm_id: vm.id }, confinedArgv(confinement, command)));
    },
    ending: async (vm_id) => {
      const properties = ["Result", "ExecMainCode", "ExecMainStatus"];
      const shown = await run(["systemctl", "show", `--property=${properties.join(",")}`, unitOf(vm_id)]);
      return unitEnding(shown);
    },
    forget: async (vm_id) => {
      await run(["systemctl", "stop", unitOf(vm_id)]).catch(() => {});
      await run(["systemctl", "reset-failed", unitOf(vm_id)]).catch(() => {});
    },
    limitMemory: async (bytes) => {
      await run(["systemctl", "set-property", "--runtime", "berth.slice", `MemoryMax=${bytes ?? "infinity"}`]);
    },
  };
}

/** systemd's number for a process that a signal ended. */
const KILLED = "2";

/** Reads the end of a unit's process from the output of `systemctl show`; null if the process ended normally. */
export function unitEnding(shown: string): string | null {
  const values = new Map(shown.split("\n").map((line) => line.split("=", 2) as [string, string]));
  const result = values.get("Result") ?? "success";
  if (result === "success") return null;
  if (result === "oom-kill") return "out of memory";
  const status = values.get("ExecMainStatus") ?? "";
  return values.get("ExecMainCode") === KILLED ? `signal ${status}` : `status ${status}`;
}
