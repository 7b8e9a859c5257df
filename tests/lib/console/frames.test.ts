import { expect, test } from "vitest";
import {
  CONSOLE_PROTOCOL,
  type ConsoleControl,
  consoleProtocols,
  consoleTicketOf,
  controlText,
  parseControl,
} from "../../../src/lib/console/frames.ts";

const TICKET = "AbC-_123".repeat(5);

test("the server finds the ticket in the list of protocols that a client offers", () => {
  expect(consoleTicketOf(consoleProtocols(TICKET).join(", "))).toBe(TICKET);
  expect(consoleTicketOf(`berth.ticket.${TICKET},${CONSOLE_PROTOCOL}`)).toBe(TICKET);
});

test.each([
  undefined,
  "",
  CONSOLE_PROTOCOL,
  `berth.ticket.${TICKET}`,
  `${CONSOLE_PROTOCOL}, berth.ticket.short`,
  `${CONSOLE_PROTOCOL}, berth.ticket.${TICKET}!`,
  `${CONSOLE_PROTOCOL}, berth.ticket.${"a".repeat(129)}`,
])("the header %j has no ticket", (header) => {
  expect(consoleTicketOf(header)).toBeNull();
});

const CONTROLS: readonly ConsoleControl[] = [
  { type: "ack", bytes: 1 },
  { type: "skipped", bytes: 2 ** 20 },
  { type: "ready", writer: false },
  { type: "demoted", by: "ada" },
  { type: "done" },
  { type: "end", message: "web1 is stopped" },
];
test.each(CONTROLS)("parseControl reads back the control message $type that controlText wrote", (control) => {
  expect(parseControl(controlText(control))).toEqual(control);
});

test.each([
  "",
  "null",
  "[]",
  "{",
  '{"type":"ack"}',
  '{"type":"ack","bytes":0}',
  '{"type":"ack","bytes":-1}',
  '{"type":"ack","bytes":1.5}',
  '{"type":"ack","bytes":1e300}',
  '{"type":"ready"}',
  '{"type":"end"}',
  '{"type":"of-a-later-version"}',
  controlText({ type: "end", message: "x".repeat(4_096) }),
])("%j is not a control message", (text) => {
  expect(parseControl(text)).toBeNull();
});
