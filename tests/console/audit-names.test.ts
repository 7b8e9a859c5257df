// Tests in Chromium that the audit names actors that are not among the first 1,000 users of the site.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { okOf } from "../support/control-plane.ts";
import { answerWith, idOf } from "./long-answers.ts";
import { useConsoleSite } from "./site.ts";

/** The time limit of one test on a busy machine, in milliseconds. */
const LIMIT_MS = 120_000;
/** More users than the page reads one by one. */
const ACTORS = 40;

let auditor: { readonly id: string };

const f = useConsoleSite(async (site) => {
  const password = "correct horse battery";
  const body = { username: "auditor", password, capabilities: ["system-operate"] };
  auditor = okOf(await site.call("POST", "/v1/system/users", { body }));
  const login = await site.call("POST", "/v1/auth/login", { key: null, body: { username: "auditor", password } });
  const own = { key: okOf(login).access_token, body: { username: "carol", password } };
  okOf(await site.call("POST", "/v1/system/users", own));
});

/** Answers the list of users with 1,000 other users. Returns the ids of the users that the page reads one by one. */
async function withManyUsers(page: Page): Promise<string[]> {
  await answerWith(page, "/v1/system/users", (n) => ({ username: `user${n}`, capabilities: [], tenant_id: null }));
  const asked: string[] = [];
  page.on("request", (request) => {
    const id = /\/v1\/system\/users\/([^/?]+)$/.exec(request.url())?.[1];
    if (id !== undefined) asked.push(id);
  });
  return asked;
}

test("with more than 1,000 users, the list of events and the page of an event name the actor", async () => {
  const own = await f.site().open();
  const asked = await withManyUsers(own.page);
  await own.show("/audit?find=action:user_create");
  await own.page.getByRole("gridcell", { name: "auditor", exact: true }).waitFor();
  await own.settled();
  // The page may also ask for root, which created the auditor and is not among the 1,000 users, either.
  expect(asked).toContain(auditor.id);
  expect(new Set(asked).size).toBeLessThanOrEqual(2);
  await own.page.getByRole("row").filter({ hasText: "auditor" }).getByRole("link", { name: "user_create" }).click();
  await own.page.getByRole("definition").filter({ hasText: /^auditor$/ }).waitFor();
  await own.page.context().close();
}, LIMIT_MS);

test(
  "the names of many unknown actors are read only up to a limit, and a deleted user is shown by its id",
  async () => {
    const own = await f.site().open();
    const asked = await withManyUsers(own.page);
    const actorOf = (n: number) => idOf(5_000 + n);
    await own.page.route("**/v1/audit/events?*", (route) => {
      const events = Array.from({ length: ACTORS }, (_, n) => ({
        seq: n,
        ts: "2026-11-01T00:00:00Z",
        actor: { kind: "operator", user_id: actorOf(n), is_root: false },
        action: "user_create",
        resource: null,
        request_id: null,
        decision: "allow",
        outcome: { kind: "success", resource: null },
        payload: null,
        prev_hash: "",
        hash: "",
      }));
      return route.fulfill({ json: { events, head: null, next_before_seq: null } });
    });
    await own.show("/audit");
    await own.page.getByRole("gridcell", { name: `user ${actorOf(0)}` }).waitFor();
    // The console reads everything again when its stream of changes begins, so it may ask twice for an actor.
    const actors = () => [...new Set(asked)];
    await expect.poll(actors).toEqual(Array.from({ length: 30 }, (_, n) => actorOf(n)));
    await own.settled();
    expect(actors()).toHaveLength(30);
    await own.page.context().close();
  },
  LIMIT_MS,
);
