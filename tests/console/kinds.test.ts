// Each kind of object in the console must be a kind of actor, because the feed of changes names kinds of actors.
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { KINDS } from "../../console/core/kinds.ts";

test.each(KINDS)("%s is a kind of actor", (kind) => {
  expect(existsSync(new URL(`../../actors/${kind}`, import.meta.url))).toBe(true);
});
