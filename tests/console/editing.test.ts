// An action that edits an object sends only the values that the user changed.
import { expect, test } from "vitest";
import { tenantctl, updates } from "../../console/core/command.ts";
import type { Values } from "../../console/core/action.ts";
import { editing, initialValues } from "../../console/core/editing.ts";

const fields = [
  { name: "name", label: "Name", initial: "web" },
  { name: "description", label: "Description" },
];

test.each<[string, Values, Values]>([
  ["the changed field only", { name: "www", description: "" }, { name: "www" }],
  ["a field that the user filled", { name: "web", description: "new" }, { description: "new" }],
  ["a field that the user emptied", { name: "", description: "" }, { name: "" }],
])("an edit sends %s", async (_, values, changed) => {
  const sent: Values[] = [];
  const { cli, send } = editing({
    title: "Rename",
    fields,
    cli: (given) => JSON.stringify(given),
    send: (given) => Promise.resolve(void sent.push(given)),
  });
  expect(JSON.parse(cli(values))).toEqual(changed);
  await send(values, "key");
  expect(sent).toEqual([changed]);
});

test("an edit without a change has no command", () => {
  const { cli } = editing({ title: "Rename", fields, cli: () => "update web", send: () => Promise.resolve() });
  expect([cli(initialValues(fields)), cli({ name: "web", description: "new" })]).toEqual(["", "update web"]);
});

test("the command of an edit clears an emptied field with an empty value", () => {
  expect(tenantctl("instance update", ["web"], updates({ "--name": undefined, "--description": "" })))
    .toBe("tenantctl instance update web --description ''");
});
