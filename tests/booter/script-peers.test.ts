// Tests the setup script with several booters: the script calls another booter if a booter does not answer or refuses a
// call.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { lacking, needs } from "../support/optional-programs.ts";
import { NEEDED, openScratchMachine, type ScratchMachineFixture } from "./scratch-machine.ts";

const why_not = lacking(...NEEDED);
let fixture: ScratchMachineFixture;
/** A booter that refuses every call, and the calls that it got. */
let refusing: Server;
const asked: string[] = [];
/** A port at which nothing listens. */
const OFF = "http://127.0.0.1:1";
beforeAll(async () => {
  if (why_not !== null) return;
  fixture = await openScratchMachine();
  refusing = createServer((req, res) => {
    asked.push(`${req.method} ${req.url}`);
    res.writeHead(404).end("not found\n");
  });
  await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  await fixture?.close();
  refusing?.close();
});
beforeEach((context) => needs(context, ...NEEDED));
const refusingUrl = () => `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`;

test.concurrent("a script whose booter is off completes with the first other booter that accepts its calls", async ({ expect }) => {
  const machine = await fixture.machine();
  // The values that a booter with a mirror serves contain the booter's own address.
  machine.values.set("install_sh_url", `${OFF}/install.sh`);
  machine.values.set("channel_url", `${OFF}/channel.json`);
  const { code, err } = await machine.start({ BOOTER_URL: OFF, BOOTER_PEERS: `${refusingUrl()} ${fixture.base}` });
  expect(code, err).toBe(113);
  expect(machine.reports.at(-1)).toMatchObject({ kind: "complete" });
  expect(await machine.disk("opt/nodeagent/installed")).toMatch(`|${fixture.base}/channel.json`);
  // The script remembers which booter accepted a call, so the booter that refused the values gets no report.
  expect(asked.filter((call) => call === "POST /setup/report")).toEqual([]);
  expect(asked).toContain("GET /setup/values");
});

test.concurrent("a script that no booter answers exits with 1 and changes no disk", async ({ expect }) => {
  const machine = await fixture.machine();
  const { code, err } = await machine.start({ BOOTER_URL: OFF, BOOTER_PEERS: `${OFF} ${OFF}` });
  expect([code, await machine.created()]).toEqual([1, 0]);
  expect(err).toContain("the values of this run could not be fetched");
});

test("an address that only begins like the address of a booter is not replaced by the address of another booter", async () => {
  const machine = await fixture.machine();
  const { code } = await machine.start({ BOOTER_URL: fixture.base, BOOTER_PEERS: OFF });
  expect(code).toBe(113);
  machine.values.set("install_sh_url", `${OFF}0/install.sh`);
  expect((await machine.start({ BOOTER_URL: fixture.base, BOOTER_PEERS: OFF })).err).toContain(
    "the install script could not be fetched",
  );
});
