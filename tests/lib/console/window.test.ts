// Tests the flow control of a console. A window limits the number of bytes that are sent and not yet confirmed.
import { expect, test } from "vitest";
import { createReceipts, createSendWindow } from "../../../src/lib/console/window.ts";

test("sent bytes reduce the number of bytes that may be sent, and confirmed bytes increase it again", () => {
  const window = createSendWindow(10);
  window.sent(7);
  expect(window.room()).toBe(3);
  expect(window.confirmed(5)).toBe(true);
  expect(window.room()).toBe(8);
});

test("a confirmation of more than was sent is refused and changes nothing", () => {
  const window = createSendWindow(10);
  window.sent(4);
  expect(window.confirmed(5)).toBe(false);
  expect(window.room()).toBe(6);
});

test("the receiver confirms the sum of the used bytes when the sum is at least a quarter of the window", () => {
  const confirmed: number[] = [];
  const used = createReceipts((bytes) => confirmed.push(bytes), 100);
  used(24);
  expect(confirmed).toEqual([]);
  used(1);
  used(80);
  expect(confirmed).toEqual([25, 80]);
});

test("a sender never has to wait if the receiver uses each byte at once", () => {
  const window = createSendWindow(64);
  const used = createReceipts((bytes) => expect(window.confirmed(bytes)).toBe(true), 64);
  let carried = 0;
  for (let size = 1; carried < 10_000; size = size % 17 + 1) {
    const bytes = Math.min(size, window.room());
    expect(bytes).toBeGreaterThan(0);
    window.sent(bytes);
    used(bytes);
    carried += bytes;
  }
});
