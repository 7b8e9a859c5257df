// Tests the compiled booter with BMCs that are slow, that never end an answer, or whose TLS fails.
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { expired, newAuthority, selfSigned } from "../security/certificate.ts";
import { compiled } from "../support/compiled.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { type Behaviour, openPeer, type Peer, SESSIONS, SYSTEM, usual } from "./redfish-peer.ts";

/** The time limit for the end of a command after a signal, on a busy machine. */
const PROMPT_MS = 10_000;
const COMPILE_MS = 180_000;

let folder: TemporaryFolder;
let booter: string;
let peer: Peer | null = null;
beforeAll(async () => {
  folder = await temporaryFolder("redfish-process");
  booter = (await compiled("booter", folder.path)).path;
  await writeFile(join(folder.path, "password"), "secret\n", { mode: 0o600 });
}, COMPILE_MS);
afterEach(async () => {
  await peer?.close();
  peer = null;
});
afterAll(() => folder.remove());

function start(host: string, ...more: string[]) {
  const argv = ["redfish", "--host", host, "--user", "admin", "--password-file", join(folder.path, "password")];
  const child = spawn(booter, [...argv, ...more], { stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  child.stdout.on("data", (part) => text += part);
  child.stderr.on("data", (part) => text += part);
  const ended = new Promise<{ code: number | null; text: string }>((resolve) =>
    child.once("close", (code) => resolve({ code, text }))
  );
  return { child, ended };
}

/** A system whose answer arrives byte by byte and never ends. */
function trickle(step_ms: number, asked: () => void): Behaviour {
  return usual(({ path }) =>
    path !== SYSTEM ? undefined : (res) => {
      asked();
      res.writeHead(200, { "content-type": "application/json" });
      const timer = setInterval(() => res.write(" "), step_ms);
      res.once("close", () => clearInterval(timer));
    }
  );
}

describe("a command that gets one byte of an answer every 3 s", () => {
  test.each(["SIGINT", "SIGTERM"] as const)("ends at once and deletes its session after %s", async (signal) => {
    let reached = () => {};
    const asked = new Promise<void>((resolve) => reached = resolve);
    peer = await openPeer(trickle(3_000, () => reached()));
    const { child, ended } = start(`http://127.0.0.1:${peer.port}`, "power-cycle");
    await asked;
    const from = performance.now();
    // ChildProcess.kill would make Deno report the signal instead of the exit code.
    process.kill(child.pid!, signal);
    expect((await ended).code).toBe(130);
    expect(performance.now() - from).toBeLessThan(PROMPT_MS);
    expect(peer.asked.map(({ method, path }) => `${method} ${path}`)).toContain(`DELETE ${SESSIONS}/7`);
  }, 60_000);

  test("ends at the deadline", async () => {
    peer = await openPeer(trickle(3_000, () => {}));
    const from = performance.now();
    const { code, text } = await start(`http://127.0.0.1:${peer.port}`, "--deadline", "5", "power-cycle").ended;
    expect([code, text]).toEqual([
      1,
      "error: the command did not end within 5 s (--deadline); the BMC may have done a part of it\n",
    ]);
    expect(performance.now() - from).toBeLessThan(5_000 + PROMPT_MS);
  }, 60_000);

  test("accepts an answer that ends before the deadline", async () => {
    const bytes = [...'{"x":1}'];
    peer = await openPeer(usual(({ path }) =>
      path !== SYSTEM ? undefined : (res) => {
        const timer = setInterval(() => {
          const byte = bytes.shift();
          if (byte !== undefined) return void res.write(byte);
          clearInterval(timer);
          res.end();
        }, 3_000);
      }
    ));
    const { code, text } = await start(`http://127.0.0.1:${peer.port}`, "power-cycle").ended;
    expect([code, text]).toEqual([1, "error: the BMC offers no reset of the system\n"]);
  }, 90_000);
});

test("a deadline that is not a number of seconds is refused", async () => {
  const { code, text } = await start("http://127.0.0.1:1", "--deadline", "soon", "power-cycle").ended;
  expect([code, text]).toEqual([2, expect.stringContaining("--deadline: must be a whole number of seconds from 1")]);
});

describe("the error names the failure of the connection in words:", () => {
  const authority = newAuthority();
  test.each([
    [
      "self-signed",
      selfSigned("127.0.0.1"),
      /its certificate is not trusted; to accept it, use --accept-invalid-certs/,
    ],
    ["of an unknown authority", authority.issue("127.0.0.1"), /its certificate is not trusted/],
    // Some TLS libraries do not check the validity of an untrusted certificate.
    ["expired", authority.issue("127.0.0.1", expired()), /its certificate (has expired|is not trusted)/],
  ])("a certificate that is %s", async (_name, tls, message) => {
    peer = await openPeer(usual(() => undefined), { tls });
    const host = `127.0.0.1:${peer.port}`;
    const refused = await start(host, "power-cycle").ended;
    expect([refused.code, refused.text]).toEqual([1, expect.stringMatching(message)]);
    expect(peer.asked).toEqual([]);
    await start(host, "--accept-invalid-certs", "power-cycle").ended;
    expect(peer.asked.length).toBeGreaterThan(0);
  });

  test("a port without TLS, or without a service", async () => {
    peer = await openPeer(usual(() => undefined));
    expect((await start(`127.0.0.1:${peer.port}`, "power-cycle").ended).text).toContain("the port does not use TLS");
    const { port } = peer;
    await peer.close();
    expect((await start(`127.0.0.1:${port}`, "power-cycle").ended).text).toContain("the connection was refused");
  });

  test("a BMC that closes the connection", async () => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const { text } = await start(`127.0.0.1:${port}`, "power-cycle").ended;
    await new Promise((resolve) => server.close(resolve));
    expect(text).toBe("error: 127.0.0.1: the BMC closed the connection without an answer\n");
  });
});
