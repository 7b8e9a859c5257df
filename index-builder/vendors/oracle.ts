// Oracle Linux: one HTML page lists every image (template) with its hash. There are no checksum documents and no
// signatures. Each architecture has its own build numbers.
import { Parser } from "htmlparser2";
import { unreadable } from "../fault.ts";
import { newest, newestFirst } from "../natural-order.ts";
import type { BuildDraft, Candidate, Vendor, Visit } from "../vendor.ts";
import { type Found, groupByBuild } from "../build/group-builds.ts";

const PAGE = "https://yum.oracle.com/oracle-linux-templates.html";
const VARIANT = "kvm";
const HREF =
  /^https:\/\/yum\.oracle\.com\/templates\/OracleLinux\/OL(\d+)\/u(\d+)\/(x86_64|aarch64)\/OL\1U\2_\3-kvm(?:-cloud)?-b(\d+)\.qcow2$/;

export const oracle: Vendor = {
  id: "oracle",
  name: "Oracle Linux",
  homepage: "https://www.oracle.com/linux/",
  os_family: "linux",
  hosts: ["yum.oracle.com"],
  end_of_life_product: "oracle-linux",
  list,
};

type Template = Found & { major: string; point_release: string; url: string; sha256: string };

async function list(visit: Visit): Promise<Candidate[]> {
  const templates = templatesIn(await visit.text(PAGE));
  if (templates.length === 0) throw unreadable(PAGE, "it lists no KVM template with a hash");
  const majors = newestFirst(new Set(templates.map(({ major }) => major)), (major) => major);
  return majors.flatMap((major) => {
    const of_major = templates.filter((template) => template.major === major);
    const lead = newest(of_major.filter(({ arch }) => arch === "x86_64"), ({ build }) => build);
    if (lead === null) {
      visit.warn(`Oracle Linux ${major}: no x86_64 template`);
      return [];
    }
    return [candidateOf(visit, lead, of_major)];
  });
}

function candidateOf(visit: Visit, lead: Template, templates: readonly Template[]): Candidate {
  return {
    token: lead.major,
    version: lead.build,
    title: `Oracle Linux ${lead.point_release}`,
    supported: true,
    eol_date: null,
    lts: false,
    dev: null,
    channel: false,
    resolve: () => Promise.resolve({ builds: currentBuilds(visit, lead, templates) }),
  };
}

function currentBuilds(visit: Visit, lead: Template, templates: readonly Template[]): BuildDraft[] {
  const images = [lead, ...templates.filter(({ arch }) => arch !== lead.arch)];
  return groupByBuild(visit, images, lead.build).flatMap((group) => group.map(draftOf));
}

function draftOf({ build, point_release, arch, url, sha256 }: Template): BuildDraft {
  return {
    build,
    point_release,
    artifacts: [{
      url,
      variant: VARIANT,
      default_variant: true,
      arch,
      format: "qcow2",
      compression: "none",
      datasources: ["nocloud"],
      ssh_key_injection: true,
      checksum: { vendor_document: PAGE, algorithm: "sha256", value: sha256 },
    }],
  };
}

/** Returns the rows of the page that have a KVM image and its hash. The other rows are about other images. */
function templatesIn(html: string): Template[] {
  const rows: { href: string | null; sha256: string | null }[] = [];
  let in_hash = false;
  const parser = new Parser({
    onopentag(tag, { class: name, href }) {
      if (tag === "tr") rows.push({ href: null, sha256: null });
      const row = rows.at(-1);
      if (row === undefined) return;
      if (tag === "a" && name === "kvm-image" && href !== undefined) row.href ??= href;
      in_hash = tag === "tt" && name === "kvm-sha256" && row.sha256 === null;
    },
    ontext(text) {
      const row = rows.at(-1);
      if (in_hash && row !== undefined) row.sha256 = (row.sha256 ?? "") + text.trim();
    },
    onclosetag() {
      in_hash = false;
    },
  });
  parser.write(html);
  parser.end();
  return rows.flatMap(({ href, sha256 }) => href === null || sha256 === null ? [] : templateOf(href, sha256) ?? []);
}

function templateOf(href: string, sha256: string): Template | null {
  const url = URL.canParse(href, PAGE) ? new URL(href, PAGE).href : href;
  const [, major, update, arch, number] = HREF.exec(url) ?? [];
  if (major === undefined || arch === undefined) return null;
  const point_release = `${major}.${update}`;
  // b182 of aarch64 and b182 of x86_64 are different builds, so the id contains the architecture unless it is x86_64.
  // groupByBuild leaves out images with a newer id than the default image, which is for x86_64. An id with an
  // architecture sorts before the ids for x86_64 of the same point release, so it is not newer.
  const build = arch === "x86_64" ? `${point_release}-b${number}` : `${point_release}-${arch}-b${number}`;
  return { major, point_release, variant: VARIANT, arch, build, url, sha256 };
}
