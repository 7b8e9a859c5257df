// Tests properties of the console's texts: paths, search texts, sizes, command lines and the check of a packet by the
// firewall.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { command, updates } from "../../console/core/command.ts";
import { filterOf, serverWord, serverWords } from "../../console/core/filter.ts";
import { decidingRule, type Packet, packetOf } from "../../console/core/firewall.ts";
import { fill, match, narrowed } from "../../console/core/path.ts";
import { bytes, counted, exactBytes, onlyWhile, parseBytes, relative, sentence } from "../../console/core/text.ts";
import type { FirewallRule } from "../../src/contract/network.ts";

describe("paths", () => {
  test("a parameter is read from an address unchanged", () => {
    fc.assert(fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (tenant, project) => {
      fc.pre(tenant.isWellFormed() && project.isWellFormed());
      const pattern = "/t/:tenant/p/:project/instances";
      expect(match(pattern, fill(pattern, { tenant, project }))).toEqual({ tenant, project });
    }));
  });

  test.each(["/nodes", "/nodes/", "/nodes/a/b", "/node/a", "/nodes/%zz"])("%s does not match /nodes/:id", (path) => {
    expect(match("/nodes/:id", path)).toBeNull();
  });

  test("a change of query parameters keeps the other parameters and removes parameters with an empty value", () => {
    expect(narrowed(new URLSearchParams("q=a&sort=name"), { q: "", state: "failed" }).toString()).toBe(
      "sort=name&state=failed",
    );
  });
});

describe("a search text", () => {
  const row = { name: "web1", state: "failed", mac: "02:aa:15:2b:6e:77" };
  test.each([
    ["", true],
    ["WEB", true],
    ["state:failed", true],
    ["state:running", false],
    ["-state:failed", false],
    ["state:failed -name:db", true],
    ["web db", false],
    ["02:aa:15", true],
    ["-", true],
    ["constructor:web", false],
    ["-constructor:web", true],
  ])("%s matches the row: %s", (text, shown) => {
    expect(filterOf(text)(row)).toBe(shown);
  });

  test.each([
    ["01a22c07-832c-757f", true],
    ["B492CD85", true],
    ["-b492cd85", false],
    ["b492cd8", false],
    ["01a22c07 db1", false],
  ])("%s matches the row by its id: %s", (text, shown) => {
    expect(filterOf(text)(row, "01a22c07-832c-757f-b0c4-b492cd85f725")).toBe(shown);
  });

  test.each([
    ["", "", ""],
    ["  web1 ", "web1", ""],
    ["fd00:1::2", "fd00:1::2", ""],
    ["-", "", ""],
    ["state:failed", "", "state:failed"],
    ["-web1", "", "-web1"],
    ["web1 running", "", "web1 running"],
    ["state:failed -db web", "web", "state:failed -db"],
  ])("for the text '%s', the server searches for '%s', and the page filters by '%s'", (text, word, rest) => {
    expect(serverWord(text, ["name", "state"])).toEqual({ word, rest });
  });

  test.each([
    ["state:running foo", "foo"],
    ["front -state:failed door -db", "front door"],
    ["fd00:1::2", "fd00:1::2"],
    ["state:running", ""],
  ])("of '%s', the search of all objects gets the words '%s'", (text, words) => {
    expect(serverWords(text, ["name", "state"])).toBe(words);
  });

  test("matches a row if and only if the same word with a leading - does not match it", () => {
    fc.assert(fc.property(fc.stringMatching(/^[a-z0-9:]{1,8}$/), (word) => {
      expect(filterOf(word)(row)).toBe(!filterOf(`-${word}`)(row));
    }));
  });
});

describe("texts", () => {
  test.each([[1, "1 vCPU"], [2, "2 vCPUs"], [0.5, "0.5 vCPUs"]])(
    "the count %d with the noun vCPU is shown as %s",
    (count, text) => {
      expect(counted(count, "vCPU")).toBe(text);
    },
  );

  test("the reason why an action is impossible names the states in which it is possible", () => {
    expect(onlyWhile("node", "setting_up", ["disabled", "awaiting_setup"])).toBe(
      "The node is setting up; this is possible only while it is disabled or awaiting setup",
    );
  });

  test.each([["wait for it", "Wait for it"], ["opsctl cn show; then wait", "opsctl cn show; then wait"], ["", ""]])(
    "the text %s at the beginning of a sentence becomes %s",
    (text, sentenceOf) => expect(sentence(text)).toBe(sentenceOf),
  );

  test.each([[0, "0 B"], [1_536, "1.5 KiB"], [4 * 2 ** 30, "4 GiB"]])("%i bytes are shown as %s", (count, text) => {
    expect(bytes(count)).toBe(text);
  });

  test.each([["4GiB", 4 * 2 ** 30], ["512M", 512 * 2 ** 20], ["1024", 1_024], ["4 apples", null], ["", null]])(
    "the size %s is parsed as %s",
    (text, count) => expect(parseBytes(text)).toBe(count),
  );

  test("the text of a size is parsed to a number that differs from the size by at most a twentieth of the size", () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 2 ** 50 }), (count) => {
      const parsed = parseBytes(bytes(count)) ?? 0;
      expect(Math.abs(parsed - count)).toBeLessThanOrEqual(count / 20);
    }));
  });

  test("the text of a size in a form is parsed to exactly the same size", () => {
    const sizes = fc.tuple(fc.integer({ min: 1, max: 2 ** 20 }), fc.integer({ min: 0, max: 30 }));
    fc.assert(fc.property(sizes, ([count, power]) => {
      expect(parseBytes(exactBytes(count * 2 ** power))).toBe(count * 2 ** power);
    }));
  });

  test.each([[59_000, "59 s ago"], [60_000, "1 min ago"], [3_600_000, "1 h ago"], [-120_000, "in 2 min"], [0, "now"]])(
    "%i ms after a time, the time is shown as: %s",
    (later, text) => {
      const at = Date.UTC(2026, 0, 1);
      expect(relative(new Date(at).toISOString(), at + later)).toBe(text);
    },
  );

  test("a command line quotes arguments that a shell would change", () => {
    expect(command(["opsctl", "cn", "show", "a b"], { "--note": "it's $HOME", "--yes": true, "--empty": "" })).toBe(
      "opsctl cn show 'a b' --note 'it'\\''s $HOME' --yes",
    );
  });
});

describe("in a command line,", () => {
  test("an argument that begins with - comes after --, behind the flags", () => {
    expect(command(["tenantctl", "instance", "delete", "-web1"], { "--force": true })).toBe(
      "tenantctl instance delete --force -- -web1",
    );
    expect(command(["tenantctl", "instance", "delete", "--help"])).toBe("tenantctl instance delete -- --help");
  });

  test("a value that begins with - is joined to its flag", () => {
    const flags = { "--name": "-web1", "--vpc": "-the net", "--user-data-file": "-" };
    expect(command(["tenantctl", "instance", "create"], flags)).toBe(
      "tenantctl instance create --name=-web1 --vpc='-the net' --user-data-file -",
    );
  });

  test("a flag with a list is repeated, and an update clears a field with an empty text", () => {
    const flags = { "--label": ["a=1", "b=2"], ...updates({ "--description": "", "--name": undefined }) };
    expect(command(["tenantctl", "vpc", "update", "main"], flags)).toBe(
      "tenantctl vpc update main --label a=1 --label b=2 --description ''",
    );
  });
});

describe("the firewall's decision about a packet", () => {
  const rule = (fields: Partial<FirewallRule>): FirewallRule => ({
    id: fields.name ?? "",
    tenant_id: "",
    project_id: "",
    vpc_id: "",
    vpc: "",
    project: "",
    name: "",
    description: "",
    labels: {},
    priority: 0,
    direction: "inbound",
    action: "allow",
    protocol: "any",
    source_cidr: null,
    destination_cidr: null,
    source_ports: null,
    destination_ports: null,
    icmp_type_code: null,
    counts: null,
    created_at: "",
    realized: null,
    ...fields,
  });
  const packet: Packet = {
    direction: "inbound",
    protocol: "tcp",
    source: "198.51.100.7",
    destination: "10.0.1.5",
    destination_port: 22,
  };
  const rules = [
    rule({ name: "rest", action: "deny", priority: 1 }),
    rule({
      name: "ssh",
      priority: 200,
      protocol: "tcp",
      source_cidr: "198.51.100.0/24",
      destination_ports: { low: 22, high: 22 },
    }),
  ];

  test("comes from the matching rule with the highest priority", () => {
    expect(decidingRule(rules, packet)?.name).toBe("ssh");
    expect(decidingRule(rules, { ...packet, destination_port: 23 })?.name).toBe("rest");
    expect(decidingRule(rules, { ...packet, source: "198.51.101.7" })?.name).toBe("rest");
  });

  test("prefers deny among matching rules of equal priority, and names no rule if no rule matches", () => {
    const equal = [rule({ name: "allow", priority: 1 }), rule({ name: "deny", action: "deny", priority: 1 })];
    expect(decidingRule(equal, packet)?.name).toBe("deny");
    expect(decidingRule(rules, { ...packet, direction: "outbound" })).toBeNull();
  });
});

describe("the form that asks whether a packet would pass", () => {
  const text = {
    direction: "inbound",
    protocol: "tcp",
    source: "198.51.100.7",
    destination: "10.0.1.5",
    port: "22",
  } as const;
  const v6 = { source: "2001:db8::7", destination: "fd00::5" };

  test("accepts packets of every protocol", () => {
    const { port: _, ...packet } = text;
    expect(packetOf(text)).toEqual({ ...packet, destination_port: 22 });
    expect(packetOf({ ...text, ...v6, protocol: "udp", port: "65535" })).toMatchObject({ destination_port: 65_535 });
    expect(packetOf({ ...text, protocol: "icmp4", port: "" })).toMatchObject({ destination_port: null });
    expect(packetOf({ ...text, ...v6, protocol: "icmp6", port: "" })).toMatchObject({ protocol: "icmp6" });
  });

  test.each(
    [
      [{ source: "198.51.100" }, "198.51.100 is not an IP address."],
      [{ source: "198.51.100.0/24" }, "198.51.100.0/24 is not an IP address."],
      [{ destination: "web1" }, "web1 is not an IP address."],
      [{ destination: v6.destination }, "A packet has two IPv4 addresses or two IPv6 addresses."],
      [{ port: "" }, "A tcp packet needs a port, 1 to 65535."],
      [{ port: "0" }, "A tcp packet needs a port, 1 to 65535."],
      [{ port: "65536" }, "A tcp packet needs a port, 1 to 65535."],
      [{ port: "22-23", protocol: "udp" }, "A udp packet needs a port, 1 to 65535."],
      [{ protocol: "icmp4" }, "icmp4 has no ports. Remove the port."],
      [{ protocol: "icmp6", port: "" }, "icmp6 has no IPv4 packets."],
      [{ ...v6, protocol: "icmp4", port: "" }, "icmp4 has no IPv6 packets."],
    ] as const,
  )("explains the mistake in %j", (wrong, mistake) => {
    expect(packetOf({ ...text, ...wrong })).toBe(mistake);
  });
});
