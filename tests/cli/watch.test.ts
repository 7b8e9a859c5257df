// Tests the option --watch with a real control plane.
import { afterAll, beforeAll, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { ROOT_KEY } from "../support/control-plane.ts";
import { runCommand } from "../../cli/internal/run.ts";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { buildProgram } from "../../cli/opsctl/program.ts";
import { serverOf } from "./at-control-plane.ts";
import { ENDPOINT, type FakeEnvironment, fakeEnvironment, type FakeOptions } from "./fake-environment.ts";

const ENV = { OPSCTL_ENDPOINT: ENDPOINT, OPSCTL_API_KEY: ROOT_KEY };
const CLEAR = "\u001b[H\u001b[J";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());

type Poll = { readonly fake: FakeEnvironment; readonly number: number };

/** Runs a command with --watch. `beforePoll` runs before each long poll, with the number of the poll. */
async function watched(argv: string, beforePoll: (poll: Poll) => Promise<void>, options: FakeOptions = {}) {
  const server = serverOf(t);
  let polls = 0;
  const fake: FakeEnvironment = fakeEnvironment({
    env: ENV,
    ...options,
    server: async (asked, signal) => {
      if (asked.path === "/v1/changes" && asked.query.after !== undefined) {
        await beforePoll({ fake, number: ++polls });
        if (signal.aborted) throw signal.reason;
      }
      return await server(asked, signal);
    },
  });
  const words = argv.split(" ");
  const code = await runCommand(await buildProgram(words), words, fake.environment);
  return { fake, code };
}

const silo = async (name: string) => okOf(await t.call("POST", "/v1/silos", { body: { name } }));

test("in a pipe, a list is printed again only if its output changed; after Ctrl-C the command exits 130", async () => {
  const { fake, code } = await watched("silo list -o name --watch", async ({ fake, number }) => {
    if (number === 1) await silo("first");
    // After a change of another object, the output is the same and is not printed.
    if (number === 2) okOf(await t.call("POST", "/v1/system/nic-tags", { body: { name: "watched", mtu: 1500 } }));
    if (number === 3) await silo("second");
    if (number === 4) fake.abort();
  });
  expect(code).toBe(EXIT.interrupted);
  expect(fake.out()).toBe("first\nfirst\nsecond\n");
  expect(fake.err()).toBe("");
});

test("on a terminal, each output replaces the previous output", async () => {
  const { fake } = await watched("silo list -o name -w", async ({ fake, number }) => {
    if (number === 1) await silo("third");
    if (number === 2) fake.abort();
  }, { isTTY: true });
  expect(fake.out()).toBe(`${CLEAR}first\nsecond\n${CLEAR}first\nsecond\nthird\n`);
});

test("in a pipe, each note is printed only once", async () => {
  const { fake } = await watched("audit list --after-seq 0 --limit 1 -o json --watch", async ({ fake, number }) => {
    if (number === 1) await silo("noted");
    if (number === 2) fake.abort();
  });
  expect(fake.asked.filter(({ path }) => path === "/v1/audit/events").length).toBeGreaterThan(1);
  expect(fake.err().match(/More events follow/g)).toHaveLength(1);
});

test("`show` exits 3 when the record is deleted", async () => {
  const { id } = await silo("short");
  const { fake, code } = await watched(`silo show ${id} -o name --watch`, async () => {
    await t.call("DELETE", `/v1/silos/${id}`);
  });
  expect(code).toBe(EXIT.not_found);
  expect(fake.out()).toBe("short\n");
});

test("if the server does not answer, the command prints the reason and tries again", async () => {
  const { fake, code } = await watched("silo list -o name --watch", ({ fake, number }) => {
    // The first request has three attempts.
    if (number <= 3) return Promise.reject(new TypeError("fetch failed", { cause: new Error("connection refused") }));
    fake.abort();
    return Promise.resolve();
  });
  expect(code).toBe(EXIT.interrupted);
  expect(fake.err()).toBe(`cannot reach ${ENDPOINT}: connection refused; trying again\n`);
});

test("ages are computed with the server's clock", async () => {
  const { rows: [{ now }] } = await t.db.query("select berth_now() as now");
  const fake = fakeEnvironment({
    env: ENV,
    // This machine's clock is a day behind.
    wall_ms: now.getTime() - 86_400_000,
    server: async (asked, signal) => {
      const answer = await serverOf(t)(asked, signal);
      return { ...answer, headers: { ...answer.headers, date: new Date(now.getTime() + 3_600_000).toUTCString() } };
    },
  });
  const words = "silo list --columns age --filter name=first --no-headers".split(" ");
  expect(await runCommand(await buildProgram(words), words, fake.environment)).toBe(EXIT.ok);
  expect(fake.out()).toMatch(/^(59|60)m\n$/);
});
