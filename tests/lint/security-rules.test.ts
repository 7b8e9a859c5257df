// Each security rule of docs/reliability.md has tests with its id in their titles. A rule without a test, and a title
// with an unknown id, fail here.
import { describe, expect, test } from "vitest";
import { filesBelow, readText } from "./sources.ts";

/** The test files of each rule of docs/reliability.md, without `tests/` and `.test.ts`. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  "S-01": ["api/rights-matrix", "api/node-rights", "tenancy/rights"],
  "S-02": ["tenancy/rights"],
  "S-03": ["setup/approval"],
  "S-04": ["tenancy/rights"],
  "S-05": ["api/bad-input"],
  "S-06": ["security/answers", "network/route", "tenancy/hierarchy"],
  "S-07": ["api/approval-limit"],
  "S-08": ["api/approval", "security/statements"],
  "S-09": ["api/key-delivery", "security/statements"],
  "S-10": ["auth/tokens", "security/edge-shares"],
  "S-11": ["tenancy/two-processes", "security/revocation"],
  "S-12": ["compute/job"],
  "S-13": ["api/node-rights", "api/agent-reports", "compute/job"],
  "S-14": ["api/key-delivery", "security/enrolment-claims"],
  "S-15": ["security/statements"],
  "S-16": ["api/sysinfo", "security/sealed-at-rest"],
  "S-17": ["security/secrets", "security/sealed-at-rest"],
  "S-18": ["http/shell", "api/database-loss"],
  "S-19": ["security/log-lines"],
  "S-20": ["setup/settings"],
  "S-21": ["booter/boot"],
  "S-22": ["booter/script"],
  "S-23": ["booter/setup-script"],
  "S-24": ["booter/boot", "booter/tftp", "http/index-site", "index-builder/served", "security/file-paths"],
  "S-25": [
    "auth/issuer-url",
    "index-builder/policy",
    "index-builder/hostile",
    "lib/public-address",
    "security/fetches-by-nodes",
    "security/fetches-by-server",
    "security/fetches-by-import",
  ],
  "S-26": ["booter/mirror"],
  "S-27": ["security/statements"],
  "S-28": ["lib/json-limits", "api/bad-input"],
  "S-29": ["security/patterns"],
  "S-30": ["index-builder/signatures"],
  "S-31": ["index-builder/signatures"],
  "S-32": ["security/tls", "security/tls-renewal", "security/database-tls"],
  "S-33": ["security/answers"],
  "S-34": ["security/answers", "http/docs-page", "api/web-console"],
  "S-35": ["lib/client-address", "http/shell"],
  "S-36": ["http/node-server", "security/tls"],
  "S-37": ["security/roles", "db/roles", "db/audit-chain", "db/embedded-logins"],
  "S-38": ["security/permissions", "security/secrets"],
  "S-39": ["db/audit-chain"],
  "S-40": ["security/answers", "api/audit"],
  "S-41": ["security/dependencies"],
  "S-42": ["release/reproducible", "release/install", "release/channel"],
  "S-43": ["booter/hostile"],
  "S-44": ["security/secrets", "db/embedded"],
  "S-45": ["api/system", "booter/boot"],
  "S-46": ["security/enrolment-claims"],
  "S-47": ["security/fetches-by-nodes", "security/fetches-by-server", "security/fetches-by-import"],
  "S-48": ["tenancy/limits", "compute/tenant-quota"],
  "S-49": ["security/growth"],
  "S-50": ["booter/amqp-connections", "booter/amqp-limits", "security/edge-shares"],
};

const ALL = Array.from({ length: 50 }, (_, index) => `S-${String(index + 1).padStart(2, "0")}`);
/** The ids at the beginning of the title of a test or a group. */
const TITLE = /\(\s*["'`]((?:S-\d\d(?:, )?)+): /g;

const titled = new Map<string, Set<string>>();
for (const path of filesBelow(["tests"], ".test.ts")) {
  for (const [, ids = ""] of readText(path).matchAll(TITLE)) {
    for (const id of ids.split(", ")) titled.set(id, (titled.get(id) ?? new Set()).add(path));
  }
}

test("every rule has a test", () => {
  expect(Object.keys(FILES)).toEqual(ALL);
});

describe("every file of a rule has a title with the rule's id", () => {
  test.each(Object.entries(FILES))("%s", (id, files) => {
    expect(files.length).toBeGreaterThan(0);
    const found = [...titled.get(id) ?? []];
    expect(found).toEqual(expect.arrayContaining(files.map((name) => `tests/${name}.test.ts`)));
  });
});

test("no test title has an unknown id", () => {
  expect([...titled.keys()].filter((id) => !ALL.includes(id))).toEqual([]);
});
