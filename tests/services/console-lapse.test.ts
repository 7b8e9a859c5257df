// Tests that a console ends when its session was recorded as ended, for example by another server after an outage of
// the database. Everything is real except the two sockets and the time that passes.
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { CONSOLE_CHECK_MS, CONSOLE_LEASE_S, CONSOLE_RENEW_MS } from "../../src/contract/limits.ts";
import { CONSOLE_PROTOCOL, consoleProtocols } from "../../src/lib/console/frames.ts";
import { type ComputeFixture, openComputeFixture } from "../compute/compute-fixture.ts";
import { ADDRESS, okOf, openTestControlPlane } from "../support/control-plane.ts";
import { type FakeSocket, fakeSocket } from "../support/fake-socket.ts";

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture({ t: await openTestControlPlane({ env: { BERTH_CONSOLE_DIAL_S: "10" } }) });
});
afterEach(() => void vi.restoreAllMocks());
afterAll(() => a.t.close());

/** Opens a WebSocket of the control plane. */
async function connect(path: string, headers: Record<string, string>): Promise<FakeSocket> {
  const end = fakeSocket();
  const answer = await a.t.plane.fetch(new Request(`http://berth.test${path}`, { headers }), {
    remoteAddress: ADDRESS,
    upgrade: ({ opened }) => opened(end.socket),
  });
  expect([answer.status, await answer.text()]).toEqual([204, ""]);
  return end;
}

test("at the next renewal, a server closes a console whose session has already ended in the database", async () => {
  const { id } = await a.running();
  const { session_id, ticket } = okOf(await a.call("POST", `/v1/instances/${id}/console-ticket`, { body: {} }));
  const protocols = consoleProtocols(ticket).join(", ");
  const caller = await connect(`/v1/instances/${id}/console`, { "sec-websocket-protocol": protocols });
  const states = async () =>
    (await a.t.db.query("select state from console_session where id = $1", [session_id])).rows.map(({ state }) =>
      state
    );
  await expect.poll(states).toEqual(["calling"]);
  const node = await connect(`/v1/agent/consoles/${session_id}`, {
    authorization: `Bearer ${a.node.api_key}`,
    "sec-websocket-protocol": CONSOLE_PROTOCOL,
  });
  await expect.poll(states).toEqual(["open"]);

  await a.t.advance(CONSOLE_LEASE_S + 1);
  await expect.poll(states, { timeout: 10_000 }).toEqual([]);
  caller.data("still open");
  expect(node.sent).toHaveLength(1);
  const real = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => real() + CONSOLE_RENEW_MS);
  await expect.poll(caller.closed, { timeout: 2 * CONSOLE_CHECK_MS })
    .toBe("the control plane could not renew the console in time and recorded its end. Open it again");
  expect(node.closed()).toBe("");
});
