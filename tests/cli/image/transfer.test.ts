// Tests transfers over unreliable connections, and partial downloads.
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openPart } from "../../../cli/image/part.ts";
import { transfer } from "../../../cli/image/transfer.ts";
import { getDocument } from "../../../cli/image/web.ts";
import { readRanges } from "../../../src/lib/net/public-address.ts";
import { fakeEnvironment } from "../fake-environment.ts";
import { cutting, etagOf, type FileServer, serve, startFileServer, telling, type Wrong } from "./file-server.ts";
import { filesIn, newFolder } from "./folder.ts";
import { CONTENT, IMAGE_PATH, pattern, startVendor } from "./vendor.ts";

const PATIENCE = { answer_ms: 150, stall_ms: 150, document_ms: 400 };
const BODY = pattern(50_000, 21);
const OF = { identity: "x", has_digest: true };

let server: FileServer;
let target: string;
beforeEach(async () => {
  server = await startFileServer();
  target = join(newFolder(), "image");
});
afterEach(() => server.close());

const environment = () => fakeEnvironment().environment;
const LOOPBACK = { allowed: readRanges(["127.0.0.0/8"]) };

async function bring(change: { size?: number | null; bytes_max?: number } = {}, of = OF): Promise<Uint8Array> {
  const part = await openPart(target, of);
  try {
    await transfer(environment(), {
      url: `${server.base}/f`,
      reach: LOOPBACK,
      part,
      size: null,
      patience: PATIENCE,
      onProgress: () => {},
      ...change,
    });
    await part.finish();
  } catch (error) {
    await part.leave();
    throw error;
  }
  return readFileSync(target);
}

test("a transfer from a server that cuts connections, is busy or ignores ranges ends with the complete file or an error", async () => {
  type Answer = { how: "cut" | "whole" | "busy" | "ignore range" | "refuse range"; bytes: number };
  const answer = fc.record<Answer>({
    how: fc.constantFrom("cut", "cut", "whole", "busy", "ignore range", "refuse range"),
    bytes: fc.nat(30_000),
  });
  server.put("/f", BODY);
  await fc.assert(
    fc.asyncProperty(fc.array(answer, { maxLength: 8 }), fc.boolean(), async (answers, size_known) => {
      const left = [...answers];
      server.wrong.set("/f", (request, response, body) => {
        const next = left.shift() ?? { how: "whole", bytes: 0 };
        return behaviour(next.how, next.bytes)(request, response, body);
      });
      target = join(newFolder(), "image");
      const got = await bring({ size: size_known ? BODY.length : null }).catch((error: Error) => error);
      if (got instanceof Error) {
        // The transfer may end with an error only after five consecutive tries without new bytes.
        expect(answers.length).toBeGreaterThanOrEqual(5);
        expect(filesIn(dirname(target))).not.toContain("image");
      } else expect(Buffer.from(got).equals(BODY)).toBe(true);
    }),
    { numRuns: 60 },
  );

  function behaviour(how: Answer["how"], bytes: number): Wrong {
    switch (how) {
      case "cut":
        return cutting(bytes);
      case "whole":
        return () => false;
      case "busy":
        return telling(503, {});
      case "ignore range":
        return telling(200, { etag: etagOf(BODY) }, BODY);
      case "refuse range":
        return (request, response, body) => {
          if (request.headers.range !== undefined) response.writeHead(416).end();
          else serve(request, response, body);
          return true;
        };
    }
  }
});

test("a transfer fails if the server has no ranges and cuts every response", async () => {
  server.put("/f", BODY);
  let tries = 0;
  server.wrong.set("/f", (_request, response, body) => {
    tries += 1;
    response.writeHead(200, { "content-length": body.length });
    response.write(body.subarray(0, tries % 2 === 0 ? 20_000 : 10_000), () => response.destroy());
    return true;
  });
  await expect(bring()).rejects.toThrow();
  expect(tries).toBeLessThan(12);
});

test("a response that stalls is requested again, and a transfer from a silent server fails", async () => {
  server.put("/f", BODY);
  let first = true;
  server.wrong.set("/f", (_request, response, body) => {
    if (!first) return false;
    first = false;
    response.writeHead(200, { "content-length": body.length, etag: etagOf(body) });
    response.write(body.subarray(0, 10_000));
    return true;
  });
  expect(Buffer.from(await bring()).equals(BODY)).toBe(true);
  expect(server.asked.at(-1)).toContain("bytes=10000-");

  target = join(newFolder(), "image");
  server.wrong.set("/f", () => true);
  await expect(bring()).rejects.toThrow("no data for 0.15 s");
  expect(filesIn(dirname(target))).toEqual([]);
});

test("a document that exceeds the time limit is rejected", async () => {
  server.wrong.set("/d", (_request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write("x"), 20);
    response.on("close", () => clearInterval(timer));
    return true;
  });
  const slow = { ...environment(), monotonicMs: () => performance.now() };
  await expect(getDocument(slow, `${server.base}/d`, { reach: LOOPBACK, bytes_max: 1_000_000, patience: PATIENCE }))
    .rejects.toThrow(
      "exceeded its time limit",
    );
});

test("a file of unknown size is rejected if it exceeds the size limit", async () => {
  server.wrong.set("/f", telling(200, {}, pattern(2_000, 1)));
  await expect(bring({ bytes_max: 1_999 })).rejects.toThrow("more than 1999 bytes");
  expect((await bring({ bytes_max: 2_000 })).length).toBe(2_000);
});

test.each([
  ["a weak ETag", { etag: 'W/"1"' }, ""],
  ["a strong ETag", { etag: '"1"', "last-modified": "Mon, 01 Jan 2026 00:00:00 GMT" }, '"1"'],
  ["a date", { "last-modified": "Mon, 01 Jan 2026 00:00:00 GMT" }, "Mon, 01 Jan 2026 00:00:00 GMT"],
])("%s in a response is sent as If-Range only if it guarantees equal bytes", async (_name, headers, expected) => {
  server.put("/f", BODY);
  let first = true;
  server.wrong.set("/f", (_request, response, body) => {
    if (!first) return false;
    first = false;
    response.writeHead(200, { ...headers, "content-length": body.length });
    response.write(body.subarray(0, 100), () => response.destroy());
    return true;
  });
  await bring();
  expect(server.asked[1]).toBe(`/f bytes=100- ${expected}`.trimEnd());
});

test("kept bytes are discarded if they are of another file, or if they have neither a digest nor a validator", async () => {
  const part = await openPart(target, { identity: "x", has_digest: true });
  await part.write(BODY.subarray(0, 500));
  await part.leave();
  expect((await openPart(target, { identity: "x", has_digest: true })).bytes()).toBe(500);
  expect((await openPart(target, { identity: "x", has_digest: false })).bytes()).toBe(0);
  const again = await openPart(target, { identity: "x", has_digest: true });
  await again.restart('"v"');
  await again.write(BODY.subarray(0, 400));
  await again.leave();
  expect((await openPart(target, { identity: "x", has_digest: false })).bytes()).toBe(400);
  expect((await openPart(target, { identity: "y", has_digest: true })).bytes()).toBe(0);
});

test("a process continues an unfinished download of another process only if that process has ended", async () => {
  const part = await openPart(target, OF);
  await part.write(BODY.subarray(0, 500));
  await part.leave();
  const [folder] = readdirSync(dirname(target));
  const named = (pid: number) => join(dirname(target), `.${basename(target)}.${pid}.part`);
  const running = process.ppid;
  renameSync(join(dirname(target), folder!), named(running));
  const mine = await openPart(target, OF);
  expect(mine.bytes()).toBe(0);
  await mine.discard();

  const child = spawn("true");
  await new Promise((resolve) => child.once("exit", resolve));
  renameSync(named(running), named(child.pid!));
  const taken = await openPart(target, OF);
  expect(taken.bytes()).toBe(500);
  expect(readdirSync(dirname(target))).toEqual([basename(named(process.pid))]);
  await taken.discard();
});

test("a download whose state on disk is incomplete after a crash is started again", async () => {
  const folder = join(dirname(target), `.image.${process.pid}.part`);
  mkdirSync(folder);
  writeFileSync(join(folder, "content"), "rubbish");
  expect((await openPart(target, OF)).bytes()).toBe(0);
  writeFileSync(join(folder, "of.json"), '{"identity": "x", "val');
  const part = await openPart(target, OF);
  expect(part.bytes()).toBe(0);
  await part.discard();
});

test("after a process was killed, the next process requests only the rest", async () => {
  const vendor = await startVendor();
  try {
    let held = false;
    vendor.wrong.set(IMAGE_PATH, (request, response, body) => {
      if (held) return false;
      held = true;
      response.writeHead(200, { "content-length": body.length, etag: etagOf(body) });
      response.write(body.subarray(0, 200_000));
      request.socket.on("error", () => {});
      return true;
    });
    const argv = ["image", "download", "ubuntu/noble", "--index", vendor.base, "--to", target];
    const killed = run(argv);
    await until(() => filesIn(dirname(target)).some((path) => sizeAt(path) === 200_000));
    killed.child.kill("SIGKILL");
    expect(await killed.ended).toBe(null);
    expect(filesIn(dirname(target)).includes("image")).toBe(false);
    const next = run(argv);
    expect(await next.ended).toBe(0);
    expect(filesIn(dirname(target))).toEqual(["image"]);
    expect(readFileSync(target).equals(CONTENT)).toBe(true);
    expect(vendor.asked.at(-1)).toBe(`${IMAGE_PATH} bytes=200000- ${etagOf(CONTENT)}`);
  } finally {
    await vendor.close();
  }

  function sizeAt(path: string): number {
    return path.endsWith(".part/content") ? readFileSync(join(dirname(target), path)).length : 0;
  }
});

function run(argv: readonly string[]) {
  const main = new URL("../../../cli/tenantctl/main.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, ["run", "-A", "--no-check", main, ...argv], { stdio: "ignore" });
  return { child, ended: new Promise<number | null>((resolve) => child.once("exit", resolve)) };
}

async function until(true_now: () => boolean): Promise<void> {
  while (!true_now()) await new Promise((resolve) => setTimeout(resolve, 20));
}
