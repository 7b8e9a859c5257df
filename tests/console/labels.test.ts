// The action that sets labels shows the command with the same effect.
import { expect, test } from "vitest";
import { labelAction } from "../../console/core/labels.ts";

test.each([
  ["env=test\ntier=web", "--label env=test --label tier=web --remove-label constructor"],
  ["constructor=b\nenv=test", "--label constructor=b --label env=test"],
  ["env=prod\ntier=web", "--label tier=web --remove-label constructor"],
  ["", "--remove-label env --remove-label constructor"],
])("the command for the labels %j is: %s", (labels, options) => {
  const old = { env: "prod", constructor: "a" };
  const { cli } = labelAction({ path: "/v1/vpcs/1", argv: ["tenantctl", "vpc", "update", "web"], labels: old });
  expect(cli({ labels })).toBe(`tenantctl vpc update web ${options}`);
});
