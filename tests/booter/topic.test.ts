import { expect, test } from "vitest";
import { topicMatches } from "../../booter/amqp/topic.ts";

test.each([
  ["a.*.c", "a.b.c", true],
  ["a.*", "a.b.c", false],
  ["a.#", "a", true],
  ["#.c", "a.b.c", true],
  ["a.#.c", "a.c", true],
  ["#", "", true],
  ["a.b", "a.b.c", false],
  [Array(200).fill("#").join(".") + ".x", Array(200).fill("a").join("."), false],
])("topicMatches(%j, %j) is %j", (pattern, key, is) => {
  expect(topicMatches(pattern, key)).toBe(is);
});
