// Reads the configuration file. Refuses unknown keys. The error message for a wrong value names its key.
import { parse } from "smol-toml";
import { z } from "zod";
import { isStamp } from "../src/lib/ids/stamp.ts";
import { ipv4Number, maskOf } from "./ipv4.ts";
import { CACHE_AGE_HOURS_DEFAULT, PEERS_MAX } from "./limits.ts";
import { BOOT_CONSOLES } from "../src/contract/enums.ts";

const port = z.number().int().min(1).max(65_535);
/** A TCP or UDP port. 0 picks a free port, for tests. */
const listenPort = z.number().int().min(0).max(65_535);
const address = z.string().refine((text) => ipv4Number(text) !== null, "must be an IPv4 address");
const network = z.string().transform((text, context) => {
  const [base = "", length = ""] = text.split("/");
  const value = ipv4Number(base);
  if (value !== null && /^([1-9]|[12]\d|3[0-2])$/.test(length)) {
    return { network: (value & maskOf(Number(length))) >>> 0, prefix_len: Number(length) };
  }
  context.addIssue({ code: "custom", message: "must be an IPv4 block such as 10.0.0.0/24" });
  return z.NEVER;
});
const webAddress = z.string().refine(
  isWebAddress,
  "must be an http or https address without a user, query or fragment",
);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hex digits");
const stamp = z.string().refine(isStamp, "must be 1 to 64 letters, digits, dots, underscores or hyphens");
const path = z.string().min(1).refine((text) => !text.includes("\0"), "must be a path without NUL");
const host = z.string().regex(/^[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$/, "must be a host name or an address");

const peer = z.string().transform((text, context) => {
  const [, host = "", port = "80"] = /^http:\/\/([0-9.]+)(?::([0-9]{1,5}))?\/?$/.exec(text) ?? [];
  if (ipv4Number(host) !== null && Number(port) >= 1 && Number(port) <= 65_535) {
    return { address: host, port: Number(port) };
  }
  context.addIssue({ code: "custom", message: "must be http://ADDRESS or http://ADDRESS:PORT, with an IPv4 address" });
  return z.NEVER;
});

const Setup = z.strictObject({
  install_sh_url: webAddress,
  agent_endpoint: webAddress,
  platform_stamp: stamp,
  /** A SmartOS platform needs this setting and the next two settings. A Linux node image needs none of the three. */
  platform_image_sha256: sha256.optional(),
  boot_image_stamp: stamp.optional(),
  boot_image_sha256: sha256.optional(),
  ntp_server: host.optional(),
  upstream_channel_url: webAddress.optional(),
  upstream_key_file: path.optional(),
}).refine(
  (setup) => setup.upstream_channel_url !== undefined || setup.upstream_key_file === undefined,
  { message: "needs upstream_channel_url, which is not set", path: ["upstream_key_file"] },
).refine(
  ({ platform_image_sha256, boot_image_stamp, boot_image_sha256 }) =>
    new Set([platform_image_sha256, boot_image_stamp, boot_image_sha256].map((each) => each === undefined)).size === 1,
  { message: "needs boot_image_stamp and boot_image_sha256: set all three or none", path: ["platform_image_sha256"] },
);

export const BooterConfig = z.strictObject({
  state_dir: path,
  files_dir: path,
  /** The public key that verifies the signatures of Linux node images. The default is the booter's own release key. */
  image_key_file: path.optional(),
  console: z.enum(BOOT_CONSOLES).default("text"),
  control_plane: z.strictObject({
    url: webAddress,
    key_file: path,
    cache_max_age_hours: z.number().min(0).max(8_760).default(CACHE_AGE_HOURS_DEFAULT),
  }),
  segment: z.array(z.strictObject({ address, prefix_len: z.number().int().min(1).max(32) })).min(1).max(64),
  dhcp: z.strictObject({
    listen: address.default("0.0.0.0"),
    port: listenPort.default(67),
    mode: z.enum(["server", "proxy"]).default("server"),
    proxy_port: listenPort.default(4_011),
    answer_only_pxe: z.boolean().default(true),
    relays: z.array(network).max(256).default([]),
    relay_reply: z.enum(["giaddr", "source"]).default("giaddr"),
  }).prefault({}),
  tftp: z.strictObject({ port: listenPort.default(69) }).prefault({}),
  http: z.strictObject({ port: listenPort.default(80) }).prefault({}),
  /** Without this block, UEFI HTTP boot loads its first program without TLS. */
  https: z.strictObject({ port: listenPort.default(443), certificate_file: path, key_file: path }).optional(),
  metrics: z.strictObject({ port: listenPort.default(9_169) }).prefault({}),
  ur: z.strictObject({
    port: port.or(z.literal(0)).default(5_672),
    /** The other booters of the site. A setup script calls them if this booter does not answer. */
    peers: z.array(peer).max(PEERS_MAX).default([]),
    setup: Setup.optional(),
  }).optional(),
});
export type BooterConfig = z.output<typeof BooterConfig>;
export type SetupConfig = z.output<typeof Setup>;
export type Peer = z.output<typeof peer>;

/** The configuration file of an installed booter. */
export const CONFIG_PATH = "/etc/berth/booter.toml";

export class ConfigFault extends Error {}

/**
 * Parses and validates the text of a configuration file.
 * @throws ConfigFault with one line per problem; each line begins with the file and, if the file is TOML, the key
 */
export function readBooterConfig(text: string, name: string): BooterConfig {
  let document: unknown;
  try {
    document = parse(text);
  } catch (error) {
    throw new ConfigFault(`${name}: ${error instanceof Error ? error.message.split("\n", 1)[0] : "not TOML"}`);
  }
  const read = BooterConfig.safeParse(document);
  if (!read.success) {
    const lines = read.error.issues.flatMap((issue) => {
      const at = issue.path.join(".");
      if (issue.code === "unrecognized_keys") {
        return issue.keys.map((key) => `${at === "" ? key : `${at}.${key}`}: unknown key`);
      }
      return [`${at === "" ? "the file" : at}: ${issue.message}`];
    });
    throw new ConfigFault(lines.map((line) => `${name}: ${line}`).join("\n"));
  }
  const twice = read.data.segment.find(({ address: one }, at, all) =>
    all.findIndex((each) => each.address === one) < at
  );
  if (twice !== undefined) throw new ConfigFault(`${name}: segment: ${twice.address} is listed twice`);
  const wrong = wrongPeer(read.data);
  if (wrong !== null) throw new ConfigFault(`${name}: ur.peers: ${wrong}`);
  return read.data;
}

function wrongPeer({ ur, segment, http }: BooterConfig): string | null {
  const peers = ur?.peers ?? [];
  for (const [at, { address, port }] of peers.entries()) {
    if (peers.findIndex((each) => each.address === address && each.port === port) < at) {
      return `${peerOrigin({ address, port })} is listed twice`;
    }
    if (port === http.port && segment.some((each) => each.address === address)) {
      return `${peerOrigin({ address, port })} is this booter; list only the other booters`;
    }
  }
  return null;
}

/** Returns the origin of the URLs of another booter. */
export function peerOrigin({ address, port }: Peer): string {
  return port === 80 ? `http://${address}` : `http://${address}:${port}`;
}

function isWebAddress(text: string): boolean {
  try {
    const { protocol, username, password, search, hash } = new URL(text);
    const is_web = protocol === "http:" || protocol === "https:";
    return is_web && username === "" && password === "" && search === "" && hash === "";
  } catch {
    return false;
  }
}
