// Checks the documents in docs/: state tables and numbers equal the code, links lead to files, and the lists of rules
// and invariants are complete.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { amount } from "../../docs/amount.ts";
import { pages } from "../../docs/print.ts";
import * as limits from "../../src/contract/limits.ts";
import { OUTSIDE } from "../../src/doctor/invariants.ts";
import { CODE_FOLDERS, filesBelow, readText, ROOT, type Source, sources } from "./sources.ts";

const DOCUMENTS = pages();
const HERE = "tests/lint/docs.test.ts";

function sqlFiles(): Source[] {
  return filesBelow(["migrations"], ".sql").map((path) => ({ path, text: readText(path) }));
}

test("the documents exist", () => {
  expect(DOCUMENTS.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["glossary.md", "instances.md", "nodes.md", "reliability.md", "wire.md"]),
  );
});

test.each(DOCUMENTS)(
  "the tables and numbers of $name are printed from the code (run `task docs`)",
  ({ text, printed }) => {
    expect(text).toBe(printed);
  },
);

const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...filesBelow(["docs", "booter", "index-builder"], ".md"),
];

/** Returns the fragments of a page's headings: "A tour" has the fragment a-tour. */
function fragments(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-")
  );
}

test.each(PAGES)("every link of %s leads to an existing file and heading", (page) => {
  const links = [...readText(page).matchAll(/\]\(([^)\s#]*)(?:#([^)\s]+))?\)/g)].filter(([, path = ""]) =>
    !/^\w+:/.test(path)
  );
  const broken = links.filter(([, path = "", fragment]) => {
    const target = path === "" ? page : join(dirname(page), path);
    if (!existsSync(join(ROOT, target))) return true;
    return fragment !== undefined && !fragments(readText(target)).includes(fragment);
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});

test("README.md links every document and every guide, in its sections Documents and Guides", () => {
  const readme = readText("README.md");
  const linkedIn = (heading: string) => {
    const [, section = ""] = new RegExp(`^## ${heading}\n([^]*?)(?=^## )`, "m").exec(readme) ?? [];
    return [...section.matchAll(/\]\(([^)\s#]+)/g)].map(([, path = ""]) => path);
  };
  const isGuide = (path: string) => path.startsWith("docs/guides/");
  const pages = filesBelow(["docs"], ".md");
  const manuals = ["booter/README.md", "index-builder/README.md", "tests/bench/README.md"];
  expect(pages.length).toBeGreaterThan(30);
  expect(pages.filter(isGuide).filter((path) => !linkedIn("Guides").includes(path))).toEqual([]);
  expect(
    [...pages.filter((path) => !isGuide(path)), ...manuals].filter((path) => !linkedIn("Documents").includes(path)),
  )
    .toEqual([]);
});

test("the unit of a limit is derived from its name", () => {
  expect(amount("CN_LIVE_S", 60)).toBe("1 min");
  expect(amount("AGENT_POLLS_PER_S", 200)).toBe("200 a second");
  expect(amount("BANDWIDTH_BYTES_PER_S_MIN", 2 ** 20)).toBe("1 MiB a second");
  expect(amount("NIC_PACKETS_PER_SECOND_MIN", 100)).toBe("100 a second");
});

test("docs/limits.md lists every number of the contract, with its reason", () => {
  const text = readText("docs/limits.md").replace(/\s+/g, " ");
  const numbers = Object.entries(limits).filter(([, value]) => typeof value === "number").map(([name]) => name);
  expect(numbers.length).toBeGreaterThan(100);
  expect(numbers.filter((name) => !new RegExp(`\`${name}\` \\*\\*[^:]*: \\S+ \\S+`).test(text))).toEqual([]);
});

describe("docs/reliability.md", () => {
  const text = readText("docs/reliability.md");
  const listed = (prefix: string) =>
    [...text.matchAll(new RegExp(`^\\| (${prefix}-\\w+) `, "gm"))].map(([, id = ""]) => id);

  test("lists every invariant that the doctor knows", () => {
    const known = filesBelow(["src/doctor"], ".ts").flatMap((path) =>
      [...readText(path).matchAll(/"(INV-\d+b?)"/g)].map(([, id = ""]) => id)
    );
    expect(known.length).toBeGreaterThan(10);
    expect([...new Set([...known, ...OUTSIDE.map(({ id }) => id)])].filter((id) => !listed("INV").includes(id)))
      .toEqual([]);
  });

  test("lists every security rule that a test names", () => {
    const named = filesBelow(["tests"], ".ts").flatMap((path) =>
      [...readText(path).matchAll(/\bS-(\d\d)\b/g)].map(([id]) => id)
    );
    expect(named.length).toBeGreaterThan(30);
    expect([...new Set(named)].filter((id) => !listed("S").includes(id)).sort()).toEqual([]);
  });
});

describe("citations", () => {
  const LISTED = /\b(?:S-\d\d|INV-\d+b?|[RBIX]-\d\d)\b/g;
  /**
   * A citation in a comment or string: a file of docs/, and optionally a heading in quotes or ids of
   * docs/reliability.md.
   */
  const CITATION = /\bdocs\/([\w/-]+\.md)(?:, "([^"]+)")?((?:,? (?:and )?(?:S-\d\d|INV-\d+b?|[RBIX]-\d\d)\b)*)/g;

  /** Returns the text with each comment of several lines joined into one line. */
  function joined(text: string): string {
    return text.replace(/\n[ \t]*(?:\/\/|\*|--)[ \t]*/g, " ");
  }

  function problems(text: string): string[] {
    return [...joined(text).matchAll(CITATION)].flatMap(([cited, file = "", heading, ids = ""]) => {
      const path = `docs/${file}`;
      if (!existsSync(join(ROOT, path))) return [`${cited}: there is no ${path}`];
      const page = readText(path);
      const hasHeading = heading === undefined ||
        page.split("\n").some((line) => /^#+ /.test(line) && line.endsWith(`# ${heading}`));
      const unknown = (ids.match(LISTED) ?? []).filter((id) => !page.includes(`| ${id} `));
      return [
        ...(hasHeading ? [] : [`${cited}: ${path} has no heading "${heading}"`]),
        ...unknown.map((id) => `${cited}: ${path} has no ${id}`),
      ];
    });
  }

  test("every document, heading and rule that the code cites exists", () => {
    const files = [...sources([...CODE_FOLDERS, "tests"]), ...sqlFiles()].filter(({ path }) => path !== HERE);
    expect(files.length).toBeGreaterThan(500);
    expect(files.flatMap(({ path, text }) => problems(text).map((problem) => `${path}: ${problem}`))).toEqual([]);
  });

  test.each([
    ["// docs/absent.md", "there is no docs/absent.md"],
    ['// docs/nodes.md, "Absent"', 'docs/nodes.md has no heading "Absent"'],
    ['// docs/nodes.md, "Disk\n// absent"', 'docs/nodes.md has no heading "Disk absent"'],
    ["// docs/reliability.md, B-99", "docs/reliability.md has no B-99"],
    ["// docs/reliability.md S-07 and INV-99", "docs/reliability.md has no INV-99"],
  ])("finds %j", (text, problem) => {
    expect(problems(text).join()).toContain(problem);
  });

  test.each(['// docs/nodes.md, "Disk\n// layouts".', "-- docs/reliability.md, S-07 and INV-9", "// docs/wire.md"])(
    "accepts %j",
    (text) => {
      expect(problems(text)).toEqual([]);
    },
  );
});
