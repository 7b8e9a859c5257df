// Tests which used boot scripts the booter remembers after a restart (docs/reliability.md, S-21).
import { afterAll, beforeAll, expect, test } from "vitest";
import { openScriptUses, type ScriptUses, USES_PER_MACHINE_MAX } from "../../booter/script-uses.ts";
import { TICKET_S, TRANSACTIONS_MAX } from "../../booter/limits.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

let folder: TemporaryFolder;
beforeAll(async () => void (folder = await temporaryFolder("script-uses")));
afterAll(() => folder.remove());

/** A number of uses that is large enough: after they have expired, the next use makes the booter rewrite the file. */
const MANY = 4_200;
let now_ms = 1_000_000;
const open = (name: string) => openScriptUses(folder.path, () => now_ms, name);
const ticket = (machine: number, xid: number) => ({
  mac: `02:00:00:00:${[machine >> 8, machine & 255].map((byte) => byte.toString(16).padStart(2, "0")).join(":")}`,
  address: "10.0.0.9",
  xid,
});

async function useAll(uses: ScriptUses, count: number, of: (at: number) => ReturnType<typeof ticket>): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, at) => uses.use(of(at))));
}

test("S-21: a use that arrives while the file is rewritten is still known after a restart", async () => {
  const uses = await open("rewritten");
  await useAll(uses, MANY, (at) => ticket(at, 1));
  now_ms += TICKET_S * 1_000;
  const later = Array.from({ length: 8 }, (_, at) => ticket(at, 2));
  await Promise.all(later.map((each) => uses.use(each)));
  const again = await open("rewritten");
  expect(later.map((each) => again.isUsed(each))).toEqual(later.map(() => true));
});

test("S-21: a machine that requests many scripts does not make the booter forget the uses of other machines", async () => {
  const uses = await open("flooded");
  await uses.use(ticket(1, 1));
  await useAll(uses, TRANSACTIONS_MAX, (at) => ticket(2, at));
  expect(uses.isUsed(ticket(1, 1))).toBe(true);
  const newest = Array.from({ length: USES_PER_MACHINE_MAX }, (_, at) => ticket(2, TRANSACTIONS_MAX - 1 - at));
  expect(newest.filter((each) => !uses.isUsed(each))).toEqual([]);
});
