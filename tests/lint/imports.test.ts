// Checks that imports follow the import rules. A failure names the rule and the fix.
import { describe, expect, test } from "vitest";
import { allows, IMPORT_RULES, type ImportRule, SOLE_IMPORTERS } from "./import-rules.ts";
import { CODE_FOLDERS, importsOf, type Source, sources } from "./sources.ts";

const files = sources(CODE_FOLDERS);

function ruleOf(path: string): ImportRule | undefined {
  return IMPORT_RULES.find(({ of }) => of.test(path));
}

function breaches(file: Source): string[] {
  const rule = ruleOf(file.path);
  if (rule === undefined) return [];
  return importsOf(file).filter((each) => !allows(rule, file.path, each))
    .map(({ from }) => `${file.path} imports ${from}: ${rule.rule}. Fix: ${rule.fix}.`);
}

test("no file breaks an import rule", () => {
  expect(files.flatMap(breaches)).toEqual([]);
});

test.each(Object.entries(SOLE_IMPORTERS))("%s is imported only by %s", (name, only) => {
  const importers = files.filter((file) => importsOf(file).some(({ from }) => from === name)).map(({ path }) => path);
  expect(importers).toEqual([only]);
});

test("every local import names an existing file with its extension", () => {
  const known = new Set([...files.map(({ path }) => path), "package.json"]);
  const missing = files.flatMap((file) =>
    importsOf(file).filter(({ isLocal, from }) => isLocal && !known.has(from)).map(({ from }) =>
      `${file.path}: ${from}`
    )
  );
  expect(missing).toEqual([]);
});

describe("the rules", () => {
  test.each([
    ["src/contract/cn.ts", 'import { cn } from "../../actors/cn/transition.ts";'],
    ["src/lib/net/mac.ts", 'import { readFileSync } from "node:fs";'],
    ["actors/engine/fold.ts", 'import { openPool } from "../../src/db/pool.ts";'],
    ["actors/cn/transition.ts", 'import { siteTable } from "../site/transition.ts";'],
    ["actors/cn/transition.ts", 'import { sql } from "kysely";'],
    ["actors/sagas/node-join.ts", 'import { cnTable } from "../cn/transition.ts";'],
    ["src/routes/cns.ts", 'import { cnTable } from "../../actors/cn/transition.ts";'],
    ["src/routes/cns.ts", 'import {\n  openPool,\n} from "../db/pool.ts";'],
    ["src/http/shell.ts", 'import type { CnState } from "../../actors/cn/state.ts";'],
    ["src/db/store.ts", 'export { cnTable } from "../../actors/cn/transition.ts";'],
    ["cli/opsctl/main.ts", 'import { CnView } from "../../src/contract/cn.ts";'],
    ["cli/opsctl/main.ts", 'const hono = await import("hono");'],
    ["console/operator/nodes.tsx", 'import { CnView } from "../../src/contract/cn.ts";'],
    ["console/operator/nodes.tsx", 'import { z } from "zod";'],
    ["booter/main.ts", 'import { serve } from "../src/http/node-server.ts";'],
  ])("reject in %s: %s", (path, text) => {
    expect(breaches({ path, text })).toHaveLength(1);
  });

  test("accept allowed imports", () => {
    const sound: [string, string][] = [
      ["src/routes/cns.ts", 'import { SITE } from "../../actors/site/transition.ts";'],
      ["cli/opsctl/main.ts", 'import type { CnView } from "../../src/contract/cn.ts";'],
      ["cli/opsctl/main.ts", 'import { CN_ROLES } from "../../src/contract/enums.ts";'],
      ["actors/cn/reads.ts", 'import { type Kysely, sql } from "kysely";'],
      ["src/wiring.ts", 'import { cnTable } from "../actors/cn/transition.ts";'],
    ];
    expect(sound.flatMap(([path, text]) => breaches({ path, text }))).toEqual([]);
  });
});
