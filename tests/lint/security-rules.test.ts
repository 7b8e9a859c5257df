// The rules of security, each with the files whose test titles bear its id. A rule whose test went away, and
// a title with an id that there is not, fail here.
import { describe, expect, test } from "vitest";
import { filesBelow, readText } from "./sources.ts";

const HELD: Readonly<Record<string, readonly [rule: string, ...files: string[]]>> = {
  "S-01": [
    "one written status for every operation and principal",
    "api/rights-matrix",
    "api/node-rights",
    "tenancy/rights",
  ],
  "S-02": ["foreign and absent cannot be told apart", "tenancy/rights"],
  "S-03": ["a scoped key of whoever it is stays scoped", "setup/approval", "tenancy/users"],
  "S-04": ["the tenant comes from the credential alone", "tenancy/rights"],
  "S-05": ["unknown fields and the server's own are refused", "api/bad-input"],
  "S-06": ["every id of a request is authorised", "security/answers", "network/route", "tenancy/hierarchy"],
  "S-07": ["claim codes: per address before, over the site after authentication", "api/approval-limit"],
  "S-08": ["unknown, expired and used codes cost and say the same", "api/approval", "security/statements"],
  "S-09": [
    "keys are random, stored as hashes, found by the hash of their secret",
    "api/key-delivery",
    "security/statements",
  ],
  "S-10": ["`Authorization: Bearer` and nothing else", "auth/tokens", "security/edge-shares"],
  "S-11": ["revocation is immediate in every process", "tenancy/two-processes", "security/revocation"],
  "S-12": ["what the key of a disabled node may still do", "compute/job"],
  "S-13": ["a node's key acts as that node", "api/node-rights", "api/agent-reports", "compute/job"],
  "S-14": [
    "a poll token delivers until the first use of the key",
    "api/key-delivery",
    "security/enrolment-claims",
  ],
  "S-15": ["a request that is sent again has no second effect", "security/statements"],
  "S-16": ["secrets of a machine's inventory are stored and shown nowhere", "api/sysinfo", "security/sealed-at-rest"],
  "S-17": [
    "no secret in arguments, environments, logs, answers, metrics",
    "security/secrets",
    "security/sealed-at-rest",
  ],
  "S-18": ["errors say nothing of the inside", "http/shell", "api/database-loss"],
  "S-19": ["one event is one bounded line", "security/log-lines"],
  "S-20": ["the root password: one of two forms, never shown", "setup/settings"],
  "S-21": ["a boot script is its machine's alone", "booter/boot"],
  "S-22": ["no value becomes a word of a boot script", "booter/script"],
  "S-23": ["setup takes values as data", "booter/setup-script"],
  "S-24": [
    "no path of a caller's reaches the file system",
    "booter/boot",
    "booter/tftp",
    "http/index-site",
    "index-builder/served",
    "security/file-paths",
  ],
  "S-25": [
    "outbound requests stay where they may go",
    "auth/issuer-url",
    "index-builder/policy",
    "index-builder/hostile",
    "lib/public-address",
    "security/fetches-by-nodes",
    "security/fetches-by-server",
    "security/fetches-by-import",
  ],
  "S-26": ["mirrored files are verified before they are served", "booter/mirror"],
  "S-27": ["values never stand in SQL", "security/statements"],
  "S-28": ["bounds of JSON", "lib/json-limits", "api/bad-input"],
  "S-29": ["patterns do not try without bound", "security/patterns"],
  "S-30": ["signatures", "index-builder/signatures"],
  "S-31": ["no older document than the newest one seen", "index-builder/signatures"],
  "S-32": ["TLS 1.2 or newer, verified", "security/tls", "security/tls-renewal", "security/database-tls"],
  "S-33": ["no origin is let in", "security/answers"],
  "S-34": ["headers of every answer", "security/answers", "http/docs-page"],
  "S-35": ["whose address a request has", "lib/client-address", "http/shell"],
  "S-36": ["limits at the edge", "http/node-server", "security/tls"],
  "S-37": ["rights in the database", "security/roles", "db/roles", "db/audit-chain", "db/embedded-logins"],
  "S-38": ["the process's permissions are lists", "security/permissions", "security/secrets"],
  "S-39": ["the audit chain shows every tampering", "db/audit-chain"],
  "S-40": ["every change is audited", "security/answers", "api/audit"],
  "S-41": ["dependencies are pinned, few, and of no version with a known hole", "security/dependencies"],
  "S-42": [
    "releases are reproducible and verified before they are installed",
    "release/reproducible",
    "release/install",
    "release/channel",
  ],
  "S-43": ["the booter answers its own machines and never refuses", "booter/hostile"],
  "S-44": ["files are nobody else's to read", "security/secrets", "db/embedded"],
  "S-45": ["health and metrics tell nothing to strangers", "api/system", "booter/boot"],
  "S-46": ["who cannot prove to be the node changes nothing of it", "security/enrolment-claims"],
  "S-47": [
    "fetches on behalf of others reach public addresses only, and every failure reads the same",
    "security/fetches-by-nodes",
    "security/fetches-by-server",
    "security/fetches-by-import",
  ],
  "S-48": ["a limit binds its subject, whatever it creates", "tenancy/limits", "compute/tenant-quota"],
  "S-49": ["no caller makes rows or bytes without bound", "security/growth"],
  "S-50": ["a slow or greedy source takes only its share", "security/edge-shares"],
};

const ALL = Array.from({ length: 50 }, (_, index) => `S-${String(index + 1).padStart(2, "0")}`);
/** The ids that stand at the beginning of a title, be it a test's or a description's. */
const TITLE = /\(\s*["'`]((?:S-\d\d(?:, )?)+): /g;

const titled = new Map<string, Set<string>>();
for (const path of filesBelow(["tests"], ".test.ts")) {
  for (const [, ids = ""] of readText(path).matchAll(TITLE)) {
    for (const id of ids.split(", ")) titled.set(id, (titled.get(id) ?? new Set()).add(path));
  }
}

test("every rule is held by a test", () => {
  expect(Object.keys(HELD)).toEqual(ALL);
});

describe("a title bears the rule's id in every file that is named for it", () => {
  test.each(Object.entries(HELD))("%s", (id, [, ...files]) => {
    expect(files.length).toBeGreaterThan(0);
    const found = [...titled.get(id) ?? []];
    expect(found).toEqual(expect.arrayContaining(files.map((name) => `tests/${name}.test.ts`)));
  });
});

test("no title bears an id that there is not", () => {
  expect([...titled.keys()].filter((id) => !ALL.includes(id))).toEqual([]);
});
