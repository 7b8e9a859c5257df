// Lists the executables that have man pages. Each has its command tree, and sections that the tree does not contain.
import { buildBooter } from "../../booter/program.ts";
import { buildIndexBuilder } from "../../index-builder/program.ts";
import { type CommandNode, describe } from "../framework.ts";
import { buildAgent } from "../../nodeagent/program.ts";
import { buildProgram as buildOpsctl } from "../opsctl/program.ts";
import { buildProgram as buildTenantctl } from "../tenantctl/program.ts";
import { VERSION } from "../version.ts";
import { completionScript, SHELLS } from "./completion.ts";
import { listed, manualPage, type Page, type PageSource } from "./page.ts";

export type Manual = Pick<PageSource, "section" | "more" | "see"> & {
  readonly tree: CommandNode;
  /** Whether every noun gets its own page, for a program with many commands. */
  readonly pagePerNoun: boolean;
};

const CLIENT_EXITS = [
  ["0", "Success."],
  ["1", "The server refused the request or failed, or a check found a problem."],
  ["2", "The command line is wrong."],
  ["3", "The object was not found."],
  ["4", "The credential is missing, not accepted, or lacks permission."],
  ["5", "The request conflicts with the current state, or with a change by somebody else."],
  ["6", "The time limit of a wait expired."],
  ["7", "The control plane is unreachable or temporarily unavailable. Try again later."],
  ["130", "Interrupted by Ctrl-C."],
] as const;

export async function everyManual(): Promise<Manual[]> {
  return [
    {
      tree: describe(await buildOpsctl("all")),
      section: 1,
      pagePerNoun: true,
      more: [
        ["EXIT STATUS", CLIENT_EXITS],
        ["ENVIRONMENT", [
          ["OPSCTL_ENDPOINT", "Address of the control plane."],
          [
            "OPSCTL_API_KEY, OPSCTL_ACCESS_TOKEN",
            "The credential: an API key or a session's token. If both are set, the API key is used.",
          ],
          ["OPSCTL_PROFILE", "The saved profile to use. Cannot be combined with OPSCTL_ENDPOINT."],
          ["OPSCTL_INDEX", "URL or folder of the image index; by default the control plane's index."],
          ["BERTH_FETCH_ALLOWED_PRIVATE", "Private networks from which the image verbs may fetch."],
          ["NO_COLOR, FORCE_COLOR", "Disable or force colours in tables."],
        ]],
        ["FILES", [
          ["~/.config/opsctl/config.toml", "Profiles and their endpoints."],
          ["~/.config/opsctl/credentials.toml", "Credentials of the profiles, readable by the owner only."],
        ]],
      ],
      see: ["tenantctl(1)", "nodeagent(8)", "booter(8)"],
    },
    {
      tree: describe(await buildTenantctl("all")),
      section: 1,
      pagePerNoun: true,
      more: [
        ["EXIT STATUS", CLIENT_EXITS],
        ["ENVIRONMENT", [
          ["TENANTCTL_ENDPOINT", "Address of the control plane."],
          [
            "TENANTCTL_API_KEY, TENANTCTL_ACCESS_TOKEN",
            "The credential: an API key or a session's token. If both are set, the API key is used.",
          ],
          ["TENANTCTL_PROFILE", "The saved login to use. Cannot be combined with TENANTCTL_ENDPOINT."],
          ["TENANTCTL_TENANT, TENANTCTL_PROJECT", "Default tenant and project."],
          ["TENANTCTL_INDEX", "URL or folder of the image index; by default the control plane's index."],
          ["BERTH_FETCH_ALLOWED_PRIVATE", "Private networks from which the image verbs may fetch."],
          ["NO_COLOR, FORCE_COLOR", "Disable or force colours in tables."],
        ]],
        ["FILES", [
          ["~/.config/tenantctl/login.json", "The saved login of the profile default, readable by the owner only."],
          ["~/.config/tenantctl/profiles/NAME.json", "The saved logins of the other profiles."],
        ]],
      ],
      see: ["opsctl(1)"],
    },
    { tree: describe(buildAgent()), section: 8, pagePerNoun: false, more: [], see: ["opsctl(1)"] },
    {
      tree: describe(buildBooter()),
      section: 8,
      pagePerNoun: false,
      more: [["FILES", [["/etc/berth/booter.toml", "The configuration of the booter."]]]],
      see: ["opsctl(1)"],
    },
    {
      tree: describe(buildIndexBuilder()),
      section: 1,
      pagePerNoun: false,
      more: [
        ["EXIT STATUS", [
          ["0", "Success."],
          ["1", "A vendor failed, and its last good files stay; or verify found problems."],
          ["2", "The command line is wrong."],
          ["3", "The site cannot be read or written, or another error stopped the program."],
          ["4", "No vendor failed, but there is an alarm: a finding that an attacker could have caused."],
          ["75", "Another builder runs on the same site."],
        ]],
        ["ENVIRONMENT", [["INDEX_SIGN_PASSPHRASE", "Passphrase of the signing key."]]],
      ],
      see: ["tenantctl(1)"],
    },
  ];
}

/** Returns every page of a program, with this date. The first page is about the program itself. */
export function pagesOf({ tree, section, pagePerNoun, more, see }: Manual, date: string): Page[] {
  const nouns = pagePerNoun ? listed(tree) : [];
  const source = { section, version: VERSION, date, typed: tree.name, whole: !pagePerNoun };
  const page = (name: string) => `${name}(${section})`;
  return [
    manualPage({
      ...source,
      name: tree.name,
      node: tree,
      more,
      see: [...nouns.map(({ name }) => page(`${tree.name}-${name}`)), ...see],
    }),
    ...nouns.map((node) =>
      manualPage({
        ...source,
        name: `${tree.name}-${node.name}`,
        typed: `${tree.name} ${node.name}`,
        node,
        whole: true,
        more: [],
        see: [page(tree.name)],
      })
    ),
  ];
}

export type ManualFile = { readonly path: string; readonly text: string };

/** Returns all man pages and completion scripts, with paths below the output folder. */
export async function manualFiles(date: string): Promise<ManualFile[]> {
  const manuals = await everyManual();
  return manuals.flatMap((manual) => [
    ...pagesOf(manual, date).map(({ name, section, text }) => ({ path: `man/man${section}/${name}.${section}`, text })),
    ...SHELLS.map((shell) => completionScript(shell, manual.tree)),
  ]);
}
