// Shows the settings of the cluster.
import type { SettingView } from "../../src/contract/setting.ts";
import type { Action } from "../core/action.ts";
import { getArray, send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { rootOnly } from "../core/session.ts";
import { run } from "../core/action.ts";
import type { Column } from "../parts/list.tsx";
import { ListPage } from "../parts/list-page.tsx";

const text = (value: unknown) => typeof value === "string" ? value : JSON.stringify(value);
const isChanged = ({ value, default: standard }: SettingView) => JSON.stringify(value) !== JSON.stringify(standard);

/**
 * Returns the environment variable that sets the value, if there is one, and the default if the value differs from it.
 */
function origin(setting: SettingView): string[] {
  return [
    ...(setting.env_override === null ? [] : [`set by ${setting.env_override}`]),
    ...(isChanged(setting) ? [`default ${text(setting.default)}`] : []),
  ];
}

const COLUMNS: readonly Column<SettingView>[] = [
  {
    name: "key",
    title: "Setting",
    width: "290px",
    sorts: true,
    text: ({ key }) => key,
    cell: (setting) => <button type="button" class="quiet" onClick={() => run(change(setting))}>{setting.key}</button>,
  },
  {
    name: "value",
    title: "Value",
    width: "220px",
    text: (setting) => [text(setting.value), ...origin(setting)].join(" "),
    cell: (setting) => (
      <span>
        {isChanged(setting) ? <strong>{text(setting.value)}</strong> : text(setting.value)}{" "}
        <span class="dim">{origin(setting).join(", ")}</span>
      </span>
    ),
  },
  {
    name: "description",
    title: "Meaning",
    text: ({ description }) => description,
    cell: ({ description }) => description,
  },
];

function change(setting: SettingView): Action {
  return {
    title: `Change ${setting.key}`,
    button: "Change",
    notice: setting.description,
    fields: [{
      name: "value",
      label: "Value",
      initial: text(setting.value),
      hint: `JSON, or a plain text. Default: ${text(setting.default)}`,
    }],
    refused: rootOnly() ??
      (setting.env_override === null ? null : `${setting.env_override} overrides the stored value`),
    cli: ({ value = "" }) => opsctl("config set", [setting.key, value]),
    send: async ({ value = "" }, key) => {
      const path = `/v1/config/${encodeURIComponent(setting.key)}`;
      if (value === text(setting.default)) await send("DELETE", path, { key });
      else await send("PUT", path, { body: { value: parsed(value) }, key });
    },
  };
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value; // Not JSON, so the value is sent as a plain text.
  }
}

export function Settings() {
  return (
    <ListPage<SettingView>
      title="Settings"
      noun="setting"
      query={{ key: "settings", kinds: ["setting"], read: (signal) => getArray<SettingView>("/v1/config", signal) }}
      columns={COLUMNS}
      idOf={({ key }) => key}
      isWhole
      empty={<p>The server has no settings.</p>}
      cli={opsctl("config list")}
    />
  );
}
