// If the server refuses a drain or an upgrade by label, it also refuses the repeated request with the same
// Idempotency-Key.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());

test.each([
  ["/v1/cn-upgrades", { label: "rack=a3", platform_image: "20990101T000000Z" }, "is not staged on any booter"],
  ["/v1/cn-drains", { label: "rack=a3" }, "no approved node has the label rack=a3"],
])("%s is refused twice, and no operation starts", async (path, body, message) => {
  for (let attempt = 0; attempt < 2; attempt++) {
    expect(await t.call("POST", path, { body, headers: { "idempotency-key": path } }))
      .toMatchObject({ status: 400, body: { message: expect.stringContaining(message) } });
  }
  expect((await t.db.query("select from saga")).rows).toEqual([]);
});
