// Tests in Chromium the forms of the boot policy and of the roster of declared machines.
import { expect, test } from "vitest";
import { okOf } from "../support/control-plane.ts";
import { useConsoleSite } from "./site.ts";

/** The time limit of one test on a busy machine, in milliseconds. */
const LIMIT_MS = 120_000;
/** How long a test waits for an effect, in milliseconds. */
const WAIT_MS = 20_000;

const f = useConsoleSite();
const show = async (path: string) => {
  await f.ui().show(path);
  await f.ui().settled();
  return f.ui().page.getByRole("main");
};

test("a new roster is confirmed before it is sent, and the text box shows the whole roster", async () => {
  const entry = { hostname: "r9-u1", macs: ["02:aa:15:2b:6e:77"], nic_tags: [] };
  const text = JSON.stringify([entry], null, 2);
  const main = await show("/boot-roster");
  await main.getByLabel("Roster", { exact: true }).fill(text);
  const { scroll, shown } = await main.getByLabel("Roster", { exact: true }).evaluate((element) => ({
    scroll: element.scrollHeight,
    shown: element.clientHeight,
  }));
  expect(scroll).toBeLessThanOrEqual(shown);
  await main.getByRole("button", { name: "Replace the roster" }).click();
  await main.getByRole("alert").getByText("Adds 1 machine: r9-u1.").waitFor();
  expect(okOf(await f.site().call("GET", "/v2/cn-boot-roster"))).toEqual([]);
  await main.getByRole("button", { name: "Confirm: replace the roster" }).click();
  await f.ui().page.getByText("The roster is replaced", { exact: true }).waitFor();
  expect(okOf(await f.site().call("GET", "/v2/cn-boot-roster"))).toEqual([entry]);
}, LIMIT_MS);

test("every confirmed roster is sent, even if another user has replaced the same roster before", async () => {
  const rosterOf = (hostname: string) => [{ hostname, macs: ["02:aa:15:2b:6e:78"], nic_tags: [] }];
  const inForce = async () => okOf(await f.site().call("GET", "/v2/cn-boot-roster"));
  const main = await show("/boot-roster");
  const replace = async (hostname: string) => {
    await main.getByLabel("Roster", { exact: true }).fill(JSON.stringify(rosterOf(hostname)));
    await main.getByRole("button", { name: "Replace the roster" }).click();
    await main.getByRole("alert").getByText(`Adds 1 machine: ${hostname}.`).waitFor();
    await main.getByRole("button", { name: "Confirm: replace the roster" }).click();
    await expect.poll(inForce, { timeout: WAIT_MS }).toEqual(rosterOf(hostname));
  };
  await replace("r9-u2");
  await replace("r9-u3");
  const theirs = [...rosterOf("r9-u4"), { hostname: "r9-u5", macs: ["02:aa:15:2b:6e:79"], nic_tags: [] }];
  okOf(await f.site().call("PUT", "/v2/cn-boot-roster", { body: theirs }));
  await main.locator(".count").getByText("2").waitFor();
  await replace("r9-u3");
}, LIMIT_MS);

test("a new boot policy is confirmed before it is sent", async () => {
  const main = await show("/boot-policy");
  await main.getByLabel("Kernel arguments").first().fill("quiet");
  await main.getByRole("button", { name: "Set the policy" }).click();
  await main.getByRole("alert").getByText("Machines boot by this policy").waitFor();
  expect(okOf(await f.site().call("GET", "/v2/cn-boot-policy"))).toMatchObject({ enrollment_kernel_args: [] });
  await main.getByRole("button", { name: "Confirm: set the policy" }).click();
  await f.ui().page.getByText("The boot policy is set").waitFor();
  expect(okOf(await f.site().call("GET", "/v2/cn-boot-policy"))).toMatchObject({ enrollment_kernel_args: ["quiet"] });
}, LIMIT_MS);

test(
  "after a save of the boot policy, the page warns only of a change by another user, and can save again",
  async () => {
    const policy = "/v2/cn-boot-policy";
    const main = await show("/boot-policy");
    const warning = main.getByText("Someone changed the policy while you edited it.");
    const save = async (argument: string) => {
      await main.getByLabel("Kernel arguments").first().fill(argument);
      await main.getByRole("button", { name: "Set the policy" }).click();
      await main.getByRole("button", { name: "Confirm: set the policy" }).click();
      await expect.poll(async () => okOf(await f.site().call("GET", policy)), { timeout: WAIT_MS })
        .toMatchObject({ enrollment_kernel_args: [argument] });
    };
    for (const argument of ["first", "second"]) {
      await save(argument);
      await f.ui().settled();
      expect(await warning.count()).toBe(0);
    }
    const body = { ...okOf(await f.site().call("GET", policy)), enrollment_kernel_args: ["theirs"] };
    okOf(await f.site().call("PUT", policy, { body }));
    await warning.waitFor();
  },
  LIMIT_MS,
);
