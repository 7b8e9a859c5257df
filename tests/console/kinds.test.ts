// The kinds of objects in the console must be kinds of actors, because the feed of changes names these kinds.
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { KINDS } from "../../console/core/kinds.ts";

test.each(KINDS)("%s is a kind of actor", (kind) => {
  expect(existsSync(new URL(`../../actors/${kind}`, import.meta.url))).toBe(true);
});
