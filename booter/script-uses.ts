// Records which boot scripts were used. A second record covers the archives with machines' own files in the same way. A
// boot script can contain secrets, so its URL works once (docs/reliability.md S-21). A HEAD does not use the URL up. A
// machine may repeat a GET that was interrupted, unless the booter has restarted: the booter writes a use to disk
// before it sends the first byte. So the booter never serves a whole script twice, even if it is killed. A machine that
// lost a complete answer starts over with a new DISCOVER, as iPXE does, and gets a new script.
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { TICKET_S, TRANSACTIONS_MAX } from "./limits.ts";
import { readOwn, writeDurably } from "./private-file.ts";
import type { Ticket } from "./ticket.ts";

export type ScriptUse = {
  /** Ends the use. `whole` is true if the complete answer was sent. Must be called once. */
  ended(whole: boolean): void;
};

export type ScriptUses = {
  isUsed(ticket: Ticket): boolean;
  /** Marks the script as used. Returns null if it is already used or being served. */
  use(ticket: Ticket): Promise<ScriptUse | null>;
  /**
   * Called when the machine sends a new DISCOVER. If the xid was used before, the script of this xid counts as unused
   * again.
   */
  renewed(mac: string, xid: number): void;
};

type Use = { readonly until_ms: number };

const LINE = /^([0-9a-f:]{17}) ([0-9]{1,10}) ([0-9]{1,15})$/;
/** The number of outdated lines after which the file of uses is rewritten without them. */
const OUTDATED_LINES_MAX = 4_096;
/**
 * The largest number of uses that are remembered for one machine. It is far more than the number of boots within
 * TICKET_S. So a machine that requests many scripts makes the booter forget only its own uses.
 */
export const USES_PER_MACHINE_MAX = 32;

/** @param name the file of the uses in `state_dir` */
export async function openScriptUses(
  state_dir: string,
  now: () => number,
  name = "used-scripts",
): Promise<ScriptUses> {
  const path = join(state_dir, name);
  // A key is a MAC address and an xid, so that each script of a machine has an entry. After a restart, the booter does
  // not know which script belongs to the machine's last DISCOVER, so every used script must still count as used.
  const used = new Map<string, Use>();
  for (const line of (await readOwn(path) ?? "").split("\n")) {
    const [, mac = "", xid = "", until_ms] = LINE.exec(line) ?? [];
    if (mac !== "" && Number(until_ms) > now()) used.set(`${mac} ${xid}`, { until_ms: Number(until_ms) });
  }
  const lines = () => [...used].map(([key, { until_ms }]) => `${key} ${until_ms}\n`).join("");
  await writeDurably(path, lines());
  let written = used.size;
  let last_write: Promise<void> = Promise.resolve();

  /** Waits for the earlier writes first: a line that is appended while the file is rewritten would be lost. */
  function write(key: string, use: Use): Promise<void> {
    const body = () => writeNow(key, use);
    return last_write = last_write.then(body, body);
  }

  async function writeNow(key: string, { until_ms }: Use): Promise<void> {
    written += 1;
    if (written - used.size <= OUTDATED_LINES_MAX) return await appendFile(path, `${key} ${until_ms}\n`);
    written = used.size;
    await writeDurably(path, lines());
  }

  /** Removes expired uses, and the oldest uses beyond the limits. */
  function makeRoom(mac: string): void {
    const own = [...used.keys()].filter((each) => each.startsWith(`${mac} `));
    if (own.length >= USES_PER_MACHINE_MAX) used.delete(own[0]!);
    // The oldest uses come first.
    for (const [each, { until_ms }] of used) {
      if (until_ms > now() && used.size < TRANSACTIONS_MAX) return;
      used.delete(each);
    }
  }

  const keyOf = ({ mac, xid }: Pick<Ticket, "mac" | "xid">) => `${mac} ${xid}`;
  const isUsed = (ticket: Ticket) => used.has(keyOf(ticket));
  return {
    isUsed,
    async use(ticket) {
      if (isUsed(ticket)) return null;
      const key = keyOf(ticket);
      // All tickets of one DISCOVER expire within this time.
      const use = { until_ms: now() + TICKET_S * 1_000 };
      makeRoom(ticket.mac);
      used.set(key, use);
      await write(key, use);
      return {
        ended(whole) {
          if (!whole && used.get(key) === use) used.delete(key);
        },
      };
    },
    renewed: (mac, xid) => void used.delete(keyOf({ mac, xid })),
  };
}
