// Checks that every error_code in the source is in the contract's table, and that every code of the table is used. Also
// compares the table's statuses with the statuses of Faults.
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

test("every code of the table is used", () => {
  const all = texts.map(({ text }) => text).join("\n");
  expect(ERROR_CODE_NAMES.filter((code) => !all.includes(`"${code}"`))).toEqual([]);
});

test("the table has the same status for a code as the response to a Fault with this code", () => {
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
