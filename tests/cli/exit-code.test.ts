// Tests the exit codes and the errors of opsctl.
import { expect, test } from "vitest";
import { exitCodeOfStatus } from "../../cli/internal/exit-code.ts";
import { runCommand } from "../../cli/internal/run.ts";
import { buildProgram } from "../../cli/opsctl/program.ts";
import { fakeEnvironment, LOGGED_IN } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";

test.each([[400, 1], [401, 4], [403, 4], [404, 3], [409, 5], [422, 1], [429, 1], [500, 1], [502, 1], [503, 7], [
  504,
  7,
]])(
  "after a response with status %i the command exits %i",
  (status, code) => expect(exitCodeOfStatus(status)).toBe(code),
);

const REQUEST_ID = "6f1b0d6e-58f5-4a3c-8f62-000000000001";

test("an error is printed with message, code and request id on stderr only", async () => {
  const body = { message: "cn is pending", error_code: "Conflict", request_id: REQUEST_ID };
  const ran = await opsctl(["cn", "list"], { server: () => ({ status: 409, body }) });
  expect(ran.code).toBe(5);
  expect(ran.out()).toBe("");
  expect(ran.err()).toBe(`error: cn is pending (Conflict, request ${REQUEST_ID})\n`);
});

test("an error without an error_code shows only the request id", async () => {
  const ran = await opsctl(["cn", "list"], {
    server: () => ({ status: 404, body: { message: "Not Found", request_id: REQUEST_ID } }),
  });
  expect(ran.code).toBe(3);
  expect(ran.err()).toBe(`error: Not Found (request ${REQUEST_ID})\n`);
});

test("with --json an error is one JSON object on stderr", async () => {
  const body = { message: "no", error_code: "Forbidden", request_id: REQUEST_ID };
  const ran = await opsctl(["cn", "list", "--json"], { server: () => ({ status: 403, body }) });
  expect(ran.code).toBe(4);
  expect(JSON.parse(ran.err())).toEqual({
    error: { message: "no", error_code: "Forbidden", request_id: REQUEST_ID, status: 403, exit_code: 4 },
  });
});

test("a proxy's HTML page is reported by its status, without its text", async () => {
  const ran = await opsctl(["cn", "list"], { server: () => ({ status: 502, text: "<html>\u001b[2Joops</html>" }) });
  expect(ran.code).toBe(1);
  expect(ran.err()).toBe("error: the server responded with status 502\n");
});

test("control bytes in an error message are escaped", async () => {
  const ran = await opsctl(["cn", "list"], { server: () => ({ status: 400, body: { message: "bad \u001b[2J" } }) });
  expect(ran.err()).toBe("error: bad \\x1b[2J\n");
});

test.each([
  [["cn", "lst"], "unknown command 'lst'\n(Did you mean list?)"],
  [["cn", "list", "--bogus"], "unknown option '--bogus'; see: opsctl cn list --help"],
  [
    ["cn", "list", "--state", "enrolled"],
    "Allowed choices are pending, approved, disabled, awaiting_setup, setting_up.",
  ],
  [["cn", "show"], "missing required argument 'node'"],
  [["cn", "show", "a", "b"], "cn show takes one argument, got: a b; see: opsctl cn show --help"],
  [["cn", "approve", "list", "extra", "--bogus"], "unknown option '--bogus'"],
  [["config", "list", "now"], "config list takes no arguments, got: now"],
  [["version"], "unknown command 'version'\n(Did you mean --version?)"],
  [["nodes"], "unknown command 'nodes'\n(Did you mean cn?)"],
  [["constructor"], "unknown command 'constructor'; see: opsctl --help"],
  [["cn", "delete", "n1"], "unknown command 'delete'\n(Did you mean remove?)"],
  [["api-key", "revoke", "k"], "unknown command 'revoke'\n(Did you mean delete?)"],
  [["cn", "auto-approve", "open"], "required option '--duration-secs <seconds>' not specified"],
  [["cn", "auto-approve", "open", "--duration-secs", "0"], "It must be a number of seconds, at least 1, or a duration"],
  [["cn", "reservoir", "set", "n", "--percent", "much"], "It must be 0% to 100%, or a fraction from 0 to 1."],
  [["cn", "reservoir", "set", "n", "--percent", "50"], "Did you mean 50%?"],
  [["config", "set", "reservoir.percent_default", "80"], "Did you mean 80%?"],
])("a usage error exits 2 with the reason: %j", async (argv, message) => {
  const ran = await opsctl(argv);
  expect(ran.code).toBe(2);
  expect(ran.err()).toContain(message);
  expect(ran.asked).toEqual([]);
});

test("a usage error with --json is JSON", async () => {
  const ran = await opsctl(["cn", "lst", "--json"]);
  expect(JSON.parse(ran.err()).error).toMatchObject({ exit_code: 2, status: null });
});

test("a group without a command prints its help on stderr and exits 2", async () => {
  const ran = await opsctl(["cn"]);
  expect(ran.code).toBe(2);
  expect(ran.out()).toBe("");
  expect(ran.err()).toContain("Usage: opsctl cn");
});

test("after an interrupt the command exits 130 without output", async () => {
  const fake = fakeEnvironment({
    env: LOGGED_IN,
    server: (_asked, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        fake.abort();
      }),
  });
  const argv = ["cn", "list"];
  expect(await runCommand(await buildProgram(argv), argv, fake.environment)).toBe(130);
  expect(fake.out() + fake.err()).toBe("");
});

test("after an interrupt during a wait, the command exits 130 and names the command that waits again", async () => {
  const fake = fakeEnvironment({
    env: LOGGED_IN,
    server: (_asked, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        fake.abort();
      }),
  });
  const ID = "0191b0a2-7c1e-7d2f-9a3b-5c6d7e8f9012";
  const argv = ["operation", "wait", ID];
  expect(await runCommand(await buildProgram(argv), argv, fake.environment)).toBe(130);
  expect(fake.err()).toBe(`Operation ${ID} continues; to wait for it, run: opsctl operation wait ${ID}\n`);
});
