// Starts a booter on the loopback interface with a real control plane in the same process. Each machine sends from the
// address of its record. The addresses are in 127.20.0.0/16, because Linux treats these as local addresses.
import { createHash } from "node:crypto";
import { createSocket } from "node:dgram";
import { mkdir, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { type Booter, openBooter } from "../../booter/booter.ts";
import { type BooterConfig, readBooterConfig } from "../../booter/config.ts";
import { type ApiClient, openApiClient } from "../../booter/api-client/client.ts";
import type { Login } from "../../cli/internal/amqp/client.ts";
import { loopbackConfig, setupBlock } from "../../src/dev/booter-config.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { putPolicy } from "../setup/machine.ts";
import type { BooterProcess } from "./booter-process.ts";
import { clientPacket, CLIENTS, DISCOVER_TYPE, type PacketParts, readReply, type Reply, textOf } from "./packets.ts";

export const STAMP = "20260901T000000Z";
export const ADMIN_NETWORK = {
  ipv4_block: "127.20.0.0/16",
  provision_start_ipv4: "127.20.0.10",
  provision_end_ipv4: "127.20.255.250",
  gateway: "127.20.0.1",
  resolvers: ["127.20.0.2"],
};
export const RELAY = "127.20.0.3";

export type Line = { readonly event: string; readonly fields: Readonly<Record<string, unknown>> };

export type Site = {
  readonly t: TestControlPlane;
  readonly folder: string;
  readonly config: BooterConfig;
  readonly log: readonly Line[];
  booter: Booter;
  /** The link from the booter to the control plane. `away` makes every call fail, and `late_ms` delays every call. */
  readonly link: { away: boolean; late_ms: number; calls: string[] };
  api(): ApiClient;
  restart(): Promise<void>;
  close(): Promise<void>;
};

export const IMAGES = {
  platform: new TextEncoder().encode("the platform archive"),
  boot: new TextEncoder().encode("the boot archive"),
};
const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

export const SETUP_BLOCK = setupBlock({
  endpoint: "http://127.0.0.1:9",
  stamp: STAMP,
  platform_sha256: hashOf(IMAGES.platform),
  boot_sha256: hashOf(IMAGES.boot),
});

/** Creates the files that a booter serves: one platform image, boot programs, and the archives of a setup. */
export async function stageFiles(folder: string): Promise<void> {
  const platform = join(folder, "files/os", STAMP, "platform/i86pc");
  await mkdir(join(platform, "kernel/amd64"), { recursive: true });
  await mkdir(join(platform, "amd64"), { recursive: true });
  await mkdir(join(folder, "files/setup"), { recursive: true });
  await writeFile(join(platform, "kernel/amd64/unix"), "the kernel");
  await writeFile(join(platform, "amd64/boot_archive"), archiveBytes());
  await writeFile(join(platform, "amd64/boot_archive.hash"), "0123456789012345678901234567890123456789\n");
  await writeFile(join(folder, "files/undionly.kpxe"), programBytes(1));
  await writeFile(join(folder, "files/snponly.efi"), programBytes(2));
  await writeFile(join(folder, "files/setup", `platform-${STAMP}.tgz`), IMAGES.platform);
  await writeFile(join(folder, "files/setup", `boot-${STAMP}.tgz`), IMAGES.boot);
}

export function programBytes(seed: number): Uint8Array {
  return Uint8Array.from({ length: 100_000 }, (_, at) => (at * 31 + seed * 7 + (at >> 8)) & 255);
}
export function archiveBytes(): Uint8Array {
  return Uint8Array.from({ length: 3_000_000 }, (_, at) => (at * 17 + (at >> 10)) & 255);
}

export type SiteOptions = {
  readonly more?: string;
  /**
   * A function that adds files to the folder. It returns settings that belong before the first block of the
   * configuration.
   */
  readonly prepare?: (folder: string) => Promise<string>;
  readonly enrollment_pi?: string;
};

export async function openSite(
  { more = SETUP_BLOCK, prepare, enrollment_pi = STAMP }: SiteOptions = {},
): Promise<Site> {
  const folder: TemporaryFolder = await temporaryFolder("booter");
  await stageFiles(folder.path);
  const top = await prepare?.(folder.path) ?? "";
  const t = await openTestControlPlane();
  okOf(await putPolicy(t, { enrollment_pi, admin_network: ADMIN_NETWORK }));
  const { secret: key } = await t.mintKey("booter");
  const config = readBooterConfig(
    loopbackConfig(folder.path, { server_url: "http://berth.test", more, top }),
    "booter.toml",
  );
  const log: Line[] = [];
  const link: Site["link"] = { away: false, late_ms: 0, calls: [] };
  const ask = (async (url: string, init: RequestInit) => {
    link.calls.push(`${init.method} ${new URL(url).pathname}`);
    if (link.late_ms > 0) await aborted(link.late_ms, init.signal!);
    if (link.away) throw new Error("the network is down");
    return await t.plane.fetch(new Request(url, init), { remoteAddress: "192.0.2.77" });
  }) as typeof fetch;
  const api = () => openApiClient({ url: "http://berth.test", key, fetch: ask });
  const open = async () => {
    const booter = await openBooter({
      config,
      api: api(),
      log: (event, fields = {}) => void log.push({ event, fields }),
    });
    if (!link.away && link.late_ms === 0) await booter.records.refresh();
    return booter;
  };
  const site: Site = {
    t,
    folder: folder.path,
    config,
    log,
    link,
    api,
    booter: await open(),
    async restart() {
      await site.booter.close();
      site.booter = await open();
    },
    async close() {
      await site.booter.close();
      await t.close();
      await folder.remove();
    },
  };
  return site;
}

function aborted(late_ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, late_ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new Error("too late"));
    });
  });
}

export type Relay = {
  /** Sends a packet and waits for the reply with the same xid. */
  ask(parts: PacketParts): Promise<Reply>;
  send(bytes: Uint8Array): void;
  /** The replies that the relay has received. */
  readonly replies: Reply[];
  close(): void;
};

/** Opens a relay on loopback that receives replies at its source port. */
export async function openRelay(site: { readonly booter: Pick<Booter, "ports"> | BooterProcess }): Promise<Relay> {
  const socket = createSocket("udp4");
  const replies: Reply[] = [];
  const waiting = new Map<number, (reply: Reply) => void>();
  socket.on("message", (bytes) => {
    const reply = readReply(bytes);
    replies.push(reply);
    waiting.get(reply.xid)?.(reply);
  });
  await new Promise<void>((resolve) => socket.bind(0, RELAY, resolve));
  const send = (bytes: Uint8Array) => socket.send(bytes, site.booter.ports.dhcp, "127.0.0.1");
  return {
    replies,
    send,
    ask: (parts) =>
      new Promise((resolve) => {
        waiting.set(parts.xid ?? 0x12345678, resolve);
        send(relayed(parts));
      }),
    close: () => socket.close(),
  };
}

/** Returns a packet in the form in which a relay of the admin network forwards it. */
export function relayed(parts: PacketParts): Uint8Array {
  return clientPacket({ giaddr: 0x7f140003, ...parts });
}

let xids = 1;
/** Returns a DISCOVER of this client, with a new xid. */
export function discover(mac: string, client: keyof typeof CLIENTS = "ipxe"): PacketParts & { readonly xid: number } {
  return { mac, xid: ++xids, options: [DISCOVER_TYPE, ...CLIENTS[client]] };
}

/** Returns the path of the URL in option 67 of a reply. */
export function scriptPath({ options }: Pick<Reply, "options">): string {
  return new URL(textOf(options.get(67)).replace("\0", "")).pathname;
}

/** Returns the AMQP login in the kernel arguments of a boot script. */
export function loginIn(script: string): Login {
  const [, user = "", password = ""] = /rabbitmq=([^:]+):([^:]+):/.exec(script) ?? [];
  return { user, password };
}

export type Got = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
  readonly text: string;
};

export type Ask = {
  readonly from?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
};

/** Sends an HTTP request from a machine's address. */
export function httpAsk(
  port: number,
  path: string,
  { from = "127.0.0.1", method = "GET", headers = {}, body }: Ask = {},
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: "127.0.0.1", port, path, method, headers, localAddress: from, agent: false },
      (answer) => {
        const parts: Uint8Array[] = [];
        answer.on("data", (part: Uint8Array) => parts.push(part));
        answer.on("error", reject);
        answer.on("end", () => {
          const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
          let at = 0;
          for (const part of parts) {
            whole.set(part, at);
            at += part.length;
          }
          const text = new TextDecoder().decode(whole);
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: whole, text });
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

export function dotted(value: number): string {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");
}
