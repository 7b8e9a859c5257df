// Tests in Chromium that the page of settings shows every text whole, and that its keys move through rows of different
// heights.
import { expect, test } from "vitest";
import { okOf } from "../support/control-plane.ts";
import { useConsoleSite } from "./site.ts";

/** The time limit of one test on a busy machine, in milliseconds. */
const LIMIT_MS = 120_000;

const f = useConsoleSite();

test.each([1_280, 400])("at a width of %i pixels, the meaning of every setting is whole", async (width) => {
  const settings = okOf(await f.site().call("GET", "/v1/config"));
  const own = await f.site().open({ width });
  await own.show("/settings");
  await own.page.getByRole("button", { name: settings[0].key, exact: true }).waitFor();
  const shown = await own.page.getByRole("gridcell").evaluateAll((cells) =>
    cells.map((cell) => ({
      text: cell.textContent,
      isWhole: cell.scrollWidth <= cell.clientWidth && cell.scrollHeight <= cell.clientHeight,
      isVisible: cell.clientHeight > 0,
    }))
  );
  expect(shown.filter(({ isWhole, isVisible }) => !isWhole || !isVisible)).toEqual([]);
  const texts = new Set(shown.map(({ text }) => text));
  expect(settings.filter(({ description }: { description: string }) => !texts.has(description))).toEqual([]);
  expect(await own.axe()).toEqual([]);
  await own.page.context().close();
}, LIMIT_MS);

test("End, PageUp and Home move the cursor, and the setting at the cursor is always in sight", async () => {
  const { page, show } = f.ui();
  await show("/settings");
  const rows = page.locator("tbody tr:not(.space)");
  await rows.first().waitFor();
  const count = await rows.count();
  const isInSight = () =>
    page.locator("tr.at").evaluate((row) => {
      const { top, bottom } = row.getBoundingClientRect();
      const list = row.closest(".list")!;
      const box = list.getBoundingClientRect();
      return top >= list.querySelector("thead")!.getBoundingClientRect().bottom - 1 && bottom <= box.bottom;
    });
  for (const [key, index] of [["End", count - 1], ["PageUp", null], ["Home", 0], ["j", 1]] as const) {
    await page.keyboard.press(key);
    if (index !== null) expect(await page.locator("tr.at").getAttribute("id"), key).toBe(`row-${index}`);
    await expect.poll(isInSight, { message: key }).toBe(true);
  }
}, LIMIT_MS);
