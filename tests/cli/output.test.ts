// Tests the formats, filters and tables of lists.
import { describe, expect, test } from "vitest";
import { textWidth } from "../../cli/internal/table.ts";
import { opsctl } from "./opsctl.ts";

const AT = "2026-11-21T10:00:00Z";
const WALL_MS = Date.parse("2026-11-21T13:05:00Z");
const SILOS = [
  {
    id: "019fa000-0000-7000-8000-000000000001",
    name: "acme",
    description: "",
    default_tenant_id: "t1",
    created_at: AT,
  },
  {
    id: "019fa000-0000-7000-8000-000000000002",
    name: "beta",
    description: 'says "hi", x',
    default_tenant_id: "t2",
    created_at: AT,
  },
  {
    id: "019fa000-0000-7000-8000-000000000010",
    name: "zeta",
    description: "",
    default_tenant_id: "t10",
    created_at: AT,
  },
];
const server = () => ({ body: SILOS });

async function silos(words: readonly string[], isTTY = false): Promise<string> {
  const ran = await opsctl(["silo", "list", ...words], { server, isTTY, wall_ms: WALL_MS });
  expect(ran.err()).toBe("");
  expect(ran.code).toBe(0);
  return ran.out();
}

describe("formats of a list", () => {
  test("-o json prints an object with the items, and --json prints the server's answer", async () => {
    expect(JSON.parse(await silos(["-o", "json"]))).toEqual({ items: SILOS });
    expect(JSON.parse(await silos(["--json"]))).toEqual(SILOS);
  });

  test("-o name prints names, and -q prints ids", async () => {
    expect(await silos(["-o", "name"])).toBe("acme\nbeta\nzeta\n");
    expect(await silos(["-q", "--filter", "name=beta"])).toBe(`${SILOS[1]!.id}\n`);
  });

  test.each([
    ["jsonpath=.items[*].name", "acme\nbeta\nzeta\n"],
    ["jsonpath={.items[0]['id']}", `${SILOS[0]!.id}\n`],
    ["jsonpath=$.items[-1].name", "zeta\n"],
    ["jsonpath=.items[7].name", ""],
  ])("-o %s prints the values at this path", async (format, printed) => {
    expect(await silos(["-o", format])).toBe(printed);
  });

  test("-o csv quotes values that contain commas or quotes, and prints times instead of ages", async () => {
    expect(await silos(["-o", "csv", "--columns", "name,description,age"])).toBe(
      `name,description,age\nacme,,${AT}\nbeta,"says ""hi"", x",${AT}\nzeta,,${AT}\n`,
    );
    expect((await silos(["-o", "csv"])).split("\n")[0]).toBe("name,id,default_tenant_id,created_at,description");
    expect(await silos(["-o", "csv", "--no-headers", "--columns", "name"])).toBe("acme\nbeta\nzeta\n");
  });

  test("a list without rows prints no note in a format for programs", async () => {
    expect(await silos(["-o", "name", "--filter", "name=none"])).toBe("");
    expect(await silos(["-o", "csv", "--no-headers", "--filter", "name=none"])).toBe("");
    expect(JSON.parse(await silos(["-o", "json", "--filter", "name=none"]))).toEqual({ items: [] });
  });

  test("an unknown format is a usage error before any request", async () => {
    const ran = await opsctl(["silo", "list", "-o", "xml"], { server });
    expect(ran.code).toBe(2);
    expect(ran.asked).toEqual([]);
    expect(ran.err()).toContain("-o xml is not a format");
  });
});

describe("rows and columns of a list", () => {
  test.each([
    ["name!=acme", "beta\nzeta\n"],
    ["name~ET", "beta\nzeta\n"],
    ["name~et,default_tenant_id=t10", "zeta\n"],
    ["default_tenant_id>t2", "zeta\n"],
  ])("--filter %s keeps only the matching rows", async (filter, printed) => {
    expect(await silos(["-o", "name", "--filter", filter])).toBe(printed);
  });

  test("--sort-by orders numbers in a text by their value, and :desc reverses the order", async () => {
    expect(await silos(["-o", "name", "--sort-by", "default_tenant_id:desc"])).toBe("zeta\nbeta\nacme\n");
  });

  test("--columns chooses columns, including columns that only the wide table shows", async () => {
    expect(await silos(["--columns", "age,name"])).toBe("AGE   NAME\n3h5m  acme\n3h5m  beta\n3h5m  zeta\n");
    expect(await silos(["--columns", "name", "--no-headers"])).toBe("acme\nbeta\nzeta\n");
  });

  test.each([
    ["--filter", "colour=red", "the list has no column colour"],
    ["--columns", "name,sysinfo.Product", "-o json and -o jsonpath=.items[*].FIELD print other fields of the records"],
    ["--columns", "", 'the list has no column "";'],
    ["--filter", "name", "is not a condition"],
    ["--sort-by", "name:up", "--sort-by must be KEY, KEY:asc or KEY:desc"],
  ])("%s %s is a usage error", async (flag, value, message) => {
    const ran = await opsctl(["silo", "list", flag, value], { server });
    expect(ran.code).toBe(2);
    expect(ran.err()).toContain(message);
  });
});

describe("tables", () => {
  test("a terminal shows a prefix of each id that is unique among the rows; a pipe gets whole ids", async () => {
    const shown = await silos(["--columns", "name,id"], true);
    const ids = shown.split("\n").slice(1, -1).map((line) => line.split(/\s+/)[1]!);
    expect(new Set(ids).size).toBe(SILOS.length);
    for (const [at, id] of ids.entries()) expect(SILOS[at]!.id.startsWith(id)).toBe(true);
    expect(await silos(["--columns", "name,id"])).toContain(SILOS[0]!.id);
  });

  test("a long cell is cut to the width of a terminal, and is written whole to a pipe", async () => {
    const long = { ...SILOS[0]!, description: "x".repeat(300) };
    const options = { server: () => ({ body: [long] }), wall_ms: WALL_MS };
    const shown = (await opsctl(["silo", "list"], { ...options, isTTY: true })).out().trimEnd().split("\n");
    for (const line of shown) expect(textWidth(line)).toBeLessThanOrEqual(100);
    expect(shown[1]).toMatch(/x…$/);
    expect((await opsctl(["silo", "list"], options)).out()).toContain(long.description);
    const named = { ...long, name: "n".repeat(63) };
    const whole = (await opsctl(["silo", "list"], { server: () => ({ body: [named] }), isTTY: true, wall_ms: WALL_MS }))
      .out();
    expect(whole).toContain(`${named.name}  019fa000  3h5m  x`);
  });

  test("states have colours on a terminal, but not if NO_COLOR is set", async () => {
    const body = [{ id: "o1", kind: "x", state: "failed", references: [], time_created: AT, time_done: null }];
    const run = (env: Record<string, string>) =>
      opsctl(["operation", "list"], {
        server: () => ({ body }),
        isTTY: true,
        env: { OPSCTL_ENDPOINT: "http://127.0.0.1:8080", OPSCTL_API_KEY: "k", ...env },
      });
    expect((await run({})).out()).toContain("\u001b[31mfailed\u001b[39m");
    expect((await run({ NO_COLOR: "1" })).out()).not.toContain("\u001b");
  });
});

test("`show` prints one record in the formats name, jsonpath, yaml and csv", async () => {
  const run = async (format: string) =>
    (await opsctl(["silo", "show", SILOS[0]!.id, "-o", format], { server: () => ({ body: SILOS[0] }) })).out();
  expect(await run("name")).toBe("acme\n");
  expect(await run("jsonpath=.default_tenant_id")).toBe("t1\n");
  expect(await run("yaml")).toContain('name: "acme"');
  expect(await run("csv")).toContain(",acme,");
});

test("a record that contains a list is printed as one record", async () => {
  const webhook = { id: "w1", name: "ops", events: ["instance_*"] };
  const run = async (...words: readonly string[]) =>
    (await opsctl(["api", "GET", "/v1/webhooks/w1", ...words], { server: () => ({ body: webhook }) })).out();
  expect(JSON.parse(await run("-o", "json"))).toEqual(webhook);
  expect(await run("-q")).toBe("w1\n");
  expect(await run("-o", "name")).toBe("ops\n");
  expect(await run("-o", "jsonpath=.events[0]")).toBe("instance_*\n");
});
