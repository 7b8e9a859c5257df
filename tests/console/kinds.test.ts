// The kinds of the console are kinds of actors, so that the feed of changes names them.
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { KINDS } from "../../console/core/kinds.ts";

test.each(KINDS)("%s is a kind of actor", (kind) => {
  expect(existsSync(new URL(`../../actors/${kind}`, import.meta.url))).toBe(true);
});
