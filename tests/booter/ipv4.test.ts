import { isIPv4 } from "node:net";
import { expect, test } from "vitest";
import { ipv4Number, ipv4Text } from "../../booter/ipv4.ts";
import { seeded } from "./seeded.ts";

test("of 20,000 texts, ipv4Number and node:net accept the same texts, and ipv4Text writes these texts back unchanged", () => {
  const random = seeded(5);
  const pieces = [
    "0",
    "1",
    "9",
    "00",
    "01",
    "25",
    "255",
    "256",
    "999",
    ".",
    ".",
    ".",
    "..",
    "a",
    "-",
    "+",
    " ",
    "",
    "\0",
  ];
  const pick = () => pieces[Math.floor(random() * pieces.length)]!;
  const octet = () => random() < 0.2 ? pick() : String(Math.floor(random() * 300));
  let addresses = 0;
  for (let round = 0; round < 20_000; round++) {
    // Half of the texts have their dots in the right places.
    const text = round % 2 === 0
      ? [octet(), octet(), octet(), octet()].join(".")
      : Array.from({ length: 1 + Math.floor(random() * 9) }, pick).join("");
    const value = ipv4Number(text);
    expect([text, value !== null]).toEqual([text, isIPv4(text)]);
    if (value === null) continue;
    addresses += 1;
    expect(ipv4Text(value)).toBe(text);
  }
  expect(addresses).toBeGreaterThan(1_000);
});
