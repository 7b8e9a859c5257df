// Implements the metadata service of one VPC, which answers HTTP requests of guests. The source address identifies the
// guest, because the router does not let a guest choose its address. A guest first gets a token with a PUT request, and
// every other request needs this token. The service also refuses requests that passed through a proxy. So a program in
// the guest that fetches pages for others does not leak the guest's data.
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Guest } from "./guest-plan.ts";

export type MetadataRequest = {
  readonly method: string;
  readonly path: string;
  /** The source address of the request. */
  readonly from: string;
  header(name: string): string | null;
};
export type MetadataAnswer = { readonly status: number; readonly body: string };

export type MetadataOptions = {
  readonly guests: readonly Guest[];
  /** Returns the files of a guest's configuration by name; empty for a guest that an older agent created. */
  filesOf(instance_id: string): Promise<Readonly<Record<string, string>>>;
  /** The key that signs the tokens. */
  readonly key: Uint8Array;
  readonly now_ms: number;
};

/** The longest life of a token in seconds: the same as in EC2's metadata service, which clients expect. */
const TOKEN_S_MAX = 21_600;
const TOKEN_PATH = "/latest/api/token";
const TTL_HEADER = "x-aws-ec2-metadata-token-ttl-seconds";
const TOKEN_HEADER = "x-aws-ec2-metadata-token";
const NOCLOUD_PATH = /^\/berth\/v1\/(meta-data|user-data|vendor-data|network-config)$/;
const META_PATH = "/latest/meta-data/";

export async function metadataAnswer(request: MetadataRequest, options: MetadataOptions): Promise<MetadataAnswer> {
  const guest = options.guests.find(({ ipv4, ipv6 }) => request.from === ipv4 || request.from === ipv6);
  if (guest === undefined) return refusal(404, "not found");
  if (request.header("x-forwarded-for") !== null) return refusal(403, "requests through a proxy are refused");
  if (request.method === "PUT") return tokenAnswer(request, guest, options);
  if (request.method !== "GET") return refusal(405, "use GET or PUT");
  if (!isValid(request.header(TOKEN_HEADER), guest, options)) {
    return refusal(401, `get a token first: PUT ${TOKEN_PATH} with the header ${TTL_HEADER}`);
  }
  const text = await contentOf(request.path, guest, options);
  return text === null ? refusal(404, "not found") : { status: 200, body: text };
}

function tokenAnswer({ path, header }: MetadataRequest, guest: Guest, options: MetadataOptions): MetadataAnswer {
  if (path !== TOKEN_PATH) return refusal(404, "not found");
  const ttl_s = Number(header(TTL_HEADER) ?? NaN);
  if (!Number.isSafeInteger(ttl_s) || ttl_s < 1 || ttl_s > TOKEN_S_MAX) {
    return refusal(400, `the header ${TTL_HEADER} must be 1 to ${TOKEN_S_MAX}`);
  }
  const expires_ms = options.now_ms + ttl_s * 1_000;
  return { status: 200, body: tokenOf(expires_ms, guest, options.key) };
}

/** A token contains its time of expiry, and a signature over this time and the guest's MAC. Tokens need no storage. */
function tokenOf(expires_ms: number, { mac }: Guest, key: Uint8Array): string {
  const signature = createHmac("sha256", key).update(`${expires_ms} ${mac}`).digest("base64url");
  return `${expires_ms.toString(36)}.${signature}`;
}

function isValid(token: string | null, guest: Guest, { key, now_ms }: MetadataOptions): boolean {
  const expires_ms = parseInt(token?.split(".", 1)[0] ?? "", 36);
  if (token === null || !(expires_ms > now_ms)) return false;
  const [given, wanted] = [Buffer.from(token), Buffer.from(tokenOf(expires_ms, guest, key))];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

async function contentOf(path: string, guest: Guest, { filesOf }: MetadataOptions): Promise<string | null> {
  const files = await filesOf(guest.instance_id);
  const file = NOCLOUD_PATH.exec(path)?.[1];
  if (file !== undefined) return files[file] ?? (file === "vendor-data" ? "" : null);
  if (path === "/latest/user-data") return files["user-data"] ?? null;
  const values = metadataOf(guest, files);
  if (path === META_PATH || path === META_PATH.slice(0, -1)) return Object.keys(values).join("\n");
  const name = path.startsWith(META_PATH) ? path.slice(META_PATH.length) : "";
  // `Object.hasOwn` excludes the names that every object inherits, such as `constructor`.
  return Object.hasOwn(values, name) ? values[name]! : null;
}

function metadataOf(guest: Guest, files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const public_ipv4 = guest.floating_ips.find((address) => !address.includes(":"));
  const key = firstKey(files["meta-data"]);
  const values: Readonly<Record<string, string | null | undefined>> = {
    "instance-id": guest.instance_id,
    "hostname": guest.hostname,
    "local-hostname": guest.hostname,
    "local-ipv4": guest.ipv4,
    "ipv6": guest.ipv6,
    "mac": guest.mac,
    "public-ipv4": public_ipv4,
    "public-keys/0/openssh-key": key,
  };
  return Object.fromEntries(
    Object.entries(values).filter((each): each is [string, string] => typeof each[1] === "string"),
  );
}

/** Returns the first SSH key of the meta-data, which is JSON, because the agent wrote it. */
function firstKey(meta_data: string | undefined): string | null {
  if (meta_data === undefined) return null;
  const keys = (JSON.parse(meta_data) as Readonly<Record<string, unknown>>)["public-keys"];
  return Array.isArray(keys) && typeof keys[0] === "string" ? keys[0] : null;
}

function refusal(status: number, why: string): MetadataAnswer {
  return { status, body: `${why}\n` };
}
