// Reads the numbers of the programs from their source: name, value, unit and reason of each constant. `task docs`
// prints them into docs/limits.md, so that no number is copied by hand.
import { readdirSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { SETTINGS } from "../src/contract/settings.ts";
import { amount } from "./amount.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const CONTRACT = "src/contract/limits.ts";

/** A constant. `value` is null if the constant is not a number. */
type Limit = { readonly name: string; readonly value: number | null };
/** Constants under one docstring. */
type LimitBlock = { readonly limits: readonly Limit[]; readonly reason: string };

/** The parts of limits.md that come from the contract. The first pattern that fits a block's first name wins. */
const CONTRACT_PARTS: readonly (readonly [part: string, names: RegExp])[] = [
  ["registration", /^(?:CLAIM|UNPROVEN|REGISTER|APPROVE|AUTO_APPROVE|POLL_TOKEN|AGENT_(?:APPROVAL|PENDING|ERROR))/],
  ["setup", /^(?:SETUP|FAILURE|CRYPT|SERVICE_TAG|MACS|ROSTER|KERNEL|STAMP|CIDR|RACK|HARDWARE|LABEL_ARGUMENTS)/],
  [
    "node",
    /^(?:CN_|AGENT|RESERVOIR|TRAIT|JOB|RUNNING|TOMBSTONES|IMAGE_CACHE|HOSTNAME|NODE_WAIT|OPERATION_GRACE|DRAIN|LABEL_DRAIN|REBOOT)/,
  ],
  [
    "history",
    /^(?:API_KEY|RETENTION|EXPIRED_KEYS|DOCTOR|SAGA|LOG|SWEEP|AUDIT_(?:ARCHIVE|SEGMENT)|METRICS|MINUTE_LOAD|NODE_SAMPLES|LOAD|USAGE)/,
  ],
  [
    "request",
    /^(?:BODY|BODIES|JSON|HEADER|URI|IDLE|CONNECTIONS|HELD|CALLER|RATES|SCAN|PAGE|AUDIT|OPERATION|IDEMPOTENCY|SEEN|TLS|CREDENTIAL|REPORT_ELEMENTS|DOCUMENT|SEARCH|WINDOW|CHANGES|PREFER)/,
  ],
  [
    "credential",
    /^(?:KEY|TICKET|ACCESS|REFRESH|LOGIN|JWKS|PASSWORD|USERNAME|TOKEN|SUBJECT|ISSUER|SESSION|DENIAL|RSA|OPENSSH|FETCH|OIDC|WEB_SESSION|DEV_SIGN_IN)/,
  ],
  [
    "network",
    /^(?:FIREWALL|PORT|ICMP|VNI|SUBNET|POOL|OWNER|MTU|VLAN|EXTRA_NICS|ADDITIONAL_IPS|TRACE|RESOLVERS|NTP|NIC|NETWORK|RULE_COUNTS|REALIZATIONS|OVERLAY|UNDERLAY|VPC|NAT|REPORTED)/,
  ],
  ["console", /^(?:CONSOLE|SCREENSHOT)/],
  ["webhook", /^WEBHOOK/],
  ["instance", /(?:)/],
];

/** The parts that come from every file below a folder: constants with a docstring and a unit. */
const FOLDER_PARTS: Readonly<Record<string, readonly string[]>> = {
  server: ["actors", "src/auth", "src/db", "src/http", "src/outbound", "src/workers"],
  booter: ["booter"],
  nodeagent: ["nodeagent"],
  cli: ["cli"],
  "index-builder": ["index-builder"],
};

/** How the name of a limit ends. Constants of file formats and protocols have other names, and are not printed. */
const LIMIT_NAME = /_(?:MS|S|HOURS|DAYS|ROWS|MAX|MIN|DEFAULT|MINUTE)$/;
const BLOCK = /\/\*\*((?:(?!\*\/)[\s\S])*?)\*\/\n((?:(?:export )?const [A-Z][A-Z0-9_]*\b[^=\n]*= [^\n]*;\n)+)/g;
const LINE = /const ([A-Z][A-Z0-9_]*)\b[^=\n]*= ([^;\n]*);/g;

/** Markdown for one part of limits.md. */
export function limitsPart(part: string): string {
  if (part === "settings") return settings();
  const folders = FOLDER_PARTS[part];
  if (folders !== undefined) return folders.flatMap(filesOf).map(fileList).filter((text) => text !== "").join("\n");
  if (!CONTRACT_PARTS.some(([name]) => name === part)) throw new Error(`docs: limits.ts has no part ${part}`);
  return list(contractBlocks().filter(({ limits }) => partOf(limits[0]!.name) === part));
}

function contractBlocks(): LimitBlock[] {
  return blocks(readFileSync(`${ROOT}${CONTRACT}`, "utf8"));
}

function partOf(name: string): string {
  return CONTRACT_PARTS.find(([, names]) => names.test(name))![0];
}

function filesOf(folder: string): string[] {
  return readdirSync(`${ROOT}${folder}`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.parentPath.includes("node_modules"))
    .map((entry) => relative(ROOT, `${entry.parentPath}/${entry.name}`)).sort();
}

/**
 * Returns the limits of one file. Names in files called limits.ts are unique. Limits of other files are shown with the
 * path of their file.
 */
function fileList(path: string): string {
  const found = blocks(readFileSync(`${ROOT}${path}`, "utf8"));
  if (path.endsWith("/limits.ts")) return list(found);
  // A docstring describes at least the first constant below it. So this constant decides whether the block is printed.
  const about = found.filter(({ limits }) => LIMIT_NAME.test(limits[0]!.name) && limits[0]!.value !== null);
  const limits = about.map(({ limits, reason }) => ({
    limits: limits.filter(({ name }) => LIMIT_NAME.test(name)),
    reason,
  }));
  return list(limits, ` (${path})`);
}

function blocks(source: string): LimitBlock[] {
  const known: Record<string, number> = {};
  return [...source.matchAll(BLOCK)].map(([, comment = "", lines = ""]) => {
    const limits = [...lines.matchAll(LINE)].map(([, name = "", expression = ""]) => {
      const value = valueOf(expression, known);
      if (value !== null) known[name] = value;
      return { name, value };
    });
    return { limits, reason: reasonOf(comment) };
  });
}

/** The value of an arithmetic expression over numbers and names of the same file; null for anything else. */
function valueOf(expression: string, known: Readonly<Record<string, number>>): number | null {
  const plain = expression.replace(/\b[A-Z][A-Z0-9_]*\b/g, (name) => String(known[name] ?? name));
  if (!/^[\d_ .()*/+-]+$/.test(plain) || !/\d/.test(plain)) return null;
  return Number(new Function(`return ${plain};`)());
}

/** Returns the text of the docstring, without the note of its source. */
function reasonOf(comment: string): string {
  const text = comment.replace(/\s*\n\s*\*\s?/g, " ").replace(/\s+/g, " ").trim();
  const bare = text.replace(/^(?:Our decision|Document [1-4][^:]*|reliability\.md [\w-]+|docs\/[\w./-]+[^:]*): /, "");
  return bare.replace(/^[a-z]+(?![\w-])/, (word) => word.charAt(0).toUpperCase() + word.slice(1));
}

function list(all: readonly LimitBlock[], place = ""): string {
  return all.flatMap(({ limits, reason }) => {
    const values = limits.flatMap(({ name, value }) =>
      value === null ? [] : [`\`${name}\` **${amount(name, value)}**`]
    );
    return values.length === 0 ? [] : [wrapped(`- ${values.join(", ")}${place}: ${reason}`)];
  }).join("\n");
}

/** Wraps a list item as `deno fmt` does. */
function wrapped(item: string): string {
  const WIDTH = 120;
  const lines: string[] = [];
  for (const word of item.split(" ")) {
    const line = lines.at(-1);
    if (line === undefined) lines.push(word);
    else if (line.length + 1 + word.length <= WIDTH) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(`  ${word}`);
  }
  return lines.join("\n");
}

function settings(): string {
  return Object.entries(SETTINGS).map(([key, setting]) => {
    const description = setting.description.replace(/\.?$/, ".");
    return wrapped(`- \`${key}\` **${settingDefault(key, setting.default)}**: ${description}`);
  }).join("\n");
}

function settingDefault(key: string, value: unknown): string {
  if (typeof value === "number") {
    const plain = value.toLocaleString("en-US");
    const withUnit = amount(key.toUpperCase(), value);
    return withUnit.startsWith(plain) ? withUnit : `${plain} (${withUnit})`;
  }
  if (Array.isArray(value)) return value.length === 0 ? "empty" : value.join(", ");
  if (value === null || typeof value !== "object") return String(value);
  return "an object";
}
