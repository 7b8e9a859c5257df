// Tests `tenantctl webhook`, and output formats that `create` refuses because they would not show the secret.
import { expect, test } from "vitest";
import { opsctl } from "../opsctl.ts";
import { requestsOf, serving, tenantctl } from "./run.ts";

const WEBHOOK_ID = "019fa000-0000-7000-8000-000000000001";
const DELIVERY_ID = "0145cf76-2fd5-4eb7-908d-d29d87c044b0";
const DELIVERY = { id: DELIVERY_ID, type: "floating_ip_detach", state: "delivered", attempts: 1, last_status: 204 };
const PATH = `/v1/webhooks/${WEBHOOK_ID}/deliveries`;
const server = serving({ [`GET ${PATH}`]: { items: [DELIVERY] }, [`POST ${PATH}/${DELIVERY_ID}/redeliver`]: DELIVERY });

test("on a terminal the list of deliveries shows a prefix of each id, and `redeliver` accepts this prefix", async () => {
  const listed = await tenantctl(["webhook", "deliveries", WEBHOOK_ID], { server });
  expect(listed.out()).toMatch(/^0145cf76 +floating_ip_detach +delivered +1 +204 /m);
  const again = await tenantctl(["webhook", "redeliver", WEBHOOK_ID, "0145cf76"], { server });
  expect([again.code, again.err()]).toEqual([0, ""]);
  expect(requestsOf(again)).toContain(`POST ${PATH}/${DELIVERY_ID}/redeliver`);
  // For a whole UUID the error comes from the server, so the message ends with the server's error code.
  for (const [id, of_server] of [["ffff0000", ""], ["ffff0000-0000-4000-8000-000000000001", " (NotFound)"]] as const) {
    const unknown = await tenantctl(["webhook", "redeliver", WEBHOOK_ID, id], { server });
    expect([unknown.code, unknown.err()]).toEqual([
      3,
      `error: no delivery has the id ${id}; to list them, run: tenantctl webhook deliveries ${WEBHOOK_ID}${of_server}\n`,
    ]);
  }
});

test("`test` prints the answer of a receiver that refuses the test event, and exits with 1", async () => {
  const path = `POST /v1/webhooks/${WEBHOOK_ID}/test`;
  const dead = {
    ...DELIVERY,
    type: "webhook_test",
    state: "dead",
    last_status: 500,
    last_reason: "the answer was 500",
  };
  const tested = await tenantctl(["webhook", "test", WEBHOOK_ID], { server: serving({ [path]: dead }) });
  expect([tested.code, tested.err()]).toEqual([
    1,
    "error: the receiver did not accept the event: the answer was 500\n",
  ]);
  expect(tested.out()).toMatch(/dead/);
});

test("the CSV row of a delivery without an answer has the delivery's time, and empty cells for the answer", async () => {
  const waiting = { ...DELIVERY, last_status: null, last_reason: null, created_at: "2026-11-30T16:00:00.000Z" };
  const listed = await tenantctl(["webhook", "deliveries", WEBHOOK_ID, "-o", "csv"], {
    server: serving({ [`GET ${PATH}`]: { items: [waiting] } }),
  });
  expect(listed.out()).toBe(
    "id,type,state,tries,status,reason,created_at\n" +
      `${DELIVERY_ID},floating_ip_detach,delivered,1,,,2026-11-30T16:00:00.000Z\n`,
  );
});

test.each([["-q", ["-q"]], ["-o name", ["-o", "name"]]])(
  "`create` with %s sends no request, because the output would not contain the secret",
  async (flag, words) => {
    const error = `error: ${flag} would not print the secret, which is shown only once; use -o jsonpath=.secret\n`;
    const webhook = await tenantctl(["webhook", "create", "--name", "a", "--url", "https://a.example", ...words]);
    expect([webhook.code, webhook.err(), webhook.asked]).toEqual([2, error, []]);
    const key = await opsctl(["api-key", "create", "--description", "a", ...words]);
    expect([key.code, key.err(), key.asked]).toEqual([2, error, []]);
  },
);
