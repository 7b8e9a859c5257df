// Tests the option --nic-tags, and the report that the agent makes from it.
import { expect, test } from "vitest";
import type { Agent } from "../../nodeagent/agent.ts";
import { nicTagLoop, parseNicTags } from "../../nodeagent/nic-tags.ts";

test("each entry of --nic-tags is NAME or NAME:BRIDGE, and the list may be empty", () => {
  expect(parseNicTags("admin,external:br-ext")).toEqual([
    { name: "admin", bridge: null },
    { name: "external", bridge: "br-ext" },
  ]);
  expect(parseNicTags("")).toEqual([]);
});

test.each([
  ["external:br:7", "external:br:7 is not NAME or NAME:BRIDGE"],
  [":br0", ":br0 is not NAME or NAME:BRIDGE"],
  ["external:a bridge", "a bridge is not the name of a bridge"],
  ["external:", " is not the name of a bridge"],
  ["admin,admin:br0", "admin is listed twice"],
])("--nic-tags %s is refused", (text, problem) => {
  expect(() => parseNicTags(text)).toThrow(`--nic-tags: ${problem}`);
});

test("a bridge that does not exist is reported without an MTU", async () => {
  const loop = nicTagLoop({ nic_tags: parseNicTags("admin,external:no-such"), timers: { config_ms: 1 } } as Agent);
  expect(await loop.next()).toEqual({
    method: "POST",
    path: "/v1/agent/nic-tags",
    body: {
      nic_tags: [
        { name: "admin", physical_nic: "", vlan_id: null, mtu: null, bridge: null },
        { name: "external", physical_nic: "no-such", vlan_id: null, mtu: null, bridge: "no-such" },
      ],
    },
  });
});
