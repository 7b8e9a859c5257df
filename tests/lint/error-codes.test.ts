// Every error_code that is answered is in the contract's table, and every one of the table is answered somewhere. That a
// Fault names only codes of the table is a matter of its type; here it is asked of the text, and of the statuses.
import { expect, test } from "vitest";
import { ERROR_CODE_NAMES, ERROR_CODES, type ErrorCode } from "../../src/contract/error-codes.ts";
import type { FaultKind } from "../../src/contract/fault.ts";
import { FAULT_STATUS } from "../../src/http/fault-status.ts";
import { sources } from "./sources.ts";

const TABLE = "src/contract/error-codes.ts";
const texts = sources(["src", "actors"]).filter(({ path }) => path !== TABLE);

test("every error_code in the source is in the table", () => {
  const used = texts.flatMap(({ path, text }) =>
    [...text.matchAll(/\berror_code: "(\w+)"/g)].map((found) => [path, found[1] ?? ""] as const)
  );
  expect(used.length).toBeGreaterThan(20);
  expect(used.filter(([, code]) => !(code in ERROR_CODES))).toEqual([]);
});

test("every code of the table is one that something answers", () => {
  const all = texts.map(({ text }) => text).join("\n");
  expect(ERROR_CODE_NAMES.filter((code) => !all.includes(`"${code}"`))).toEqual([]);
});

test("a code stands in the table under the status that it is answered with", () => {
  const faults = texts.flatMap(({ path, text }) =>
    [...text.matchAll(/fault\(\s*"(\w+)",[^;]*?\berror_code: "(\w+)"/g)].map(([, kind, code]) => ({
      path,
      code,
      status: FAULT_STATUS[kind as FaultKind],
    }))
  );
  expect(faults.length).toBeGreaterThan(15);
  expect(faults.filter(({ code, status }) => ERROR_CODES[code as ErrorCode]?.status !== status)).toEqual([]);
});
