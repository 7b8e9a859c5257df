// Provides a vendor's server that misbehaves in one way when one document is requested, and a vendor's module that
// reads each kind of document. The server listens on loopback. All host names except internal.example resolve to a
// public address, but the `dial` setting redirects connections to the server.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { z } from "zod";
import { newest } from "../../index-builder/natural-order.ts";
import type {
  ArchiveCandidate,
  ArtifactDraft,
  ChecksumDocument,
  SigningKey,
  Vendor,
  Visit,
} from "../../index-builder/vendor.ts";
import { LIVE, liveExchange, type LiveSetting } from "../../index-builder/web/live.ts";
import type { Exchange } from "../../index-builder/web/exchange.ts";
import { detachedOf, hashOf, type KeyPair } from "./signed-web.ts";

export const HOST = "vendor.example";
const ROOT = `https://${HOST}/`;
const PUBLIC_ADDRESS = "93.184.216.34";
export const DOCUMENTS = [
  "listing",
  "json",
  "sums",
  "signature",
  "key",
  "image",
  "arm",
  "vault",
  "vault_sums",
] as const;
export type DocumentKind = (typeof DOCUMENTS)[number];
const PATHS: Readonly<Record<string, DocumentKind>> = {
  "/builds/": "listing",
  "/release.json": "json",
  "/builds/2/SHA256SUMS": "sums",
  "/builds/2/SHA256SUMS.asc": "signature",
  "/key.asc": "key",
  "/builds/2/image.qcow2": "image",
  // Optional parts of a release: another architecture, and an archive.
  "/builds/2/ARM64SUMS": "arm",
  "/vault/": "vault",
  "/vault/1.0/SHA256SUMS": "vault_sums",
};
/** Paths that are requested with HEAD only. */
const HEADS = ["/builds/2/arm64.qcow2", "/vault/1.0/old.qcow2"];
/** 64 MiB of zeros, compressed to 64 KiB. */
const BOMB = gzipSync(new Uint8Array(64 * 1024 * 1024));
export type Bodies = Readonly<Record<DocumentKind | "arm_signature" | "vault_signature", string>>;
/** The signatures of optional documents. The server always serves these signatures correctly. */
const SIGNATURES: Readonly<Record<string, "arm_signature" | "vault_signature">> = {
  "/builds/2/ARM64SUMS.asc": "arm_signature",
  "/vault/1.0/SHA256SUMS.asc": "vault_signature",
};

type Case = {
  readonly good: string;
  readonly bodies: Bodies;
  /** Makes the client's request time out at once, so that no test waits for the time limit. */
  readonly expire: () => void;
};
/** Answers one request, correctly or not. */
export type Behaviour = (response: ServerResponse, kase: Case) => void;

const send = (
  response: ServerResponse,
  status: number,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
) => {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  response.writeHead(status, { "content-length": String(bytes.length), ...headers }).end(bytes);
};
const redirect = (target: string): Behaviour => (response) => send(response, 302, "", { location: target });

export const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  "breaks off in the middle": (response, { good }) => {
    response.writeHead(200, { "content-length": String(good.length + 100) });
    response.write(good.slice(0, Math.ceil(good.length / 2)), () => response.destroy());
  },
  "sends the first half as if it were all": (response, { good }) =>
    send(response, 200, good.slice(0, Math.floor(good.length / 2))),
  "sends nothing with status 200": (response) => send(response, 200, ""),
  "sends an HTML page with status 200": (response) =>
    send(response, 200, "<!DOCTYPE html><html><body>Maintenance</body></html>"),
  "sends bytes that are not text": (response) => send(response, 200, new Uint8Array([0xff, 0xfe, 0x00, 0x80])),
  "changes one hex digit": (response, { good }) =>
    send(response, 200, good.replace(/[0-9a-f]{64}/, (hash) => (hash[0] === "0" ? "1" : "0") + hash.slice(1))),
  "sends another document": (response, { good, bodies }) =>
    send(response, 200, good === bodies.sums ? bodies.json : bodies.sums),
  "never ends its body": (response, { expire }) => {
    response.writeHead(200);
    let sent = 0;
    const timer = setInterval(() => {
      response.write("a".repeat(1_000_000));
      // The body is now larger than the limit of a document. A HEAD request gets no response at all.
      if (++sent === 20) expire();
    }, 1);
    response.once("close", () => clearInterval(timer));
  },
  "sends one byte at a time": (response, { good, expire }) => {
    response.writeHead(200);
    let at = 0;
    const timer = setInterval(() => {
      response.write(good[at % Math.max(1, good.length)] ?? " ");
      if (++at === 5) expire();
    }, 1);
    response.once("close", () => clearInterval(timer));
  },
  "never answers": (_, { expire }) => expire(),
  "closes at once": (response) => void response.destroy(),
  "sends 500": (response) => send(response, 500, "no"),
  "sends 429": (response) => send(response, 429, "no"),
  "sends 403": (response) => send(response, 403, "no"),
  "sends 404": (response) => send(response, 404, "no"),
  "sends 204": (response) => void response.writeHead(204).end(),
  "sends a gzip bomb": (response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(BOMB),
  "sends broken gzip": (response) => send(response, 200, "not gzip at all", { "content-encoding": "gzip" }),
  "sends a coding that was not accepted": (response, { good }) =>
    send(response, 200, good, { "content-encoding": "br" }),
  "sends endless headers": (response) => {
    response.socket?.write("HTTP/1.1 200 OK\r\n");
    const timer = setInterval(() => response.socket?.write(`x-more: ${"a".repeat(8_000)}\r\n`), 1);
    response.socket?.once("close", () => clearInterval(timer));
  },
  "redirects to itself forever": redirect(`${ROOT}loop`),
  "redirects without a location": (response) => void response.writeHead(302).end(),
  "redirects to the metadata address": redirect("https://169.254.169.254/latest/meta-data/"),
  "redirects to a private name": redirect("https://internal.example/"),
  "redirects to loopback": redirect("https://[::1]/"),
  "redirects to loopback spelt as a number": redirect("https://2130706433/"),
  "redirects to a mapped address": redirect("https://[::ffff:10.0.0.1]/"),
  "redirects to plain http": redirect(`http://${HOST}/release.json`),
  "redirects to another port": redirect(`https://${HOST}:8443/`),
  "redirects to a name with a password": redirect(`https://user:secret@${HOST}/`),
  "redirects to a file": redirect("file:///etc/passwd"),
};

export type Hostile = {
  readonly exchange: Exchange;
  /** All IP addresses to which a client connected. */
  readonly dialled: string[];
  misbehave(document: DocumentKind | null, behaviour: Behaviour | null): void;
  close(): Promise<void>;
};

export async function startHostile(bodies: Bodies): Promise<Hostile> {
  /** Time limits of the current requests, by URL. */
  const deadlines = new Map<string, Set<AbortController>>();
  let bad: DocumentKind | null = null;
  let behaviour: Behaviour | null = null;
  const server = createServer((request, response) => {
    response.on("error", () => {});
    const path = request.url ?? "";
    const document = PATHS[path];
    if (path.endsWith("loop")) return send(response, 302, "", { location: `${ROOT}loop` });
    if (HEADS.includes(path)) return void response.writeHead(200, { "content-length": "1000" }).end();
    const signature = SIGNATURES[path];
    if (signature !== undefined) return send(response, 200, bodies[signature]);
    if (document === undefined) return send(response, 404, "");
    if (document === bad && behaviour !== null) {
      const expire = () => deadlines.get(`https://${HOST}${path}`)?.forEach((deadline) => deadline.abort());
      return behaviour(response, { good: bodies[document], bodies, expire });
    }
    if (document === "image") return void response.writeHead(200, { "content-length": "1000" }).end();
    send(response, 200, bodies[document]);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const dialled: string[] = [];
  const setting: LiveSetting = {
    ...LIVE,
    user_agent: "test",
    resolve: (host) => Promise.resolve([host === "internal.example" ? "10.1.2.3" : PUBLIC_ADDRESS]),
    dial: (_, address) => {
      dialled.push(address);
      return { tls: false, host: "127.0.0.1", port };
    },
  };
  const exchange: Exchange = async (request) => {
    const deadline = new AbortController();
    const under_way = deadlines.get(request.url) ?? new Set();
    deadlines.set(request.url, under_way.add(deadline));
    const asked = liveExchange({ ...setting, deadline: () => deadline.signal })(request);
    return await asked.finally(() => under_way.delete(deadline));
  };
  return {
    exchange,
    dialled,
    misbehave: (document, way) => {
      bad = document;
      behaviour = way;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/**
 * Returns a vendor's module that reads one document of every kind.
 * @param fingerprint the fingerprint of the vendor's key
 */
export function everyKindVendor(fingerprint: string): Vendor {
  const key: SigningKey = { key_url: `${ROOT}key.asc`, fingerprints: [fingerprint] };
  const signed = (url: string): ChecksumDocument => ({
    url,
    format: "gnu",
    algorithm: "sha256",
    signature: { kind: "pgp_detached", url: `${url}.asc`, key },
  });
  return {
    id: "hostile",
    name: "Hostile",
    homepage: ROOT,
    os_family: "linux",
    hosts: [HOST],
    end_of_life_product: null,
    list: async (visit) => {
      const { version } = await visit.json(`${ROOT}release.json`, z.object({ version: z.string() }));
      return [{
        token: version,
        version,
        title: version,
        supported: true,
        eol_date: null,
        lts: false,
        dev: null,
        channel: false,
        resolve: async () => {
          const names = await visit.listing(`${ROOT}builds/`);
          const build = newest(names.filter((name) => /^\d+\/$/.test(name)), String)?.slice(0, -1) ?? "";
          const folder = `${ROOT}builds/${build}/`;
          const arm = signed(`${folder}ARM64SUMS`);
          const has_arm = await visit.optional("arm64", () => visit.checksums(arm)) !== null;
          const artifacts = [
            imageAt(`${folder}image.qcow2`, "x86_64", { ...signed(`${folder}SHA256SUMS`), series: "sums" }),
            ...(has_arm ? [imageAt(`${folder}arm64.qcow2`, "aarch64", arm)] : []),
          ];
          return { builds: [{ build, point_release: "2.0", artifacts }], archive: (vault) => archiveOf(vault, signed) };
        },
      }];
    },
  };
}

async function archiveOf(vault: Visit, signed: (url: string) => ChecksumDocument): Promise<ArchiveCandidate[]> {
  const names = await vault.listing(`${ROOT}vault/`);
  return names.filter((name) => name === "1.0/").map((name) => ({
    point_release: "1.0",
    resolve: async () => {
      const document = signed(`${ROOT}vault/${name}SHA256SUMS`);
      await vault.checksums(document);
      return {
        build: "1",
        point_release: "1.0",
        artifacts: [imageAt(`${ROOT}vault/${name}old.qcow2`, "x86_64", document)],
      };
    },
  }));
}

function imageAt(url: string, arch: string, document: ChecksumDocument): ArtifactDraft {
  const checksum = { document, filename: url.slice(url.lastIndexOf("/") + 1) };
  return { url, variant: null, default_variant: true, arch, format: "qcow2", compression: "none", checksum };
}

export const HASHES = { x86_64: hashOf("build 2"), aarch64: hashOf("build 2 for arm64"), vault: hashOf("build 1") };

/** Returns correct documents, signed with `key`. */
export async function goodBodies(key: KeyPair): Promise<Bodies> {
  const sums = `${HASHES.x86_64}  image.qcow2\n`;
  const arm = `${HASHES.aarch64}  arm64.qcow2\n`;
  const vault_sums = `${HASHES.vault}  old.qcow2\n`;
  return {
    listing: `<pre><a href="../">../</a><a href="1/">1/</a><a href="2/">2/</a></pre>`,
    json: JSON.stringify({ version: "9" }),
    sums,
    signature: await detachedOf(sums, key),
    key: key.publicKey.armor(),
    image: "",
    arm,
    arm_signature: await detachedOf(arm, key),
    vault: `<pre><a href="../">../</a><a href="1.0/">1.0/</a></pre>`,
    vault_sums,
    vault_signature: await detachedOf(vault_sums, key),
  };
}
