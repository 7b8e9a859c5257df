// Tests that the description of a setting says whether the setting has an effect.
import { expect, test } from "vitest";
import { NO_EFFECT, SETTINGS } from "../../src/contract/settings.ts";
import { code, sources } from "./sources.ts";

test("exactly the settings that no server code reads are described as settings without an effect", () => {
  const server = sources(["src"]).filter(({ path }) => path !== "src/contract/settings.ts").map(({ text }) =>
    code(text)
  );
  const described = Object.entries(SETTINGS).filter(([, { description }]) => description.endsWith(NO_EFFECT));
  const unread = Object.keys(SETTINGS).filter((key) => !server.some((text) => text.includes(`"${key}"`)));
  expect(described.map(([key]) => key)).toEqual(unread);
});
