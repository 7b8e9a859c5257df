// Tests the content of boot scripts, and 100,000 hostile values that no script may contain.
import { describe, expect, test } from "vitest";
import { bootFacts, policyFacts } from "../../booter/api-client/wire.ts";
import { networkingJson } from "../../booter/script/networking.ts";
import { renderScript, type ScriptParts } from "../../booter/script/render.ts";
import { ScriptFault } from "../../booter/script/word.ts";
import { factsOf } from "./facts.ts";
import { seeded } from "./seeded.ts";

const HASH = `$6$saltsalt$${"a".repeat(85)}.`;
const PARTS: ScriptParts = {
  facts: bootFacts(factsOf()),
  kind: "enrol",
  stamp: "20260901T000000Z",
  origin: "http://10.0.0.1:80",
  ticket: "525400aa0001.0a00000a.67abcdef.12345678.0123456789abcdef0123456789abcdef",
  image: { kind: "smartos", has_hash: true },
  extra: [],
  console: "text",
  amqp: null,
  root_password_hash: null,
};
const aggregate = { name: "aggr0", mode: "active", macs: ["52:54:00:aa:00:01", "52:54:00:aa:00:02"] };
const networking = { ...factsOf().networking, hostname: "node-7", nic_tags: ["external"], aggregate };
const kernelOf = (changes: Partial<ScriptParts>) =>
  renderScript({ ...PARTS, ...changes }).split("\n").find((line) => line.startsWith("kernel "))
    ?.replace(/ \|\| goto failed$/, "");

describe("the kernel line", () => {
  test("names the machine's ports, its aggregation and its hostname", () => {
    const facts = bootFacts(factsOf({ networking }));
    expect(kernelOf({ facts })).toBe(
      "kernel http://10.0.0.1:80/os/20260901T000000Z/platform/i86pc/kernel/amd64/unix -B " +
        'hostname=node-7,aggr0_aggr="52:54:00:aa:00:01,52:54:00:aa:00:02",aggr0_lacp_mode=active,admin_nic=aggr0,' +
        "external_nic=aggr0,console=text",
    );
  });

  test("contains the policy's arguments only for enrolment; flags are sorted and come first", () => {
    const extra = ["-v", "-Ba=1,b=2", "smt_enabled=false", "-kd"];
    expect(kernelOf({ extra })).toContain("/unix -kd -v -B a=1,b=2,smt_enabled=false,admin_nic=");
    expect(kernelOf({ extra, kind: "local" })).not.toMatch(/smt_enabled|-v/);
  });

  test("contains the booter's own argument instead of a policy's argument with the same name", () => {
    expect(kernelOf({ extra: ["admin_nic=00:00:00:00:00:01", "console=ttya"] })).toContain(
      "admin_nic=52:54:00:aa:00:01,console=text",
    );
  });

  test("contains the machine's arguments after the policy's arguments, but in a rescue boot only the machine's console", () => {
    const boot_arguments = { kernel_args: ["-k", "-Ba=2,smt_enabled=true"], console: { port: "ttyb", speed: 57_600 } };
    const facts = bootFacts(factsOf({ boot_arguments }));
    const common = 'admin_nic=52:54:00:aa:00:01,ttyb-mode="57600,8,n,1,-",console=ttyb';
    expect(kernelOf({ facts, extra: ["-v", "a=1"] })).toContain(`/unix -k -v -B a=2,smt_enabled=true,${common}`);
    expect(kernelOf({ facts, kind: "local", extra: ["a=1"] })).toContain(`/unix -k -B a=2,smt_enabled=true,${common}`);
    expect(kernelOf({ facts, kind: "rescue" })).toContain(`/unix -B ${common},noimport=true`);
    const linux = { kind: "linux", architecture: "x86_64", command_line: ["quiet"] } as const;
    expect(kernelOf({ facts, image: linux, kind: "local" })).toMatch(
      / quiet console=ttyS1,57600 -k -Ba=2,smt_enabled=true$/,
    );
    expect(kernelOf({ facts, image: linux, kind: "rescue" })).toMatch(/ quiet console=ttyS1,57600$/);
  });

  test("is refused if an argument of the machine sets a reserved property, even for a Linux node image", () => {
    const facts = { ...PARTS.facts, boot_arguments: { kernel_args: ["-Bx=1,Root-Shadow=y"], console: null } };
    expect(() => bootFacts(factsOf(facts))).toThrow("boot_arguments.kernel_args");
    expect(() => kernelOf({ facts })).toThrow(ScriptFault);
    expect(() => kernelOf({ facts, image: { kind: "linux", architecture: "x86_64", command_line: [] } })).toThrow(
      ScriptFault,
    );
  });

  test("is refused if an argument of the policy sets a password, the AMQP broker or destroy_zpools", () => {
    for (const each of ["root_shadow=x", "rabbitmq=a:b:c:1", "destroy_zpools=true", "-Bx=1,Root-Shadow=y"]) {
      expect(() => kernelOf({ extra: [each] })).toThrow(ScriptFault);
    }
  });

  test("contains the root password hash if a hash is given, and a serial console with its mode", () => {
    expect(kernelOf({ root_password_hash: HASH, console: "ttyb" })).toContain(
      `console=ttyb,root_shadow=${HASH}`,
    );
    expect(kernelOf({ console: "ttyb" })).toContain('ttyb-mode="115200,8,n,1,-"');
  });

  test("ends with noimport=true only for rescue", () => {
    expect(kernelOf({ kind: "rescue" })).toMatch(/,noimport=true$/);
    expect(kernelOf({ kind: "local" })).not.toContain("noimport");
  });
});

test("a boot script that is too long for iPXE is refused", () => {
  const extra = Array.from({ length: 20 }, (_, at) => `argument_${at}=${"x".repeat(200)}`);
  expect(() => renderScript({ ...PARTS, extra })).toThrow(/3500 that are safe/);
});

test("networking.json contains the address, the network and the aggregation", () => {
  expect(JSON.parse(networkingJson(bootFacts(factsOf({ networking }))))).toEqual({
    hostname: "node-7",
    admin_tag: "admin",
    nictags: [{ name: "admin", mac: "aggr0" }, { name: "external", mac: "aggr0" }],
    resolvers: ["10.0.0.2", "10.0.0.3"],
    routes: {},
    vnics: [{
      nic_tag: "admin",
      mac: "52:54:00:aa:00:01",
      ip: "10.0.0.10",
      netmask: "255.255.255.0",
      gateway: "10.0.0.254",
      vlan_id: 0,
    }],
    aggregations: [{ ...aggregate, lacp_mode: "active", mode: undefined, nic_tags_provided: ["admin", "external"] }],
  });
});

const BAD = [
  " ",
  "\n",
  "\r",
  "\t",
  "\0",
  "${",
  "}",
  "`",
  "'",
  '"',
  "&&",
  "||",
  ";",
  "#",
  "\\",
  "<",
  ">",
  "(",
  "*",
  "?",
  "\u00e9",
  "\u2028",
  "\x7f",
];

/** Returns a valid value with an added character or sequence that a script could misinterpret. */
function hostile(random: () => number): string {
  const good = Array.from({ length: 1 + Math.floor(random() * 12) }, () => "abcXYZ019.-_:"[Math.floor(random() * 13)])
    .join("");
  const at = Math.floor(random() * (good.length + 1));
  return good.slice(0, at) + BAD[Math.floor(random() * BAD.length)] + good.slice(at);
}

test("S-22: 100,000 hostile values are refused when the booter gets them and when it writes a script", () => {
  const random = seeded(5);
  const ways: readonly ((text: string) => [() => unknown, () => unknown])[] = [
    (text) => [
      () => bootFacts(factsOf({ hostname: text })),
      () => renderScript({ ...PARTS, facts: { ...PARTS.facts, hostname: text } }),
    ],
    (text) => [
      () => bootFacts(factsOf({ networking: { ...networking, nic_tags: [text] } })),
      () =>
        renderScript({
          ...PARTS,
          facts: { ...PARTS.facts, networking: { ...PARTS.facts.networking!, nic_tags: [text] } },
        }),
    ],
    (text) => [
      () => bootFacts(factsOf({ networking: { ...networking, aggregate: { ...aggregate, name: text } } })),
      () => {
        const named = { name: text, mode: "active" as const, macs: [PARTS.facts.mac] };
        return renderScript({
          ...PARTS,
          facts: { ...PARTS.facts, networking: { ...PARTS.facts.networking!, aggregate: named } },
        });
      },
    ],
    (
      text,
    ) => [
      () => bootFacts(factsOf({ mac: text })),
      () => renderScript({ ...PARTS, facts: { ...PARTS.facts, mac: text } }),
    ],
    (text) => [() => bootFacts(factsOf({ assigned_pi: text })), () => renderScript({ ...PARTS, stamp: text })],
    (text) => [
      () => policyFacts({ enrollment_pi: null, enrollment_kernel_args: [`a=${text}`] }),
      () => renderScript({ ...PARTS, extra: [`a=${text}`] }),
    ],
    (text) => [
      () => bootFacts(factsOf({ root_password_hash: `$6$${text}$${"a".repeat(85)}.` })),
      () => renderScript({ ...PARTS, root_password_hash: `$6$${text}$${"a".repeat(85)}.` }),
    ],
    (text) => [
      () => bootFacts(factsOf({ boot_arguments: { kernel_args: [text], console: null } })),
      () =>
        renderScript({ ...PARTS, facts: { ...PARTS.facts, boot_arguments: { kernel_args: [text], console: null } } }),
    ],
    (text) => [() => policyFacts({ enrollment_pi: text }), () => renderScript({ ...PARTS, amqp: text })],
    (
      text,
    ) => [
      () => bootFacts(factsOf({ address: text, networking: { ...factsOf().networking, address: text } })),
      () => renderScript({ ...PARTS, ticket: text }),
    ],
    (
      text,
    ) => [() => bootFacts(factsOf({ server_uuid: text })), () => renderScript({ ...PARTS, origin: `http://${text}` })],
  ];
  const passed: string[] = [];
  for (let round = 0; round < 100_000; round++) {
    const text = hostile(random);
    for (const attempt of ways[round % ways.length]!(text)) {
      try {
        attempt();
        passed.push(`${round % ways.length}: ${JSON.stringify(text)}`);
      } catch {
        // Refused, as it must be.
      }
    }
  }
  expect(passed).toEqual([]);
});

test("an error message does not contain the value, which may be a secret", () => {
  const secret = `${HASH}\n`;
  expect(() => renderScript({ ...PARTS, root_password_hash: secret })).toThrow(
    "a password hash of the script has invalid characters",
  );
});
