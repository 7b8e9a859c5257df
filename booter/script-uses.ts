// A boot script holds secrets, so its address works once (reliability.md S-21). The script of a DISCOVER is used when it
// is handed to a GET; a HEAD hands nothing over. What was cut before its end was not handed over, and the machine may ask
// again. A machine whose answer got lost later sends a DISCOVER again, as iPXE does when it starts over: that is a new
// script. A use is on disk before the first byte goes out, so a booter that is killed hands nothing over twice.
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { TICKET_S, TRANSACTIONS_MAX } from "./limits.ts";
import { readOwn, writeDurably } from "./private-file.ts";
import type { Ticket } from "./ticket.ts";

export type ScriptUse = {
  /** Called once: whether all of the answer went out. */
  ended(whole: boolean): void;
};

export type ScriptUses = {
  isUsed(ticket: Ticket): boolean;
  /** Uses the script; null when it is used already, or is being handed over. */
  use(ticket: Ticket): Promise<ScriptUse | null>;
  /** The machine sent a DISCOVER: its next script is another one. */
  renewed(mac: string): void;
};

type Used = { readonly xid: number; readonly until_ms: number };

const LINE = /^([0-9a-f:]{17}) ([0-9]{1,10}) ([0-9]{1,15})$/;
/** After so many uses the file is rewritten without expired tickets. */
const LINES_MAX = 4_096;

export async function openScriptUses(state_dir: string, now: () => number): Promise<ScriptUses> {
  const path = join(state_dir, "used-scripts");
  const used = new Map<string, Used>();
  for (const line of (await readOwn(path) ?? "").split("\n")) {
    const [, mac = "", xid, until_ms] = LINE.exec(line) ?? [];
    if (mac !== "" && Number(until_ms) > now()) used.set(mac, { xid: Number(xid), until_ms: Number(until_ms) });
  }
  const lines = () => [...used].map(([mac, { xid, until_ms }]) => `${mac} ${xid} ${until_ms}\n`).join("");
  await writeDurably(path, lines());
  let written = used.size;

  async function write(mac: string, { xid, until_ms }: Used): Promise<void> {
    if (++written <= LINES_MAX) return await appendFile(path, `${mac} ${xid} ${until_ms}\n`);
    for (const [each, { until_ms }] of used) if (until_ms <= now()) used.delete(each);
    written = used.size;
    await writeDurably(path, lines());
  }

  const isUsed = ({ mac, xid }: Ticket) => used.get(mac)?.xid === xid;
  return {
    isUsed,
    async use(ticket) {
      if (isUsed(ticket)) return null;
      const { mac, xid } = ticket;
      // Tickets of one DISCOVER end within this, whichever of its answers carried them.
      const use = { xid, until_ms: now() + TICKET_S * 1_000 };
      used.delete(mac);
      if (used.size >= TRANSACTIONS_MAX) used.delete(used.keys().next().value!);
      used.set(mac, use);
      await write(mac, use);
      return {
        ended(whole) {
          if (!whole && used.get(mac) === use) used.delete(mac);
        },
      };
    },
    renewed: (mac) => void used.delete(mac),
  };
}
