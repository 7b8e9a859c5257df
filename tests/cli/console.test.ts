// Tests parts of the console client: the escape character ~, and the conversion of a guest's output to text that is
// safe to print.
import { describe, expect, test } from "vitest";
import { createConsoleText } from "../../cli/internal/console-text.ts";
import { createEscape } from "../../cli/internal/console-escape.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe("the escape character ~", () => {
  const typed = (...pieces: string[]) => {
    const escape = createEscape();
    return pieces.map((piece) => {
      const { bytes, action } = escape(bytesOf(piece));
      return [new TextDecoder().decode(bytes), action];
    });
  };

  test("ends the console if it begins a line and . follows", () => {
    expect(typed("~.")).toEqual([["", "leave"]]);
    expect(typed("ls\r", "~", ".")).toEqual([["ls\r", null], ["", null], ["", "leave"]]);
    expect(typed("ls\n~.rest")).toEqual([["ls\n", "leave"]]);
  });

  test("has no effect inside a line, and is sent once if it is typed twice", () => {
    expect(typed("a~.")).toEqual([["a~.", null]]);
    expect(typed("~~.")).toEqual([["~.", null]]);
  });

  test("shows help if ? follows, and is sent to the guest if any other key follows", () => {
    expect(typed("~?", "ls")).toEqual([["", "help"], ["ls", null]]);
    expect(typed("~", "x~.")).toEqual([["", null], ["~x~.", null]]);
    expect(typed("~\r~.")).toEqual([["~\r", "leave"]]);
  });
});

describe("the text of a guest", () => {
  test.each([
    ["plain\r\n\ttext é", "plain\n\ttext é"],
    ["\x1b[1;31mred\x1b[0m", "red"],
    ["\x1b]0;title\x07after", "after"],
    ["\x1b]0;title\x1b\\after", "after"],
    ["\x1bP1$r\x1b\\after", "after"],
    ["\x1b(Bcharset", "charset"],
    ["\x9b31mred", "red"],
    ["bell\x07\x00\x7f", "bell"],
  ])("%j is printed as %j, even if the text arrives in pieces", (given, printed) => {
    expect(createConsoleText()(given)).toBe(printed);
    const safe = createConsoleText();
    expect([...given].map(safe).join("")).toBe(printed);
  });
});
