// Tests the agent's poll against a fake server: what the poll carries, which calls it replaces, and what the agent does
// if the server has no polls.
import { expect, test } from "vitest";
import { AgentPollBody, type AgentPollView } from "../../src/contract/agent-poll.ts";
import type { FakeAnswer } from "../cli/fake-environment.ts";
import { type AgentRun, APPROVED, registered, reports, type Route, runAgent, SERVER_UUID } from "./agent.ts";

const ENROL: Record<string, Route> = {
  "/v1/agent/register": () => registered(),
  "/v1/agent/register/status": () => APPROVED,
};
const EMPTY: AgentPollView = { interval_s: 5, work: { job: null, tombstones: [] }, network: null };
const OLDER: FakeAnswer = { status: 404, body: { message: "Not Found" } };

const count = (ran: AgentRun, path: string) => ran.asked.filter((asked) => asked.path === path).length;
const polls = (ran: AgentRun) =>
  ran.asked.filter(({ path }) => path === "/v1/agent/poll").map(({ body }) => AgentPollBody.parse(body));

/**
 * Answers polls in order. Like a server without news, answers only after the poll's wait, but after 5 s at most. The
 * poll after the last of `answers` stops the agent.
 */
function serving(...answers: (FakeAnswer | null)[]): Record<string, Route> {
  let turn = 0;
  return {
    ...ENROL,
    ...reports(1_000),
    "/v1/agent/network/poll": () => OLDER,
    "/v1/agent/poll": async ({ body }, agent) => {
      const answer = answers[turn++];
      if (turn > answers.length) agent.abort();
      const { wait } = AgentPollBody.parse(body);
      await agent.environment.sleepMs(Math.min(wait ?? 0, 5) * 1_000, agent.environment.signal);
      return answer ?? { body: EMPTY };
    },
  };
}
const times = (n: number) => Array.from({ length: n }, () => null);

test("polls replace heartbeats, claims and network polls, and carry the capacity and the status when they are due", async () => {
  const ran = await runAgent(serving(...times(30)));
  expect([count(ran, "/v1/agent/claim"), count(ran, "/v1/agent/network/poll")]).toEqual([0, 0]);
  expect(count(ran, "/v1/agent/heartbeat")).toBeLessThanOrEqual(1);
  const [first, ...later] = polls(ran);
  expect(first).toMatchObject({ server_uuid: SERVER_UUID, wait: 0, work: { known_consoles: [] } });
  for (const each of later) expect(each).toMatchObject({ wait: 20, running_jobs: [], work: {}, network: { have: {} } });
  // The first poll is answered at once, and the other 29 polls after 5 s each. The capacity is due every 30 s and the
  // status every 60 s. The agent sends the first capacity and the first status in separate calls.
  expect(count(ran, "/v1/agent/capacity")).toBe(1);
  expect(later.filter(({ capacity }) => capacity).length).toBeGreaterThanOrEqual(4);
  expect(later.filter(({ status }) => status).length).toBeGreaterThanOrEqual(2);
  // The agent sends separately at most the first status, the status with the applied reservoir, and one status that was
  // due between two polls.
  expect(count(ran, "/v1/agent/status")).toBeLessThanOrEqual(3);
});

test("if the server has no polls, the agent sends heartbeats and claims separately, and tries a poll again after a minute", async () => {
  const ran = await runAgent(serving(OLDER, null, null), { argv: ["--config-ms", "1000000"] });
  expect(count(ran, "/v1/agent/claim")).toBeGreaterThan(5);
  expect(count(ran, "/v1/agent/heartbeat")).toBeGreaterThan(5);
  expect(count(ran, "/v1/agent/network/poll")).toBeGreaterThan(0);
  expect(ran.err()).toContain("poll: the control plane is older and does not support polls; sending separate requests");
  expect(count(ran, "/v1/agent/poll"), "the second poll is answered").toBeGreaterThan(1);
});

test("with a heartbeat interval below the default, the agent sends separate heartbeats", async () => {
  const ran = await runAgent(serving(...times(4)), { argv: ["--heartbeat-ms", "500"] });
  expect(count(ran, "/v1/agent/heartbeat")).toBeGreaterThan(20);
});

test("if the server refuses a report in a poll, the agent repeats the poll without the report, and sends the report in a separate call", async () => {
  const whole = serving(...times(40));
  const ran = await runAgent({
    ...whole,
    "/v1/agent/poll": (asked, agent) =>
      AgentPollBody.parse(asked.body).capacity
        ? { status: 400, body: { message: "body.capacity: too new" } }
        : whole["/v1/agent/poll"]!(asked, agent),
  });
  const made = polls(ran);
  const refused = made.findIndex(({ capacity }) => capacity);
  expect(refused).toBeGreaterThan(-1);
  expect(made[refused + 1]).toMatchObject({ work: {}, wait: made[refused]!.wait });
  expect(made[refused + 1]!.capacity).toBeUndefined();
  expect(count(ran, "/v1/agent/capacity"), "the report is sent by its own call").toBeGreaterThan(1);
});

test("a server that answers at once without news does not make the agent poll in a tight loop", async () => {
  let turn = 0;
  const ran = await runAgent({
    ...serving(),
    "/v1/agent/poll": (_asked, agent) => {
      if (++turn > 10) agent.abort();
      return { body: EMPTY };
    },
  });
  expect(ran.environment.monotonicMs()).toBeGreaterThan(8 * 5_000);
});

test("the agent logs a series of failed polls once, and logs the recovery", async () => {
  const down: FakeAnswer = { status: 503, body: { message: "busy" } };
  const ran = await runAgent(serving(null, ...Array.from({ length: 6 }, () => down), ...times(6)));
  expect(ran.err().match(/^work: the server responded with status 503; retrying/gm)).toHaveLength(1);
  expect(ran.err()).toContain("work: recovered");
});
