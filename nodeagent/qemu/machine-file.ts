// Stores what the driver must remember about the machine itself: the identity, the reservoir and the bound addresses.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { RESERVOIR_ENABLED_DEFAULT, RESERVOIR_PERCENT_DEFAULT } from "../../src/contract/limits.ts";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import { readPrivateFile, writeFileDurably } from "../../cli/internal/private-file.ts";
import type { Bindings } from "../address-bindings.ts";
import type { Reservoir } from "../driver.ts";

export type MachineState = {
  readonly server_uuid: string;
  readonly reservoir: Reservoir;
  readonly addresses: Bindings;
};

export type MachineFile = {
  read(): MachineState;
  /**
   * Changes fields of the state. The changes are on disk when the promise resolves. If the promise rejects, the earlier
   * state is valid, so the caller can repeat the change.
   */
  change(change: (state: MachineState) => Partial<MachineState>): Promise<void>;
};

const FILE = "machine.json";
const RESERVOIR: Reservoir = { enabled: RESERVOIR_ENABLED_DEFAULT, percent: RESERVOIR_PERCENT_DEFAULT };

/** Returns whether a QEMU driver has run with this state folder. */
export function hasMachineFile(state_dir: string): boolean {
  return existsSync(join(state_dir, FILE));
}

/** Opens the file, or creates it with a new machine's state. Throws a Failure if it is damaged. */
export async function openMachineFile(state_dir: string, newUuid: () => Promise<string>): Promise<MachineFile> {
  const path = join(state_dir, FILE);
  const text = await readPrivateFile(path);
  let state = text === null ? { server_uuid: await newUuid(), reservoir: RESERVOIR, addresses: {} } : parse(path, text);
  let last: Promise<void> = Promise.resolve();
  const write = (content: MachineState) => writeFileDurably(path, `${JSON.stringify(content, null, 2)}\n`);
  // An unchanged file is not written again, so that the agent starts on a full disk.
  if (text === null || !isDeepStrictEqual(JSON.parse(text), state)) await write(state);
  return {
    read: () => state,
    // Changes run one at a time, and each begins with the state on disk.
    change: (change) => {
      const apply = async () => {
        const next = { ...state, ...change(state) };
        if (isDeepStrictEqual(next, state)) return;
        await write(next);
        state = next;
      };
      return last = last.then(apply, apply);
    },
  };
}

function parse(path: string, text: string): MachineState {
  try {
    const saved = JSON.parse(text) as Partial<MachineState>;
    if (typeof saved.server_uuid === "string") return { reservoir: RESERVOIR, addresses: {}, ...saved } as MachineState;
  } catch {
    // The Failure below reports it.
  }
  throw new Failure(`${path} is damaged; remove it, then start the agent again`, EXIT.failure);
}
