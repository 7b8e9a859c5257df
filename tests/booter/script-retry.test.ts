// Runs the boot script in the real iPXE of QEMU's network card. The server of the files stops in the middle of the
// archive and starts again 3 s later, like a booter that restarts.
import { spawn } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { bootFacts } from "../../booter/api-client/wire.ts";
import { renderScript } from "../../booter/script/render.ts";
import { needs, present } from "../support/optional-programs.ts";
import { factsOf } from "./facts.ts";

const AWAY_MS = 3_000;
const LIMIT_MS = 240_000;
const STAMP = "20260901T000000Z";
/** The address that QEMU's own network uses for the loopback address of this machine. */
const HOST = "10.0.2.2";
const PLATFORM = `/os/${STAMP}/platform/i86pc`;

let server: Server | null = null;
afterEach(() => server?.close());

function listen(port: number, handle: Parameters<typeof createServer>[1]): Promise<number> {
  server = createServer(handle as never);
  return new Promise((resolve, reject) => {
    server!.once("error", reject);
    server!.listen(port, "127.0.0.1", () => resolve((server!.address() as AddressInfo).port));
  });
}

test(
  "a machine whose booter restarts during the archive's download loads its files again and boots",
  async (context) => {
    needs(context, "qemu-system-x86_64");
    const asked: string[] = [];
    let broken = false;
    let booted = () => {};
    const done = new Promise<void>((resolve) => booted = resolve);
    const handle: Parameters<typeof createServer>[1] = (req, res) => {
      const { url: path = "" } = req;
      asked.push(path);
      if (path === "/booted") booted();
      if (path === "/script") return void res.end(script(port));
      // iPXE runs this text as its kernel. The test is about the script and needs no platform.
      if (path.endsWith("/unix")) return void res.end(`#!ipxe\nchain http://${HOST}:${port}/booted\n`);
      if (!path.endsWith("/boot_archive") || broken) return void res.end("x".repeat(64));
      broken = true;
      res.writeHead(200, { "content-length": "1000000" });
      res.write("x".repeat(1_000));
      setTimeout(() => {
        server!.close();
        server!.closeAllConnections();
        setTimeout(() => void listen(port, handle), AWAY_MS);
      }, 200);
    };
    const port: number = await listen(0, handle);
    const machine = spawn(present("qemu-system-x86_64")!, [
      ..."-accel tcg -m 256 -nodefaults -display none -no-reboot -boot n".split(" "),
      "-netdev",
      `user,id=n0,bootfile=http://${HOST}:${port}/script`,
      "-device",
      "virtio-net-pci,netdev=n0",
    ], { stdio: "ignore" });
    try {
      await done;
      expect(asked.filter((path) => path === `${PLATFORM}/amd64/boot_archive`).length).toBeGreaterThan(1);
      expect(asked.filter((path) => path === "/script")).toHaveLength(1);
    } finally {
      machine.kill("SIGKILL");
    }
  },
  LIMIT_MS,
);

function script(port: number): string {
  return renderScript({
    facts: bootFacts(factsOf()),
    kind: "local",
    stamp: STAMP,
    origin: `http://${HOST}:${port}`,
    ticket: "525400aa0001.0a00000a.67abcdef.12345678.0123456789abcdef0123456789abcdef",
    image: { kind: "smartos", has_hash: true },
    extra: [],
    console: "text",
    amqp: null,
    root_password_hash: null,
  });
}
