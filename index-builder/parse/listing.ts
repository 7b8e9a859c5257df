// Directory listings as web servers make them (Apache tables, nginx <pre>). Only the addresses of links count: the text of
// a link is cut short by both servers.
import { Parser } from "htmlparser2";
import { unreadable } from "../fault.ts";

/** More links than any listing of a vendor has. */
const LINKS_MAX = 20_000;

/**
 * The names a listing links to, relative to it, in its order: "10/" or "image.qcow2". Sort links, parents and addresses
 * elsewhere are left out. Percent-encoding is undone.
 * @throws VendorFault unreadable when it is not an HTML page with links
 */
export function parseListing(what: string, html: string): string[] {
  const names = new Set<string>();
  let links = 0;
  const parser = new Parser({
    onopentag(tag, attributes) {
      if (tag !== "a" || attributes.href === undefined) return;
      if (++links > LINKS_MAX) throw unreadable(what, `more than ${LINKS_MAX} links`);
      const name = relativeName(attributes.href);
      if (name !== null) names.add(name);
    },
  });
  parser.write(html);
  parser.end();
  if (links === 0) throw unreadable(what, "no link in it, so not a directory listing");
  return [...names];
}

function relativeName(href: string): string | null {
  if (!/^(?:\.\/)?[^/?#:]+\/?$/.test(href)) return null;
  try {
    const name = decodeURIComponent(href.replace(/^\.\//, ""));
    return name === "../" || name === ".." || /[/\\]./.test(name) ? null : name;
  } catch {
    return null;
  }
}
