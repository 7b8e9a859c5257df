// Computes the contrast of every text colour of the web console with every background, in both themes. WCAG 2.2 level
// AA (1.4.3) requires 4.5:1. The tests of the pages use axe, which measures neither placeholders nor the rows under
// the cursor.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const RATIO_MIN = 4.5;
const STYLE = readFileSync(new URL("../../console/style/base.css", import.meta.url), "utf8");

type Colour = readonly number[];

/** Reads a colour such as #fff or #101418. */
function colour(text: string): Colour {
  const digits = text.length === 4
    ? [...text.slice(1)].map((digit) => digit + digit)
    : text.slice(1).match(/../g) ?? [];
  return digits.map((pair) => parseInt(pair, 16));
}

/** Mixes two colours as `color-mix(in srgb, above SHARE, below)` does. */
const mix = (above: Colour, below: Colour, share: number): Colour =>
  above.map((value, at) => value * share + (below[at] ?? 0) * (1 - share));

/** The relative luminance of a colour, as WCAG defines it. */
function luminance(of: Colour): number {
  const [red = 0, green = 0, blue = 0] = of.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: Colour, b: Colour): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

/** The colours of one theme, by name. */
function themeOf(at: 1 | 2): (name: string) => Colour {
  const tokens = new Map(
    [...STYLE.matchAll(/--([a-z-]+): light-dark\((#\w+), (#\w+)\)/g)].map((
      found,
    ) => [found[1], colour(found[1 + at] ?? "")]),
  );
  return (name) => {
    const found = tokens.get(name);
    if (found === undefined) throw new Error(`base.css has no colour --${name}`);
    return found;
  };
}

describe.each([["light", 1], ["dark", 2]] as const)("in the %s theme", (_, at) => {
  const of = themeOf(at);
  const backgrounds = {
    page: of("bg"),
    navigation: of("raise"),
    "current link": of("line"),
    "link under the pointer": mix(of("line"), of("raise"), 0.5),
    "row at the cursor": mix(of("accent"), of("bg"), 0.1),
    "selected row": mix(of("accent"), of("bg"), 0.2),
  };

  test.each(["text", "dim", "accent", "ok", "warn", "bad"])("--%s is readable on every background", (name) => {
    const low = Object.entries(backgrounds).filter(([, back]) => contrast(of(name), back) < RATIO_MIN);
    expect(low.map(([back]) => back)).toEqual([]);
  });

  test("the labels of coloured buttons and the message of a lost connection are readable", () => {
    for (const back of ["accent", "bad"]) expect(contrast(of("bg"), of(back)), back).toBeGreaterThan(RATIO_MIN);
  });
});
