import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CapacityReport, StatusReport } from "../../src/contract/agent.ts";
import { ClaimBody, HeartbeatBody } from "../../src/contract/job.ts";
import { reservoirOf } from "../../nodeagent/loops.ts";
import { type AgentRun, APPROVED, registered, reports, type Route, runAgent, savedKey, SERVER_UUID } from "./agent.ts";

const ENROL: Record<string, Route> = {
  "/v1/agent/register": () => registered(),
  "/v1/agent/register/status": () => APPROVED,
};
const REFUSED = { status: 401, body: { message: "Unauthenticated", error_code: "Unauthenticated" } };

function count(ran: AgentRun, path: string): number {
  return ran.asked.filter((asked) => asked.path === path).length;
}

test("an enrolled node sends every kind of report, and each matches the schema of the contract", async () => {
  const ran = await runAgent({ ...ENROL, ...reports() });
  const body = (path: string) => ran.asked.find((asked) => asked.path === path)!.body;
  const { payload } = StatusReport.parse(body("/v1/agent/status"));
  expect(payload).toMatchObject({ vms: {}, timestamp: expect.any(String) });
  CapacityReport.parse(body("/v1/agent/capacity"));
  expect(HeartbeatBody.parse(body("/v1/agent/heartbeat"))).toEqual({ running_jobs: [] });
  expect(ClaimBody.parse(body("/v1/agent/claim"))).toEqual({
    claimed_by: SERVER_UUID,
    wait: 0,
    running_jobs: [],
    known_consoles: [],
  });
  expect(count(ran, "/v1/agent/config")).toBeGreaterThan(0);
});

test("an unchanged status is repeated only when due; a changed status is sent at once", async () => {
  const argv = ["--config-ms", "1000000", "--heartbeat-ms", "500", "--status-full-ms", "1000000"];
  const ran = await runAgent({ ...ENROL, ...reports(40) }, { argv });
  // The agent applies the reservoir after the first report, so it sends a second report.
  expect(count(ran, "/v1/agent/status")).toBeLessThanOrEqual(2);
  expect(count(ran, "/v1/agent/heartbeat")).toBe(40);
  const often = await runAgent({ ...ENROL, ...reports(40) }, {
    argv: [...argv.slice(0, 4), "--status-full-ms", "1"],
  });
  expect(count(often, "/v1/agent/status")).toBeGreaterThan(10);
});

test.each([[1.5, 1], [-0.1, 0], [0, 0], [1, 1], [0.8, 0.8]])(
  "the reservoir percent is limited to the range from 0 to 1: %f is applied as %f",
  (configured, applied) => {
    expect(reservoirOf({ reservoir_enabled: true, reservoir_percent: configured }).percent).toBe(applied);
  },
);

test("the limited reservoir percent is saved in the machine's state", async () => {
  const ran = await runAgent({ ...ENROL, ...reports() });
  const machine = JSON.parse(await readFile(join(ran.state_dir, "simulated-machine.json"), "utf8"));
  expect(machine.reservoir).toEqual({ enabled: true, percent: 1 });
});

const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f operator@desk";

/** Returns a server that sends these lists of root keys in order and repeats the last list. */
function rootKeys(...answers: (unknown[] | undefined)[]): Record<string, Route> {
  const config = () => {
    const keys = answers.length > 1 ? answers.shift() : answers[0];
    const config = keys === undefined ? {} : { root_authorized_keys: keys };
    return { body: { reservoir_enabled: true, reservoir_percent: 0.5, ...config } };
  };
  return { ...ENROL, ...reports(20), "/v1/agent/config": config };
}

async function savedKeys({ state_dir }: AgentRun): Promise<string[]> {
  return JSON.parse(await readFile(join(state_dir, "simulated-machine.json"), "utf8")).root_authorized_keys;
}

const OFTEN = { argv: ["--config-ms", "1000"] };

test("root's keys are saved in the machine's state and replaced when they change", async () => {
  expect(await savedKeys(await runAgent(rootKeys([KEY]), OFTEN))).toEqual([KEY]);
  expect(await savedKeys(await runAgent(rootKeys([KEY], []), OFTEN))).toEqual([]);
});

test("the agent keeps root's keys if the server's answer has no list of keys", async () => {
  expect(await savedKeys(await runAgent(rootKeys([KEY], undefined), OFTEN))).toEqual([KEY]);
});

test.each([
  [`${KEY}\nssh-ed25519 AAAA second@line`],
  [`command="reboot" ${KEY}`],
  ["not a key"],
  [7],
])("a key that is not one complete line is skipped and logged once; other keys are applied: %j", async (bad) => {
  const ran = await runAgent(rootKeys([bad, KEY]), OFTEN);
  expect(await savedKeys(ran)).toEqual([KEY]);
  expect(ran.err().split("\n").filter((line) => line.includes("root key 1 is skipped"))).toHaveLength(1);
});

test("a report that fails repeatedly is logged once and retried until the server accepts it", async () => {
  let left = 3;
  const capacity: Route = () => left-- > 0 ? { status: 400, body: { message: "too big" } } : { body: null };
  const ran = await runAgent({ ...ENROL, ...reports(60), "/v1/agent/capacity": capacity });
  const lines = ran.err().split("\n").filter((line) => line.startsWith("capacity"));
  expect(lines).toEqual(["capacity: 400 too big; retrying", "capacity: recovered"]);
});

test("a rejected key ends the agent with exit code 4 and advice", async () => {
  const ran = await runAgent({ ...ENROL, ...reports(100), "/v1/agent/heartbeat": () => REFUSED });
  expect(ran.code).toBe(4);
  expect(ran.err()).toContain(`remove ${join(ran.state_dir, "credentials.json")}`);
  expect(await savedKey(ran.state_dir)).not.toBe(null);
});

test("with --re-register the agent discards a rejected key and registers again", async () => {
  let refusals = 1;
  const beat = reports()["/v1/agent/heartbeat"]!;
  const ran = await runAgent({
    ...ENROL,
    ...reports(),
    "/v1/agent/heartbeat": (asked, agent) => refusals-- > 0 ? REFUSED : beat(asked, agent),
  }, { argv: ["--re-register"] });
  expect(ran.code).toBe(130);
  expect(count(ran, "/v1/agent/register")).toBe(2);
  expect(ran.asked[0]!.body).toMatchObject({ server_uuid: SERVER_UUID });
});

test("403 does not end the agent: a disabled node keeps its key", async () => {
  let refusals = 3;
  const beat = reports(5)["/v1/agent/heartbeat"]!;
  const ran = await runAgent({
    ...ENROL,
    ...reports(),
    "/v1/agent/heartbeat": (asked, agent) =>
      refusals-- > 0 ? { status: 403, body: { message: "Forbidden" } } : beat(asked, agent),
  });
  expect(ran.code).toBe(130);
  expect(count(ran, "/v1/agent/heartbeat")).toBe(8);
});
