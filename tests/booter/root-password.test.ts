// Tests the root password in the boot script of a node: when the booter knows the password's hash, and when it does
// not.
import { afterAll, beforeAll, expect, test } from "vitest";
import { LOCKED_PASSWORD_HASH } from "../../booter/http/routes.ts";
import { isSha512Crypt } from "../../src/lib/crypto/sha512-crypt.ts";
import { awaitingSetup, setUp } from "../setup/machine.ts";
import { okOf } from "../support/control-plane.ts";
import { discover, dotted, httpAsk, openRelay, openSite, type Relay, scriptPath, type Site } from "./site.ts";

const HASH = `$6$salt$${"h".repeat(85)}.`;
let site: Site;
let relay: Relay;
beforeAll(async () => {
  site = await openSite();
  relay = await openRelay(site);
});
afterAll(async () => {
  relay.close();
  await site.close();
});

/** Boots the machine. Returns the root password hash in its script, or null if the script has none. */
async function hashInScript(mac: string): Promise<string | null> {
  const reply = await relay.ask(discover(mac));
  const { status, text } = await httpAsk(site.booter.ports.http, scriptPath(reply), { from: dotted(reply.yiaddr) });
  expect(status).toBe(200);
  return /,root_shadow=([^, ]+)/.exec(text)?.[1] ?? null;
}

/** Boots the machine while the control plane is unreachable. */
async function hashWhileAway(mac: string): Promise<string | null> {
  site.link.away = true;
  try {
    return await hashInScript(mac);
  } finally {
    site.link.away = false;
  }
}

test("while the control plane is unreachable, the root password is locked unless the booter knows the hash", async () => {
  const machine = await awaitingSetup(site.t);
  const [mac = ""] = machine.macs;
  const { server_uuid } = await setUp(site.t, machine);
  const setPassword = async (body: unknown) =>
    okOf(await site.t.call("POST", `/v1/cns/${server_uuid}/root-password`, { body }));
  await setPassword({ password_hash: HASH });

  // The list of records contains no hashes, so the hash of a node that never booted from this booter is unknown.
  await site.booter.records.refresh();
  expect(await hashWhileAway(mac)).toBe(LOCKED_PASSWORD_HASH);
  const served = site.log.filter(({ event }) => event === "script.served");
  expect(served.map(({ fields }) => fields.root_password)).toEqual(["locked"]);
  expect(await hashInScript(mac)).toBe(HASH);
  expect(await hashWhileAway(mac)).toBe(HASH);

  // The booter also knows that a node has no hash, and this knowledge survives a restart.
  await setPassword({});
  expect(await hashInScript(mac)).toBeNull();
  await site.restart();
  expect(await hashWhileAway(mac)).toBeNull();
});

test("the hash of a locked password has the form that the booter and the agents accept", () => {
  expect(isSha512Crypt(LOCKED_PASSWORD_HASH)).toBe(true);
});
