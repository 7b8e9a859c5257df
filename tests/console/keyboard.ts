// Uses a page of the console with the keyboard alone. The functions that focus a control press Tab, so a test fails if
// Tab does not reach the control.
import type { Locator, Page } from "playwright-core";
import { showPath } from "../support/browser.ts";

/** The maximum number of presses of Tab: more than the number of controls on any page. */
const TABS_MAX = 120;

export function useKeyboard(page: () => Page) {
  const press = (key: string) => page().keyboard.press(key);
  const type = (text: string) => page().keyboard.type(text);

  /** Presses Tab until the control has the focus. */
  async function focusOn(control: Locator): Promise<void> {
    await control.waitFor();
    for (let tabs = 0; tabs < TABS_MAX; tabs++) {
      if (await control.evaluate((element) => element === element.ownerDocument.activeElement)) return;
      await press("Tab");
    }
    throw new Error(`Tab does not reach ${control}`);
  }

  const waitForHeading = (name: string) => page().getByRole("heading", { name, level: 1, exact: true }).waitFor();
  // The label of an optional field ends with the word "optional".
  const focus = (label: string) => focusOn(page().getByLabel(new RegExp(`^${label}(optional)?$`)).last());

  return {
    press,
    type,
    waitForHeading,
    focus,
    focusAt: (selector: string) => focusOn(page().locator(selector).first()),
    focusLink: (name: string) => focusOn(page().getByRole("link", { name }).first()),
    focusButton: (name: string) => focusOn(page().getByRole("button", { name, exact: true }).last()),
    /** Opens a page and waits for its heading. */
    open: async (path: string, heading: string) => {
      await showPath(page(), path);
      await waitForHeading(heading);
    },
    /** Types a text into the palette and opens the first object that the server finds. */
    goTo: async (text: string) => {
      await press("Control+k");
      await type(text);
      await page().getByRole("option").filter({ hasText: text }).first().waitFor();
      await press("Enter");
    },
    /** Runs the action with this title on the row at the cursor or on the page. Waits until the action is enabled. */
    act: async (title: string) => {
      await press(".");
      await type(title);
      await page().locator("[role=option][aria-selected=true]:not([aria-disabled])").waitFor();
      await press("Enter");
    },
    /** Fills these fields in this order. The keys are the labels of the fields. Replaces earlier values. */
    fill: async (values: Readonly<Record<string, string>>) => {
      for (const [label, value] of Object.entries(values)) {
        await focus(label);
        await press("Control+a");
        await type(value);
      }
    },
  };
}
