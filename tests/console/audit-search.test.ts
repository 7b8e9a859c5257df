// The console converts the search text of the audit log into the server's filters.
import { describe, expect, test } from "vitest";
import { auditFlags, auditSearchOf } from "../../console/core/audit-search.ts";

const USER = "0b54dd64-1b5c-4c83-a3b9-0a34b32a1c1a";

describe("a search text is converted into the server's filters:", () => {
  test.each([
    ["", {}],
    ["action:cn_approve", { action: "cn_approve" }],
    [`actor:${USER} decision:deny`, { actor: USER, decision: "deny" }],
    [`object:web1 request:${USER}`, { resource: "web1", request_id: USER }],
    ["since:2026-09-01T12:00:00Z", { since: "2026-09-01T12:00:00Z" }],
    // A colon after a word that is not a field is part of the object's name.
    ["52:54:00:12:34:56", { resource: "52:54:00:12:34:56" }],
    ["constructor:web1", { resource: "constructor:web1" }],
    ['Instance::"x"', { resource: 'Instance::"x"' }],
  ])("%s", (text, search) => expect(auditSearchOf(text)).toEqual(search));
});

describe("a text that the server would refuse gets a reason instead:", () => {
  test.each([
    ["action:", "action: needs a value"],
    ["actor:0b54", "actor: needs a whole UUID"],
    ["request:web1", "request: needs a whole UUID"],
    ["action:a action:b", "Only one action at a time"],
  ])("%s", (text, reason) => expect(auditSearchOf(text)).toBe(reason));
});

test("the shown command line has options for the same filters", () => {
  expect(auditFlags({ action: "cn_approve", request_id: USER })).toEqual({
    "--action": "cn_approve",
    "--request": USER,
  });
});
